"""Examines one endpoint: what is asked in which order, and when there is no point in asking on.

Rules: requests go one after the other, each within a limit; what is not a measured turn goes the outside way, with the
head, proxy and certificates of a run. Raises `InputError` for what the user has to correct, and nothing that the
endpoint does.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from loadrig.cost import Prices, prompt_tokens
from loadrig.doctor import abilities, judging, manners, probes
from loadrig.doctor.arrivals import streaming
from loadrig.doctor.findings import Examination, Finding
from loadrig.doctor.listening import Listened, listened
from loadrig.doctor.reaching import connection, reached
from loadrig.execution.sampling import tokens_of
from loadrig.outside import Onlooker, Seen
from loadrig.wire.certificates import context_of
from loadrig.wire.engine import Engine
from loadrig.wire.head import Head
from loadrig.wire.turn import Asker, Target, resolve
from loadrig.words.clock import SystemClock
from loadrig.words.prompt import Prompt
from loadrig.words.record import Turn, Usage
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

LIMIT_S = 30.0
REQUESTS = 12  # at most: one to list models, one to make sure of a buffer, one to force a call


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What an examination will send, before it does. `cost`: None without a price."""

    requests: int
    prompt_tokens: int
    output_tokens: int
    cost: Decimal | None


def foreseen(model: ModelSettings, prices: Prices) -> Foreseen:
    """By the local count, and with replies as long as they may be expected to be."""
    prefix = least_prefix(model.id, prices)
    long, cached = probes.listing(probes.LONG_TOKENS), probes.cacheable("", prefix)
    prompt = 9 * tokens_of(long) + 2 * tokens_of(cached)
    output = 3 * 300 + 2 * probes.FEW_TOKENS + 400
    day = datetime.now(UTC).date()
    cost = prices.cost(model.id, Usage(input=prompt, output=output), day).amount
    return Foreseen(REQUESTS, prompt, output, cost)


async def examine(
    model: ModelSettings, base_url: str | None, prices: Prices, *, limit_s: float = LIMIT_S
) -> Examination:
    """Everything there is to be found. `base_url` None: the provider's own."""
    target = await resolve(replace(model, base_url=base_url), base_url)
    head = target.head
    onlooker = _onlooker(head, limit_s)
    asking = _Asking(target, onlooker, prices, limit_s)
    try:
        found = [replace(finding, said=head.redacted(finding.said)) async for finding in asking.findings()]
    finally:
        await onlooker.close()
    cost = None if asking.cost is None else f"{asking.cost:.6f}"
    return Examination(
        model.id, model.provider, head.url, tuple(found), asking.requests, asking.tokens, cost, target.warnings
    )  # fmt: skip


async def first_model(model: ModelSettings, base_url: str | None, *, limit_s: float = LIMIT_S) -> str | None:
    """The first model that the endpoint lists, where it lists any (`GET .../models`, which both dialects know)."""
    target = await resolve(replace(model, base_url=base_url), base_url)
    head = target.head
    onlooker = _onlooker(head, limit_s)
    base = target.base_url.removesuffix("/v1")
    try:
        seen = await onlooker.look("GET", f"{base}/v1/models", None, head.fields)
    finally:
        await onlooker.close()
    try:
        listed = msgspec.json.decode(seen.body, type=_Models) if seen.status == 200 else _Models([])
    except (msgspec.DecodeError, RecursionError):  # a ValidationError is one
        return None
    return listed.data[0].id if listed.data else None


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


def _onlooker(head: Head, limit_s: float) -> Onlooker:
    """One that goes the way of a run's requests."""
    proxy = None if head.proxy is None else head.proxy.url
    tls = context_of(head.certificates) if head.origin[0] == "https" else None
    return Onlooker(limit_s=limit_s, proxy=proxy, tls=tls)


