"""From a request's bytes to everything that follows from them alone: tokens, cache breakpoints and the reply.

In which dialect they came is told by its name, since this may be done in another process.

One pure function, run in the server when it is cheap and in the reader's process when it is not. It knows no time
and no other request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from loadrig.simulator.counting import pieces
from loadrig.simulator.dialects import DIALECTS, MESSAGES
from loadrig.simulator.draws import draw
from loadrig.simulator.persona import respond
from loadrig.simulator.prefix import prefixes
from loadrig.simulator.reply import Reading, Reply, Text, cut_to
from loadrig.simulator.request import BadRequestError, Block, Request, parse_request
from loadrig.simulator.scenario import Scenario
from loadrig.simulator.window import cut

INLINE_BYTES = 4096
_FOR_A_WHILE = {"type": "ephemeral"}


def is_cheap(body: bytes, scenario: Scenario) -> bool:
    """True when reading takes well under a millisecond: a small body, or nobody reads it."""
    return len(body) <= INLINE_BYTES or (scenario.fixed_answer_tokens > 0 and len(body) <= 16 * INLINE_BYTES)


def read(body: bytes, attempt: str, scenario: Scenario, dialect: str = MESSAGES) -> Reading:
    """Read the body of a request; what the API would refuse with 400 comes back as `refused`."""
    spoken = DIALECTS[dialect]
    try:
        request = spoken.parse(body)
        if scenario.caches_unasked:
            request = _cached(request) if spoken.tells_writes else _cached_anywhere(request)
        prompt = prefixes(request, scenario.token_ratio)
    except BadRequestError as error:
        return Reading(refused=str(error))
    if prompt.tokens > scenario.context_tokens:
        return Reading(refused=spoken.too_long(prompt.tokens, scenario.context_tokens))
    kept = cut(request, scenario)
    if kept is not request and scenario.window_reports == "kept":
        prompt = prefixes(kept, scenario.token_ratio)
    reply = cut_to(_reply(kept, _seed(body, attempt, scenario), scenario, prompt.tokens), request.max_tokens)
    return Reading(None, request.model, request.stream, prompt, reply, request.wants_usage)


def count(body: bytes, scenario: Scenario) -> int:
    """Tokens of a body of POST /v1/messages/count_tokens. Raises BadRequestError."""
    return prefixes(parse_request(body, counting=True), scenario.token_ratio).tokens


def _cached(request: Request) -> Request:
    """The request as a provider takes it that caches whether or not it was asked to."""
    return request if request.automatic_cache is not None else replace(request, automatic_cache=_FOR_A_WHILE)


def _cached_anywhere(request: Request) -> Request:
    """The same of one that keeps every prefix, and not the whole prompt alone."""

    def marked(blocks: Sequence[Block]) -> tuple[Block, ...]:
        return tuple({**block, "cache_control": _FOR_A_WHILE} for block in blocks)

    messages = tuple(replace(message, blocks=marked(message.blocks)) for message in request.messages)
    return replace(request, system=marked(request.system), tools=marked(request.tools), messages=messages)


def is_replayed(digest: str, scenario: Scenario) -> bool:
    """Whether a body of this digest gets the same answer whenever it comes."""
    return scenario.replay_share > 0 and draw(scenario.seed, digest, "replay").random() < scenario.replay_share


def _seed(body: bytes, attempt: str, scenario: Scenario) -> str:
    """What the answer is drawn by: the attempt, or the body where its answer is replayed."""
    if not scenario.replay_share:
        return attempt
    digest = hashlib.sha256(body).hexdigest()
    return digest if is_replayed(digest, scenario) else attempt


def _reply(request: Request, attempt: str, scenario: Scenario, prompt_tokens: int) -> Reply:
    refusing = scenario.refuse_share + scenario.refuse_per_100k * prompt_tokens / 100_000
    if refusing and draw(scenario.seed, attempt, "refuse").random() < refusing:
        return Reply("refusal")
    thinking = _thinking(attempt, scenario) if request.thinks else 0
    if scenario.fixed_answer_tokens:
        return Reply("end_turn", (Text(_filler(scenario.fixed_answer_tokens)),), thinking)
    stop_reason, blocks = respond(request, attempt, scenario)
    return Reply(stop_reason, blocks, thinking)


def _thinking(attempt: str, scenario: Scenario) -> int:
    if not scenario.thinking_spread:
        return scenario.thinking_tokens
    most = scenario.thinking_spread
    return round(scenario.thinking_tokens * draw(scenario.seed, attempt, "thinking").uniform(1 - most, 1 + most))


def _filler(count: int) -> tuple[str, ...]:
    words = pieces("The sky over the sea was grey and the wind came from the west.")
    return tuple(words[place % len(words)] if place % len(words) or not place else " The" for place in range(count))
