"""From a request's bytes to everything that follows from them alone: tokens, cache breakpoints and the reply.

One pure function, run in the server when it is cheap and in the reader's process when it is not. It knows no time
and no other request.
"""

from __future__ import annotations

from loadrig.simulator.counting import pieces
from loadrig.simulator.draws import draw
from loadrig.simulator.persona import respond
from loadrig.simulator.prefix import prefixes
from loadrig.simulator.reply import Reading, Reply, Text, cut_to
from loadrig.simulator.request import BadRequestError, Request, parse_request
from loadrig.simulator.scenario import Scenario

INLINE_BYTES = 4096


def is_cheap(body: bytes, scenario: Scenario) -> bool:
    """True when reading takes well under a millisecond: a small body, or nobody reads it."""
    return len(body) <= INLINE_BYTES or (scenario.fixed_answer_tokens > 0 and len(body) <= 16 * INLINE_BYTES)


def read(body: bytes, attempt: str, scenario: Scenario) -> Reading:
    """Read a body of POST /v1/messages; what the API would refuse with 400 comes back as `refused`."""
    try:
        request = parse_request(body)
        prompt = prefixes(request, scenario.token_ratio)
    except BadRequestError as error:
        return Reading(refused=str(error))
    if prompt.tokens > scenario.context_tokens:
        limit = scenario.context_tokens
        return Reading(refused=f"prompt is too long: {prompt.tokens} tokens > {limit} maximum")
    reply = cut_to(_reply(request, attempt, scenario), request.max_tokens)
    return Reading(model=request.model, stream=request.stream, prompt=prompt, reply=reply)


def count(body: bytes, scenario: Scenario) -> int:
    """Tokens of a body of POST /v1/messages/count_tokens. Raises BadRequestError."""
    return prefixes(parse_request(body, counting=True), scenario.token_ratio).tokens


def _reply(request: Request, attempt: str, scenario: Scenario) -> Reply:
    if scenario.refuse_share and draw(scenario.seed, attempt, "refuse").random() < scenario.refuse_share:
        return Reply("refusal")
    thinking = scenario.thinking_tokens if request.thinks else 0
    if scenario.fixed_answer_tokens:
        return Reply("end_turn", (Text(_filler(scenario.fixed_answer_tokens)),), thinking)
    stop_reason, blocks = respond(request, attempt, scenario)
    return Reply(stop_reason, blocks, thinking)


def _filler(count: int) -> tuple[str, ...]:
    words = pieces("The sky over the sea was grey and the wind came from the west.")
    return tuple(words[place % len(words)] if place % len(words) or not place else " The" for place in range(count))
