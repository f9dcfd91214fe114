"""One request from its body to its last byte: read, queue, charge, schedule, play, and tell the truth log.

Due times are fixed when service begins. When the reader needs longer than the simulated provider would have taken,
the whole schedule moves by the difference and the row says so (`reader_wait_ns`).
"""

from __future__ import annotations

import time
from asyncio import Task
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from loadrig.simulator.answering import Send, Stage, play, settle
from loadrig.simulator.cache import Charge, PromptCache
from loadrig.simulator.dialects import DIALECTS, MESSAGES, Dialect
from loadrig.simulator.draws import draw
from loadrig.simulator.faults import REFUSALS, Fault, choose, strike
from loadrig.simulator.headers import Headers, RateLimits
from loadrig.simulator.latency import MS_NS, Due, Slots, schedule
from loadrig.simulator.reader_process import Readers
from loadrig.simulator.reading import count, is_replayed
from loadrig.simulator.reply import Reading
from loadrig.simulator.request import BadRequestError
from loadrig.simulator.scenario import Scenario
from loadrig.simulator.stream import Envelope
from loadrig.simulator.truth import Row

JSON: Headers = [(b"content-type", b"application/json")]
EVENTS: Headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
REFUSAL_SHARE = 0.1
"""A turned-away request is answered after this share of the base time."""


async def respond(send: Send, status: int, payload: object, headers: Headers | None = None) -> None:
    """A whole JSON response."""
    body = msgspec.json.encode(payload)
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [*JSON, length, *(headers or [])]})
    await send({"type": "http.response.body", "body": body})