class _Asking:
    """One target being asked; counts what it sends and what the replies say that it cost."""

    def __init__(self, target: Target, onlooker: Onlooker, prices: Prices, limit_s: float) -> None:
        self.requests, self.tokens = 0, 0
        self.cost: Decimal | None = Decimal(0)
        self._target, self._onlooker, self._prices, self._limit_s = target, onlooker, prices, limit_s
        self._day = datetime.now(UTC).date()

    async def findings(self) -> AsyncIterator[Finding]:
        """One check after the other; ends early where nothing more can be asked."""
        head = self._target.head
        way = tuple(connection(await reached(head, self._limit_s), head, time.time()))
        for finding in way:
            yield finding
        if any(finding.state == "broken" for finding in way):
            return
        long = await self._ask(probes.listing(probes.LONG_TOKENS))
        for finding in judging.dialect(long, self._target.model.provider, head.url):
            yield finding
        if not (long.is_good or long.is_under_way):
            return
        short = await self._ask(probes.listing(probes.FEW_TOKENS))
        whole = long if long.is_good else short
        turn = await self._turn()
        yield await self._streaming(long, short)
        for finding in judging.turn(turn, judging.pings_of(long)):
            yield finding
        for finding in (*judging.usage(whole), *judging.names(whole, self._target.model.id, self._prices, self._day)):
            yield finding
        yield abilities.limited(short)
        yield await self._tools()
        yield abilities.form(await self._ask(probes.formed()))
        yield await self._caching()
        yield await self._counting(whole)
        yield manners.keeping((long.seen, short.seen))
        wrong = await self._ask(probes.listing(probes.FEW_TOKENS), {"model": probes.NO_SUCH_MODEL})
        yield manners.clock(wrong.seen)  # the last one: a server that has just started may be behind with its Date
        yield manners.limits(long.seen, None if turn.service_ns is None else turn.service_ns / 1e9)
        yield manners.errors(wrong)

    async def _streaming(self, long: Listened, short: Listened) -> Finding:
        """What looks held up is asked for again: a server's first reply may be late for reasons of its own."""
        found = streaming(long, short)
        return found if found.state == "ok" else streaming(await self._ask(probes.listing(probes.ROOM_TOKENS)), short)

    async def _tools(self) -> Finding:
        asked = await self._ask(probes.calling())
        wish = probes.FORCED.get(self._target.model.provider)
        if not asked.is_good or asked.heard.tool_uses or wish is None:
            return abilities.tools(asked, None)
        return abilities.tools(asked, await self._ask(probes.calling(), wish))

    async def _caching(self) -> Finding:
        least = least_prefix(self._target.model.id, self._prices)
        prompt = probes.cacheable(secrets.token_hex(8), least)
        first = await self._ask(prompt)
        return abilities.caching(first, await self._ask(prompt), tokens_of(prompt))

    async def _counting(self, whole: Listened) -> Finding:
        """Counts the first prompt; it is free of charge."""
        usage = whole.heard.usage
        told = None if usage.input is None else prompt_tokens(usage)
        url = self._target.count_url
        if url is None:
            return abilities.counting(None, told)
        body = self._body(probes.listing(probes.LONG_TOKENS))
        left_out = self._target.dialect.endpoint.count_without
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        kept = msgspec.json.encode({key: value for key, value in fields.items() if key not in left_out})
        return abilities.counting(await self._look(url, kept), told)

    async def _turn(self) -> Turn:
        """The first prompt again, as a run would ask it: our engine, our stamps."""
        self.requests += 1
        limit = self._limit_s
        limits = LimitSettings(connect=limit, first_byte=limit, first_token=limit, gap=limit, total=2 * limit)
        async with Engine(SystemClock()) as engine:
            asker = Asker(engine, self._target, limits, RetrySettings())
            deadline_ns = engine.clock.now_ns() + int(limits.total * 1e9)
            asked = await asker.ask(probes.listing(probes.LONG_TOKENS), trace="doctor.1", deadline_ns=deadline_ns)
        if asked.turn.usage is not None:
            self._pay(asked.turn.reply_model, asked.turn.usage)
        return asked.turn

    async def _ask(self, prompt: Prompt, over: Mapping[str, Any] | None = None) -> Listened:
        """One prompt, looked at from outside; `over` is laid over its body."""
        seen = await self._look(self._target.head.url, self._body(prompt, over))
        reply = listened(seen, self._target.dialect)
        if reply.events:
            self._pay(reply.heard.model, reply.heard.usage)
        return reply

    def _body(self, prompt: Prompt, over: Mapping[str, Any] | None = None) -> bytes:
        return probes.body_of(prompt, self._target.dialect, self._target.model, over)

    async def _look(self, url: str, body: bytes) -> Seen:
        self.requests += 1
        return await self._onlooker.look("POST", url, body, self._target.head.fields)

    def _pay(self, name: str | None, usage: Usage) -> None:
        self.tokens += prompt_tokens(usage) + (usage.output or 0)
        asked = self._target.model.id
        named = name if name is not None and self._prices.price(name, self._day) is not None else asked
        amount = self._prices.cost(named, usage, self._day).amount
        self.cost = None if self.cost is None or amount is None else self.cost + amount


def least_prefix(model: str, prices: Prices) -> int:
    """From how many tokens on the model's endpoint keeps a prefix; where that is not known, the most there is."""
    row = prices.price(model, datetime.now(UTC).date())
    return probes.LEAST_PREFIX_TOKENS if row is None or row.cache_minimum is None else row.cache_minimum
