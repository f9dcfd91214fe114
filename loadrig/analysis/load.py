"""What load a stage really was: concurrency reached, throughput, and whether the rig itself was the bottleneck.

Times of different workers, and of different sessions of one run (a resume is a new session), are never compared. The
steady window of a worker in a session runs, on its own clock, from the begin of its first measured trial to the end
of its last. Workers of a session ran side by side, sessions one after the other, so the length of a stage's window is
the sum over sessions of the longest window of any worker. Every rate is a sum over all workers and sessions / that
length, over trials of any phase, for a window begins with trials of the warm-up in flight: concurrency reached sums
their time in flight within the windows, throughput counts successes that ended there, or their output tokens. With
fewer measured trials than N no rate is given.

Little's law (Little, Operations Research 9(3), 1961) is the check on both: trials that ended a second x their mean time
in flight is the number in flight. Where the two disagree the stage was too short for its load, or not at rest.

The manifest says how many records were on file when a session began. Where it does not, as in older runs, a record
belongs to the last session that began before it by the wall clock, which may have been set meanwhile. Without sessions
a stretch of more than 10 s with nothing in flight is taken for a pause and left out.

Whether the rig itself was the bottleneck is told in `loadrig.analysis.rig`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from loadrig.analysis.accuracy import correct
from loadrig.analysis.arrivals import Arrivals, arrivals
from loadrig.analysis.bill import PerQuestion, currency_of, per_question
from loadrig.analysis.latency import Latency, latency
from loadrig.analysis.rig import ClientMark, Stamped, client_marks, stamped, verdict
from loadrig.analysis.selection import asked, grouped, stage_names, timed
from loadrig.log import RunFolder
from loadrig.measures import measure
from loadrig.steady import Steadiness, mser5, rate_error
from loadrig.words.record import Record, succeeded

PAUSE_NS = 10_000_000_000


@dataclass(frozen=True, slots=True)
class StageLoad:
    """A stage, all arms together. `window_n` measured trials lie in the steady window of `window_s`; `reached` is the
    mean number of trials in flight in it. Rates are None without a window and when `window_n` is below `concurrency`.
    `rate_error`: relative standard error of `trials_per_s`. `little`: in flight by Little's law / `reached`. `steady`:
    whether the latencies of its trials, in order, had come to rest (`loadrig.steady`).

    `tail` of the `asked` trials ended while the load was falling. `client_bound` is None when it was not checked: a
    process of the rig has no samples. An open loop has no `concurrency` and no tail, and `open_loop` says what it was.
    """

    stage: str
    open_loop: Arrivals | None
    concurrency: int | None
    reached: float | None
    window_n: int
    window_s: float | None
    trials_per_s: float | None
    output_tokens_per_s: float | None
    rate_error: float | None
    little: float | None
    steady: Steadiness | None
    asked: int
    tail: int
    failed: int
    ttft: Latency
    service: Latency
    cost: PerQuestion
    client_bound: bool | None
    client: tuple[ClientMark, ...]
    stamps: Stamped


@dataclass(frozen=True, slots=True)
class Window:
    """A steady window of `n` measured trials; `busy_ns` sums time in flight over trials. Of those that `ended` in it:
    their `output_tokens`, the `successes`, and the relative standard `error` of the rate of these."""

    n: int
    length_ns: int
    busy_ns: int
    ended: int
    successes: int
    output_tokens: int
    error: float | None


def stage_loads(run: RunFolder) -> tuple[StageLoad, ...]:
    """Every stage in the order it ran."""
    return tuple(_stage(run, name) for name in stage_names(run))


def _stage(run: RunFolder, name: str) -> StageLoad:
    mine = [record for record in asked(run) if record.stage == name]
    times = [record for record in timed(run) if record.stage == name]
    ttft = latency(times, "ttft")
    marks = client_marks(run, name, mine, ttft)
    window = _steady(run, [r for r in (*run.records, *run.superseded) if r.stage == name])
    stage: dict[str, Any] = next((one for one in run.manifest.get("stages", []) if one["name"] == name), {})
    places = stage.get("concurrency")
    reached, trials_per_s, tokens_per_s = _rates(window, places or 1)
    return StageLoad(
        stage=name,
        open_loop=arrivals(run, stage),
        concurrency=places,
        reached=reached,
        window_n=window.n if window else 0,
        window_s=window.length_ns / 1e9 if window else None,
        trials_per_s=trials_per_s,
        output_tokens_per_s=tokens_per_s,
        rate_error=window.error if window is not None and trials_per_s is not None else None,
        little=_little(window, times) if reached is not None else None,
        steady=mser5(_series(run, times, is_open=bool(stage.get("open_loop")))),
        asked=len(mine),
        tail=sum(record.phase == "tail" for record in mine),
        failed=sum(record.outcome == "failed" for record in mine),
        ttft=ttft,
        service=latency(times, "service"),
        cost=per_question(mine, currency_of(run), correct=correct(run, mine)),
        client_bound=verdict(marks),
        client=marks,
        stamps=stamped(mine),
    )


def _rates(window: Window | None, least: int) -> tuple[float | None, float | None, float | None]:
    """In flight, successes a second, output tokens a second; None of a window of fewer than `least` trials."""
    if window is None or window.n < least:
        return None, None, None
    length = window.length_ns
    return window.busy_ns / length, window.successes * 1e9 / length, window.output_tokens * 1e9 / length


def _little(window: Window | None, times: Sequence[Record]) -> float | None:
    """In flight by Little's law over what it was: 1 of a stage long enough and at rest."""
    took = [record.service_ns for record in times if record.service_ns is not None]
    if window is None or not took or not window.busy_ns:
        return None
    return window.ended * (sum(took) / len(took)) / window.busy_ns