@dataclass(frozen=True, slots=True)
class Provider:
    """What all requests share."""

    scenario: Scenario
    cache: PromptCache
    slots: Slots
    limits: RateLimits
    stage: Stage
    readers: Readers


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and where its answer goes. `key` is the credential it came with; `attempt` seeds every draw;
    `hang_up` closes the connection; `spoken` names the dialect."""

    provider: Provider
    send: Send
    row: Row
    key: str
    attempt: str
    hang_up: Callable[[], None]
    spoken: str = MESSAGES

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.spoken]

    async def count(self, body: bytes) -> None:
        """Answer a count_tokens request; it takes no slot and costs nothing."""
        if not self.provider.scenario.counts_tokens:
            await self._refuse(404, "not_found_error", "Tokens are not counted here.")
            return
        try:
            await self._whole(200, {"input_tokens": count(body, self.provider.scenario)})
        except BadRequestError as error:
            await self._refuse(400, "invalid_request_error", str(error))

    async def answer(self, body: bytes, gone: Task[None]) -> None:
        """Answer a messages request. `gone` is done once the client has disconnected."""
        scenario, row = self.provider.scenario, self.row
        fault = choose(scenario, draw(scenario.seed, self.attempt, "fault"))
        row.fault = None if fault is None else fault.kind
        if fault is not None and fault.kind in REFUSALS:
            await self._turn_away(fault)
            return
        reading = await self.provider.readers.read(body, self.attempt, self.spoken)
        row.model = reading.model or None
        if reading.refused is not None:
            await self._refuse(400, "invalid_request_error", reading.refused)
            return
        service_ns = await self.provider.slots.acquire(row.body_complete_ns)
        row.service_ns, row.slot_wait_ns = service_ns, service_ns - row.body_complete_ns
        ended_ns = service_ns
        try:
            ended_ns = await self._serve(reading, fault, gone)
        finally:
            self.provider.slots.release(ended_ns)

    async def _serve(self, reading: Reading, fault: Fault | None, gone: Task[None]) -> int:
        """Play the reply; the instant its slot is free again (its due end, or now when it broke off)."""
        provider, row, scenario = self.provider, self.row, self.provider.scenario
        assert row.service_ns is not None
        charge = provider.cache.charge(self.key, reading.prompt, row.body_complete_ns)
        charge = charge if self.dialect.tells_writes else charge.untold()
        self._charge(charge)
        provider.limits.spend(input_tokens=charge.uncached, output_tokens=reading.reply.output_tokens)
        reported = charge.reported(scenario.reports_input)
        envelope = Envelope(self._identity(), reading.model, reported, scenario.reports_output, reading.wants_usage)
        chance, spoken = draw(scenario.seed, self.attempt, "latency"), self.dialect
        planned = spoken.events(envelope, reading.reply)
        dues = schedule(planned, scenario, charge.uncached, chance, silence=spoken.silence)
        late_ns = time.perf_counter_ns() - (row.service_ns + dues[0].offset_ns)
        if late_ns > 0 and row.slot_wait_ns == 0:
            row.service_ns += late_ns
            row.reader_wait_ns = late_ns
        row.status = 200
        if reading.stream:
            struck = strike(dues, fault, scenario, row.request_id, dialect=spoken)
            await self._stream(struck, reading, fault, gone=gone)
        else:
            await self._at_once(dues, reading, envelope, gone=gone)
        if row.disconnected or row.fault in ("rate_cut", "rate_early_end", "rate_error_event"):
            return time.perf_counter_ns()
        return row.service_ns + dues[-1].offset_ns

    async def _stream(self, dues: list[Due], reading: Reading, fault: Fault | None, *, gone: Task[None]) -> None:
        row, provider, reply = self.row, self.provider, reading.reply
        headers = [*EVENTS, *self.dialect.headers(row.request_id, provider.limits.standing())]
        assert row.service_ns is not None
        await provider.stage.metronome.until(row.service_ns + dues[0].offset_ns)
        await self.send({"type": "http.response.start", "status": 200, "headers": headers})
        began_ns = time.perf_counter_ns()
        provider.cache.began(self.key, reading.prompt, request_ns=row.body_complete_ns, response_ns=began_ns)
        sent = await play(provider.stage, dues, self.send, gone=gone, row=row)
        settle(row, dues[:sent], reply)
        if sent < len(dues):
            row.disconnected = True
            return
        row.stop_reason = self.dialect.stop_word(reply.stop_reason) if dues[-1].event.kind == "end" else None
        if fault is not None and fault.kind == "rate_cut":
            self.hang_up()
            await gone
        else:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _at_once(self, dues: list[Due], reading: Reading, envelope: Envelope, *, gone: Task[None]) -> None:
        row, provider = self.row, self.provider
        assert row.service_ns is not None
        await provider.stage.metronome.until(row.service_ns + dues[-1].offset_ns)
        if gone.done():
            row.disconnected = True
            return
        began_ns = time.perf_counter_ns()
        provider.cache.began(self.key, reading.prompt, request_ns=row.body_complete_ns, response_ns=began_ns)
        await self._whole(200, self.dialect.message(envelope, reading.reply))
        settle(row, dues, reading.reply)
        row.events = 0
        row.stop_reason = self.dialect.stop_word(reading.reply.stop_reason)

    async def _turn_away(self, fault: Fault) -> None:
        scenario, row = self.provider.scenario, self.row
        status, kind, text = REFUSALS[fault.kind]
        wait_ns = int(scenario.base_ms * REFUSAL_SHARE * MS_NS)
        await self.provider.stage.metronome.until(row.body_complete_ns + wait_ns)
        retry: Headers = []
        if status == 429 and scenario.retry_after_s:
            retry = [(b"retry-after", b"%d" % scenario.retry_after_s)]
        await self._refuse(status, kind, text, retry)

    async def _refuse(self, status: int, kind: str, text: str, headers: Headers | None = None) -> None:
        status, told = self.dialect.refusal(status, kind, text, self.row.request_id)
        await self._whole(status, told, headers)

    async def _whole(self, status: int, payload: object, headers: Headers | None = None) -> None:
        limits = self.dialect.headers(self.row.request_id, self.provider.limits.standing())
        self.row.status, self.row.end_ns = status, time.perf_counter_ns()
        await respond(self.send, status, payload, [*limits, *(headers or [])])

    def _identity(self) -> str:
        """The reply's id: one of its own, or that of the first reply to the same body where whole replies are kept."""
        scenario, digest = self.provider.scenario, self.row.body_sha256
        kept = scenario.replays_ids and is_replayed(digest, scenario)
        number = draw(scenario.seed, "" if kept else self.attempt, f"message{digest}").getrandbits(96)
        return f"msg_sim{number:024x}"

    def _charge(self, charge: Charge) -> None:
        row = self.row
        row.input, row.cache_read = charge.input, charge.read
        row.cache_write_5m, row.cache_write_1h = charge.write_5m, charge.write_1h
