"""What the self-test measures, in order: replies without delay of three lengths, then the paced load asked for.

Without delay the rig is the only limit: how much CPU a request and an event cost, and how many events a core can take.
Paced, the rig has time to spare: how far off its first-token time is, and how late its loop wakes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from loadrig.bound import CPU_LIMIT
from loadrig.selftest.certificate import trusted_certificate
from loadrig.selftest.figures import Fit, Level, fit, level
from loadrig.selftest.null import Schedule, cores, null_target, truth
from loadrig.selftest.rig import MODEL, Rig, rig
from loadrig.wire.turn import resolve
from loadrig.words.errors import LoadrigError
from loadrig.words.settings import ModelSettings

LENGTHS = (10, 100, 1000)
PACED = Schedule(100, 200, 10)
BUSY_STREAMS = 32
TTFT_LIMIT_NS = 2_000_000


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The rig's own figures on this machine."""

    cores: tuple[int | None, int | None]
    load_average: float
    python: str
    busy: tuple[Level, ...]
    paced: Level
    cost: Fit
    warnings: tuple[str, ...] = field(default_factory=tuple)
    tls: bool = False

    @property
    def events_per_core(self) -> float:
        """Events a second that one core takes, replies of 100 tokens sent at once."""
        at = next(one for one in self.busy if one.schedule.tokens == PACED.tokens)
        return at.events_per_s / at.cpu_share

    @property
    def streams_per_core(self) -> int:
        """Streams paced as tested that fill a core to 85 %, at the cost an event has at the tested level."""
        each = PACED.events / PACED.lasts_s * self.paced.us_per_event / 1e6
        return int(CPU_LIMIT / each)

    @property
    def is_true(self) -> bool:
        """Whether the first-token times of the paced level may be believed to 2 ms."""
        p99_ns = self.paced.ttft_error.p99_ns
        return p99_ns is not None and p99_ns <= TTFT_LIMIT_NS


async def self_test(*, streams: int, seconds: float, lengths: Sequence[int] = LENGTHS, tls: bool = False) -> SelfTest:
    """Measures for `seconds` at each of the levels, with `tls` over HTTPS."""
    target_core, rig_core = cores()
    load_average = os.getloadavg()[0]
    schedules = {f"{MODEL}-{tokens}": Schedule(tokens) for tokens in lengths} | {MODEL: PACED}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loadrig-")))
        certificate = None
        if tls:
            own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loadrig-")))
            certificate = stack.enter_context(trusted_certificate(own))
        urls = {
            name: stack.enter_context(null_target(schedule, core=target_core, model=MODEL, certificate=certificate))
            for name, schedule in schedules.items()
        }
        targets = {name: await resolve(ModelSettings(id=MODEL), url) for name, url in urls.items()}
        stack.enter_context(pinned(rig_core))
        async with rig(folder, targets) as worker:
            levels = {
                name: await _measured(worker, name, schedule, url=urls[name], streams=streams, seconds=seconds)
                for name, schedule in schedules.items()
            }
    paced = levels.pop(MODEL)
    if sum(one.replies for one in levels.values()) == 0 or paced.replies == 0:
        raise LoadrigError("the null target gave no reply")
    busy = tuple(levels.values())
    cost = fit([(one.schedule.events, one.us_per_reply) for one in busy])
    return SelfTest(
        (target_core, rig_core),
        load_average,
        sys.version.split()[0],
        busy,
        paced,
        cost,
        _warnings(paced, rig_core, load_average),
        tls,
    )


@contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """This process on one core, for the time being."""
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


async def _measured(worker: Rig, name: str, schedule: Schedule, *, url: str, streams: int, seconds: float) -> Level:
    """Paced windows are whole numbers of replies: streams in step cost nothing while they wait for first tokens."""
    at_once = streams if schedule.lasts_s else BUSY_STREAMS
    turns = max(1, round(seconds / schedule.lasts_s)) if schedule.lasts_s else 1
    window = await worker.load(
        name,
        at_once,
        warm_s=schedule.lasts_s + 0.3,
        seconds=turns * schedule.lasts_s if schedule.lasts_s else seconds,
    )
    return level(window, schedule, at_once, truth(url))


def _warnings(paced: Level, core: int | None, load_average: float) -> tuple[str, ...]:
    found = []
    if load_average > 1:
        found.append(f"load average {load_average:.1f} before the start: other work makes the figures worse")
    if core is None:
        found.append("rig and target share a core: the figures are worse than the rig's own")
    if (paced.target_late.p99_ns or 0) > TTFT_LIMIT_NS * 5:
        found.append("the target was late itself: something else uses its core")
    if paced.failed:
        found.append(f"{paced.failed} requests failed")
    return tuple(found)
