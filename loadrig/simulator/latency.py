"""When each event is due: a queue with slots, prefill, decode and jitter, all as offsets from the service's start.

The due times of a stream are fixed before its first byte and never moved by lateness. A waiting request begins at
the *due* end of the one whose slot it takes, so that the simulator's own lateness does not add up in its queue.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from random import Random

from loadrig.simulator.scenario import Scenario
from loadrig.simulator.stream import PING, Event

MS_NS = 1_000_000
OPENING_SHARE = 0.5
"""message_start leaves after this share of the base time: the opening of a stream is not its first token."""


@dataclass(frozen=True, slots=True)
class Due:
    """An event and the nanoseconds after the start of service at which it is due."""

    offset_ns: int
    event: Event


def schedule(
    events: list[Event], scenario: Scenario, uncached_tokens: int, chance: Random, *, silence: Event = PING
) -> list[Due]:
    """Due offsets in order. First content at base + prefill; every further step one decode time later. `silence` fills
    long waits."""
    base_ns = scenario.base_ms * MS_NS * _factor(scenario, chance)
    prefill_ns = scenario.prefill_us_per_token * 1000 * uncached_tokens * _factor(scenario, chance)
    step_ns = scenario.decode_ms_per_token * MS_NS
    dues = [Due(int(base_ns * OPENING_SHARE), events[0])]
    at_ns, first = base_ns + prefill_ns, True
    for event in events[1:]:
        steps = event.steps
        if steps and first:
            steps, first = steps - 1, False  # the first token costs the prefill, not a decode
        for _ in range(steps):
            at_ns += step_ns * _factor(scenario, chance)
        dues.append(Due(int(at_ns), event))
    return fill_silences(dues, int(scenario.ping_every_ms * MS_NS), silence)


def _factor(scenario: Scenario, chance: Random) -> float:
    return 1.0 if scenario.jitter == 0 else 1.0 + scenario.jitter * (2.0 * chance.random() - 1.0)


def fill_silences(dues: list[Due], every_ns: int, silence: Event = PING) -> list[Due]:
    """Pings, or what a dialect has for them, at every `every_ns` inside a longer silence between two events."""
    filled = [dues[0]]
    for due in dues[1:]:
        at_ns = filled[-1].offset_ns + every_ns
        while at_ns < due.offset_ns:
            filled.append(Due(at_ns, silence))
            at_ns += every_ns
        filled.append(due)
    return filled


@dataclass(slots=True)
class Slots:
    """A first-come-first-served queue before a fixed number of servers."""

    free: int
    _waiting: deque[tuple[int, asyncio.Future[int]]] = field(default_factory=deque)

    async def acquire(self, arrived_ns: int) -> int:
        """Wait for a slot; the instant service begins: the arrival, or the due end of the predecessor."""
        if self.free:
            self.free -= 1
            return arrived_ns
        turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((arrived_ns, turn))
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release(turn.result())
            raise

    def release(self, ended_ns: int) -> None:
        """Hand the slot on, its last holder having ended at `ended_ns`."""
        while self._waiting:
            arrived_ns, turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(max(arrived_ns, ended_ns))
                return
        self.free += 1
