"""Latency over the time of a run: where trials lie, and what a slice of time holds."""

from __future__ import annotations

from pathlib import Path

from records import MS, failed, read_run, record

from loadrig.analysis.over_time import Moment, courses, slices


def at(second: int) -> str:
    return f"2026-11-20T12:00:{second:02d}.000000Z"


def test_a_slice_counts_what_began_in_it() -> None:
    """Four trials of 10 to 30 ms in two slices of 5 s; the failure counts, its time does not."""
    moments = [Moment(0, 10, True), Moment(4, 20, True), Moment(6, 900, False), Moment(10, 30, True)]
    first, last = slices(moments, (0.0, 10.0), 2)
    assert (first.n, first.ok, first.p5_ns, first.p50_ns, first.p95_ns) == (2, 2, 10, 10, 20)
    assert (last.from_s, last.to_s, last.n, last.ok, last.p50_ns) == (5.0, 10.0, 2, 1, 30)


def test_an_empty_slice_has_no_time() -> None:
    """Nothing began in the middle: counts are 0, times are not known."""
    _, middle, _ = slices([Moment(0, 10, True), Moment(9, 10, True)], (0.0, 9.0), 3)
    assert (middle.n, middle.ok, middle.p50_ns) == (0, 0, None)


def test_trials_lie_in_seconds_from_the_first_of_the_run(tmp_path: Path) -> None:
    """A trial at 12:00:03 and a failure at 12:00:07: 0 s and 4 s; warm-up lies nowhere."""
    trials = (record("a", began_at=at(3), service_ns=MS), failed("f", began_at=at(7)),
              record("w", began_at=at(0), phase="warmup"))  # fmt: skip
    (course,) = courses(read_run(tmp_path, trials))
    assert [(one.at_s, one.ok) for one in course.moments] == [(0.0, True), (4.0, False)]


def test_slices_do_not_span_stages(tmp_path: Path) -> None:
    """Forty trials in each of two stages: the slices of one end where its last trial began."""
    trials = [record(f"{stage}{n}", stage=stage, began_at=at(n // 2 + 30 * (stage == "c4"))) for stage in ("c2", "c4")
              for n in range(40)]  # fmt: skip
    stages = [{"name": "c2", "concurrency": 2}, {"name": "c4", "concurrency": 4}]
    first, second = courses(read_run(tmp_path, trials, stages=stages))
    assert (first.slices[0].from_s, first.slices[-1].to_s, second.slices[0].from_s) == (0.0, 19.0, 30.0)
    assert [sum(one.n for one in course.slices) for course in (first, second)] == [40, 40]
    assert len(first.slices) == 5


def test_a_run_without_a_timed_trial_has_no_course(tmp_path: Path) -> None:
    """Nothing to draw is nothing, not an error."""
    assert courses(read_run(tmp_path, [record("w", phase="warmup")])) == ()