def _series(run: RunFolder, times: Sequence[Record], *, is_open: bool) -> list[float]:
    """Latencies of successes in plan order, each over the median of its arm and model: scheduled ones in open loop."""
    value = measure("scheduled" if is_open else "service").value
    place = {trial.id: trial.position for trial in run.trials}
    known = [(place.get(r.trial, 0), (r.arm, r.model), took) for r in times if succeeded(r) and (took := value(r))]
    middle = {key: median(of) for key, of in grouped((key, took) for _, key, took in known).items()}
    return [took / middle[key] for _, key, took in sorted(known)]


def _steady(run: RunFolder, records: Iterable[Record]) -> Window | None:
    """The stage's window; None when no worker has one."""
    began = sorted(_instant(session["began_at"]) for session in run.manifest.get("sessions") or [])
    groups = grouped(((_session(run, began, r), r.worker), r) for r in records if r.worker is not None)
    found = [
        (session, window)
        for (session, _), mine in groups.items()
        if (window := _window(mine, pause_ns=None if began else PAUSE_NS)) is not None
    ]
    if not found:
        return None
    lengths = grouped((session, window.length_ns) for session, window in found)
    return Window(
        n=sum(window.n for _, window in found),
        length_ns=sum(map(max, lengths.values())),
        busy_ns=sum(window.busy_ns for _, window in found),
        ended=sum(window.ended for _, window in found),
        successes=sum(window.successes for _, window in found),
        output_tokens=sum(window.output_tokens for _, window in found),
        error=_error([window for _, window in found]),
    )


def _error(windows: Sequence[Window]) -> float | None:
    """Of the sum of their rates; None when that of one is not known."""
    ended = sum(window.ended for window in windows)
    parts = [None if window.error is None else window.error * window.ended / ended for window in windows]
    return None if None in parts else math.hypot(*(part for part in parts if part is not None))


def _session(run: RunFolder, began: Sequence[datetime], record: Record) -> int:
    """Its number; by labels the last session that had begun when the record did, the first without a label."""
    known = run.sessions.get((record.trial, record.try_no))
    if known is not None:
        return known
    return 1 if record.began_at is None else max(1, bisect_right(began, _instant(record.began_at)))


def _instant(label: str) -> datetime:
    return datetime.fromisoformat(label)


def _window(records: Sequence[Record], *, pause_ns: int | None) -> Window | None:
    spans = [(r.begin_ns, r.end_ns, r) for r in records if r.begin_ns is not None and r.end_ns is not None]
    spans.sort(key=lambda span: span[:2])
    measured = [span for span in spans if span[2].phase == "measured"]
    if not measured:
        return None
    first, last = measured[0][0], max(end for _, end, _ in measured)
    busy, paused, reach = 0, 0, first
    for begin, end, _ in spans:
        begin, end = max(begin, first), min(end, last)  # noqa: PLW2901 - the part inside the window
        if begin >= end:
            continue
        paused += begin - reach if pause_ns is not None and begin - reach > pause_ns else 0
        reach = max(reach, end)
        busy += end - begin
    length = last - first - paused
    ended = [(end, r) for _, end, r in spans if first < end <= last]
    good = [(end, r) for end, r in ended if succeeded(r)]
    tokens = sum((r.usage.output or 0) for _, r in ended if r.usage is not None)
    error = rate_error([end for end, _ in good])
    return Window(len(measured), length, busy, len(ended), len(good), tokens, error) if length > 0 else None
