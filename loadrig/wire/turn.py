"""One turn over the wire: prompt in, `Turn` for the record and `Reply` for the arm out.

Rules: retries are ours and visible: every exchange is an attempt with stamps of its own, the wait before it stands in
it, a pause after a failure or a wait for leave under the model's own limits, and the turn's latencies are those of the
attempt that gave the reply. A prompt is recorded
as the hashes of its body's fragments. Cost is left to whoever has prices. Never raises for what the target does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b

import msgspec

from loadrig.cost import prompt_tokens
from loadrig.limiter import Limiter
from loadrig.providers import Dialect, Heard, load
from loadrig.wire.engine import Engine
from loadrig.wire.exchange import Exchange, Request
from loadrig.wire.head import Head
from loadrig.wire.record import Try, turn_of
from loadrig.wire.renewal import HeadInForce, Source
from loadrig.wire.retry import Pause, pause_before_next, wish_of
from loadrig.wire.verdict import body_error, verdict
from loadrig.words.prompt import Prompt, Reply
from loadrig.words.record import Turn
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

_RENEWED = "the key was refused and had been replaced meanwhile: asked again with the new one"
# Digests are kept of what is small, for what opens and closes a request is the same in thousands, and of what is large
# and dear to go through; what lies between varies from question to question and is cheaper to go through again.
_SMALL, _LARGE = 1_024, 16_384


@dataclass(frozen=True, slots=True)
class Target:
    """A model at an endpoint, ready to be asked. `warnings`: what of the environment was ignored, and which proxy is on
    the way, for the manifest. `source`: where another head can be had; None: nowhere."""

    model: ModelSettings
    dialect: Dialect
    head: Head
    source: Source | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.head.warnings

    @property
    def base_url(self) -> str:
        """Where the endpoint is, without the path at which it is asked."""
        path = self.dialect.endpoint.path if self.model.path is None else self.model.path
        return self.head.url.partition("?")[0].removesuffix(path.partition("?")[0])

    @property
    def count_url(self) -> str | None:
        """Where the endpoint counts the tokens of a body; None where its dialect knows no such place."""
        own, wanted = self.dialect.endpoint, self.model.path
        if own.count_path is None:
            return None
        if wanted is None or not own.count_path.startswith(own.path):
            return self.base_url + own.count_path
        place, mark, query = wanted.partition("?")
        return self.base_url + place + own.count_path.removeprefix(own.path) + mark + query


class Asked(msgspec.Struct, frozen=True, gc=False):
    """`reply` is None when the turn failed. `fragments` maps each hash in `turn.prompt` to its bytes."""

    turn: Turn
    reply: Reply | None
    fragments: Mapping[str, bytes]


class Asker:
    """Asks one target under one set of limits; many turns at once are fine. `workers`: among how many the model's
    requests and tokens a minute are shared."""

    def __init__(
        self, engine: Engine, target: Target, limits: LimitSettings, retry: RetrySettings, *, workers: int = 1
    ) -> None:
        self.engine = engine
        self.target = target
        self.limits = limits
        self.retry = retry
        self._limiter = Limiter(target.model.limits, workers=workers)
        self._heads = HeadInForce(target.head, target.source, engine.clock)

    async def ready(self) -> None:
        """To be called once, before turns are timed: a key in a file can then change without a pause."""
        await self._heads.ready()

    async def ask(
        self,
        prompt: Prompt,
        *,
        trace: str,
        deadline_ns: int | None = None,
        on_hold: Callable[[int], None] = lambda _: None,
    ) -> Asked:
        """One turn. `trace` is `trial.turn`; attempts are labelled `trace.1`, `trace.2`, ...

        `deadline_ns`, on the engine's clock, is the end of the trial's `total` limit; it moves with every wait for
        leave, of which `on_hold` is told before, and behind it by how much it was longer or shorter. Raises only
        CancelledError.
        """
        fragments = self.target.dialect.body(prompt, self.target.model)
        digests = tuple(map(digest, fragments))
        size = sum(map(len, fragments))
        tries: list[Try] = []
        notes: list[str] = []
        head, backoff_ns = await self._heads.head(), 0
        while True:
            permit = self._limiter.permit(self.engine.clock.now_ns(), size)
            held_ns = await self._held(permit.wait_ns, on_hold) if permit.wait_ns else 0
            deadline_ns = None if deadline_ns is None else deadline_ns + held_ns
            request = Request(head, f"{trace}.{len(tries) + 1}", fragments)
            tries.append(await self._try(request, backoff_ns=backoff_ns + held_ns, deadline_ns=deadline_ns))
            self._limiter.settle(permit, tries[-1].heard.usage)
            if not notes and tries[-1].exchange.status == 401 and (other := await self._heads.other_than(head)):
                head, backoff_ns = other, 0
                notes.append(_RENEWED)
                continue
            pause = self._pause(tries, len(tries) - len(notes), deadline_ns)
            if pause.ns is None or not await self.engine.pause(pause.ns):
                break
            backoff_ns = pause.ns
        turn = turn_of(tries, digests, (*notes, *([] if pause.why is None else [pause.why])))
        heard = tries[-1].heard
        reply = None if turn.outcome == "failed" else _reply(heard, turn)
        return Asked(turn, reply, dict(zip(digests, fragments, strict=True)))

    async def _held(self, wait_ns: int, on_hold: Callable[[int], None]) -> int:
        """Waits for leave; how long it was. If the engine is stopped meanwhile, the exchange ends as cancelled."""
        begin_ns = self.engine.clock.now_ns()
        on_hold(wait_ns)
        await self.engine.pause(wait_ns)
        held_ns = self.engine.clock.now_ns() - begin_ns
        on_hold(held_ns - wait_ns)
        return held_ns

    async def _try(self, request: Request, *, backoff_ns: int, deadline_ns: int | None) -> Try:
        exchange = Exchange(request, self.target.dialect.reader())
        began_at = self.engine.clock.label()
        await self.engine.run(exchange, self.limits, deadline_ns=deadline_ns)
        heard = exchange.reader.heard()
        error = heard.error or body_error(exchange, self.target.dialect)
        return Try(exchange, heard, error, verdict(exchange, heard, error), backoff_ns=backoff_ns, began_at=began_at)

    def _pause(self, tries: Sequence[Try], counted: int, deadline_ns: int | None) -> Pause:
        """Whether and when to try again after the last of `tries`, of which so many count for the policy."""
        last, clock = tries[-1], self.engine.clock
        if last.failure is None:
            return Pause(None)
        pause = pause_before_next(
            last.failure,
            last.error,
            wish=wish_of(dict(last.exchange.headers), datetime.fromisoformat(clock.label())),
            label=last.exchange.request.label,
            attempt=counted,
            policy=self.retry,
        )
        if pause.ns is not None and deadline_ns is not None and clock.now_ns() + pause.ns >= deadline_ns:
            return Pause(None, "no time left for another attempt")
        return pause


def _reply(heard: Heard, turn: Turn) -> Reply:
    usage = turn.usage  # of the attempt that gave the reply: one that is tried again never got so far
    if usage is None or (usage.input is None and usage.output is None):
        tokens = None
    else:
        tokens = prompt_tokens(usage) + (usage.output or 0)
    return Reply(heard.text, heard.stop or "other", heard.tool_uses, heard.said, heard.citations, tokens)


async def resolve(model: ModelSettings, base_url: str | None) -> Target:
    """Readies a model to be asked at `base_url` (None: the provider's own; the plan's "simulator" must be resolved).

    Captures the request head in a thread. Raises `InputError` for an unknown provider, a wrong URL, a missing key or a
    proxy that cannot be used.
    """
    model = replace(model, base_url=base_url)
    dialect, source = load(model.provider), Source(model, base_url)
    return Target(model, dialect, await asyncio.to_thread(source.head), source)


def digest(fragment: bytes) -> str:
    """Content hash of a fragment: 24 hex digits of BLAKE2b."""
    size = len(fragment)
    if size < _SMALL:
        return _digest_of_small(fragment)
    return _digest(fragment) if size < _LARGE else _digest_of_large(fragment)


def _digest(fragment: bytes) -> str:
    return blake2b(fragment, digest_size=12).hexdigest()


_digest_of_small = lru_cache(maxsize=2_048)(_digest)
_digest_of_large = lru_cache(maxsize=256)(_digest)
