"""What the rig knew of itself in a stage: its processes against their limits, and whose stamps the replies have.

The rule is `loadrig.bound`; what a process saw is in the manifest. A worker that has records, and the simulator of a
simulated run, are expected: without their samples the stage is not checked, which is not the same as not bound. Read
lags are the records': how much later than the kernel's stamp the client read a first token, exact quantiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadrig.analysis.latency import Latency
from loadrig.bound import SIMULATOR, Cause, any_bound, causes, is_bound, is_simulator, lag_limit_ns
from loadrig.log import RunFolder
from loadrig.stamps import StampCount, replies_of
from loadrig.stats import Quantile, quantile
from loadrig.words.record import Record

_TAKEN_OVER = (
    "lag_n", "lag_p50_ns", "lag_p99_ns", "lag_max_ns", "cpu_share_max", "gc_pauses", "gc_max_ns", "in_flight_target",
    "in_flight_max", "loop",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadLags:
    """How late first tokens were read (ns), of the replies with kernel stamps; `max_ns`: of any read of theirs."""

    n: int
    p50: Quantile | None
    p99: Quantile | None
    max_ns: int | None


@dataclass(frozen=True, slots=True)
class ClientMark:
    """A process in a stage (a worker, `driver`, `simulator`): its own lateness against the limit (ns), its busiest CPU
    share of one core, its full garbage collections (number and longest), the trials it was told to keep in flight and
    kept at most, and how late it read. `bound`: over a limit, by `causes`; None when it was not sampled."""

    process: str
    lag_n: int | None
    lag_p50_ns: int | None
    lag_p99_ns: int | None
    lag_max_ns: int | None
    lag_limit_ns: int
    cpu_share_max: float | None
    gc_pauses: int | None
    gc_max_ns: int | None
    in_flight_target: int | None
    in_flight_max: int | None
    loop: str | None
    read_lag: ReadLags
    bound: bool | None
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Stamped:
    """Of `replies` attempts, `kernel` have the kernel's stamps and `read` the reads' own; see `loadrig.stamps`."""

    replies: int
    kernel: int
    read: int
    late: int
    early: int
    absent: int
    read_lag: ReadLags


def client_marks(run: RunFolder, stage: str, asked: Sequence[Record], ttft: Latency) -> tuple[ClientMark, ...]:
    """The processes of a stage as the manifest lists them, then those it should have listed."""
    p50 = ttft.successes.p50
    p50_ns = p50.value_ns if p50 else None
    rows = [row for row in run.manifest.get("self_measurement") or [] if row.get("stage") == stage]
    listed = {str(row.get("process")) for row in rows}
    due = dict.fromkeys(record.worker for record in asked if record.worker is not None)
    missing = [worker for worker in due if worker not in listed]
    if run.manifest.get("simulated") and not any(map(is_simulator, listed)):
        missing.append(SIMULATOR)
    return tuple(_mark(row, asked, p50_ns) for row in (*rows, *({"process": name} for name in missing)))


def verdict(marks: Iterable[ClientMark]) -> bool | None:
    """Whether the stage was client-bound; None when it cannot be told."""
    return any_bound(mark.bound for mark in marks)


def stamped(records: Iterable[Record]) -> Stamped:
    """Whose stamps the replies of asked records have."""
    records, count = list(records), StampCount()
    for record in records:
        for attempt in replies_of(record):
            count.add(attempt)
    return Stamped(
        count.replies, count.kernel, count.read, count.late, count.early, count.absent, _read_lags(records)
    )  # fmt: skip


def _mark(row: Mapping[str, Any], asked: Sequence[Record], ttft_p50_ns: int | None) -> ClientMark:
    process = str(row.get("process"))
    known = {name: row.get(name) for name in _TAKEN_OVER}
    found = causes(
        process, lag_p99_ns=known["lag_p99_ns"], cpu_share_max=known["cpu_share_max"], ttft_p50_ns=ttft_p50_ns
    )
    return ClientMark(
        process=process,
        lag_limit_ns=lag_limit_ns(process, ttft_p50_ns),
        read_lag=_read_lags(record for record in asked if record.worker == process),
        bound=is_bound(found, known["lag_p99_ns"]),
        causes=found,
        **known,
    )


def _read_lags(records: Iterable[Record]) -> ReadLags:
    attempts = [attempt for record in records for attempt in replies_of(record)]
    lags = sorted(attempt.read_lag_ns for attempt in attempts if attempt.read_lag_ns is not None)
    largest = max((one.read_lag_max_ns for one in attempts if one.read_lag_max_ns is not None), default=None)
    return ReadLags(len(lags), quantile(lags, 0.5), quantile(lags, 0.99), largest)
