"""A sweep's figures, from runs small enough to be reckoned by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from records import MS, S, attempt, failed, read_run, record, turn

from loadrig.analysis.judging import judged, meets
from loadrig.analysis.summary import summarize
from loadrig.analysis.sweep import Sweep
from loadrig.log import RunFolder
from loadrig.objectives import objective
from loadrig.words.record import Record, Usage
from loadrig.words.settings import Objective

LATENCY = Objective(name="latency_p95", measure="service", q=0.95, limit=150 * MS)
ERRORS = Objective(name="error_share", measure="errors", q=None, limit=0.05)


def stage(n: int, slots: int, **given: Any) -> Iterator[Record]:
    """Twenty trials of warm-up and a hundred measured ones of 100 ms at `n` in flight before so many slots: each in
    flight for as long as it waits its turn in a queue, and ended one after the other."""
    every, took = 100 * MS // min(n, slots), 100 * MS * max(n, slots) // slots
    for number in range(120):
        end = number * every + took
        fields = {"begin_ns": end - took, "end_ns": end, "service_ns": took, "trial_ttft_ns": 20 * MS, **given}
        fields["phase"] = "warmup" if number < 20 else "measured"
        yield record(f"c{n}.{number}", stage=f"c{n}", usage=Usage(input=1, output=10), cost="0.01", **fields)


def run(folder: Path, *records: Record, objectives: tuple[Objective, ...] = (), **given: Any) -> RunFolder:
    names = list(dict.fromkeys(one.stage for one in records))
    stages = [{"name": name, "concurrency": int(name.partition("-")[0][1:])} for name in names]
    plan = {"name": "night", "timezone": "UTC", "objectives": objectives}
    quiet = [{"stage": name, "process": "w1", "lag_p99_ns": MS} for name in names]
    return read_run(folder, records, **{"stages": stages, "plan": plan, "self_measurement": quiet, **given})


def swept(found: RunFolder) -> Sweep:
    of = summarize(found).sweep
    assert of is not None
    return of


def test_throughput_follows_the_load_up_to_the_slots(tmp_path: Path) -> None:
    """Four slots of 100 ms: 10, 20, 40 and then no more than 40 a second, 10 tokens each; the knee is at four, and the
    first stage that is saturated is the one at eight, where trials took twice as long."""
    records = [one for n in (1, 2, 4, 8) for one in stage(n, 4)]
    found = swept(run(tmp_path, *records))
    assert [step.rates.per_s for step in found.steps] == pytest.approx([10, 20, 40, 40], rel=0.05)
    assert [step.rates.output_tokens_per_s for step in found.steps] == pytest.approx([100, 200, 400, 400], rel=0.05)
    assert [step.saturated for step in found.steps] == [False, False, False, True]
    assert found.knee is not None
    assert found.knee.at == pytest.approx(4, rel=0.05)
    assert found.knee_cause == "latency"


def test_goodput_is_throughput_within_the_limits(tmp_path: Path) -> None:
    """Within 150 ms: every trial at four in flight, none at eight, where each takes 200 ms."""
    records = [one for n in (1, 4, 8) for one in stage(n, 4)]
    found = swept(run(tmp_path, *records, objectives=(LATENCY,)))
    assert [step.rates.goodput_per_s for step in found.steps] == pytest.approx([10, 40, 0], rel=0.05)
    assert [step.verdict for step in found.steps] == ["kept", "kept", "broken"]
    assert found.bracket is not None
    assert (found.bracket.kept, found.bracket.not_kept, found.bracket.broken) == (4, 8, True)


def test_money_an_hour_is_that_of_the_throughput(tmp_path: Path) -> None:
    """A cent a trial, ten a second: 360 an hour, of each of two arms half."""
    turns = (turn(cost="0.01", usage=Usage(input=1, output=10)),)
    first = list(stage(1, 1, turns=turns))
    halves = [record_of(one, "control" if number % 2 else "rag") for number, one in enumerate(first)]
    found = swept(run(tmp_path, *halves, *stage(2, 2, turns=turns)))
    assert float(found.steps[0].rates.cost_per_hour or 0) == pytest.approx(360, rel=0.02)
    mine = [rates for rates in found.arms if rates.stage == "c1"]
    assert [(rates.arm, round(rates.per_s or 0)) for rates in mine] == [("rag", 5), ("control", 5)]
    assert [float(rates.cost_per_hour or 0) for rates in mine] == pytest.approx([180, 180], rel=0.02)


def record_of(one: Record, arm: str) -> Record:
    return record(**{name: getattr(one, name) for name in one.__struct_fields__} | {"arm": arm})


@pytest.mark.parametrize(
    ("status", "lag_ms", "cause"),
    [
        (429, 1, "rate limit"),
        (529, 1, "rate limit"),
        (500, 1, "errors"),
        (None, 1, "latency"),
        (500, 9, "client-bound"),
    ],
)
def test_saturation_is_named_by_its_cause(tmp_path: Path, status: int | None, lag_ms: int, cause: str) -> None:
    """Every fifth trial of the stage at eight met the status; with a loop lag of 9 ms nothing is said of the target."""
    full = list(stage(8, 4))
    if status is not None:
        met = (turn(attempts=(attempt(http_status=status, rate_limit=(("retry-after", "1"),)),), outcome="failed"),)
        full[20::5] = [
            failed(one.trial, "http_5xx", stage=one.stage, begin_ns=one.begin_ns, end_ns=one.end_ns, turns=met)
            for one in full[20::5]
        ]
    rig = [{"stage": name, "process": "w1", "lag_p99_ns": lag_ms * MS} for name in ("c4", "c8")]
    found = swept(run(tmp_path, *stage(4, 4), *full, self_measurement=rig))
    assert (found.steps[1].saturated, found.steps[1].cause) == (True, cause)
    limited = 20 if status in (429, 529) else 0
    assert (found.steps[1].met.limited, found.steps[1].met.retry_after) == (limited, limited)


def test_a_load_that_was_run_twice_is_judged_over_both(tmp_path: Path) -> None:
    """Two of 100 errors at 5 % are open, and so are none of 70; two of 170 are not (Wilson: 0.3 % to 4.2 %)."""
    many = [record(f"a{n}", stage="c2", begin_ns=n * S, end_ns=(n + 1) * S) for n in range(98)]
    bad = [failed(f"f{n}", stage="c2") for n in range(2)]
    again = [record(f"b{n}", stage="c2-2", begin_ns=n * S, end_ns=(n + 1) * S) for n in range(70)]
    found = swept(run(tmp_path, *many, *bad, *again, objectives=(ERRORS,), sweep={"searched": True, "ended": "so"}))
    assert [(step.stage, step.load, step.verdict) for step in found.steps] == [
        ("c2", 2, "undecided"), ("c2-2", 2, "kept"),
    ]  # fmt: skip
    assert (found.searched, found.ended) == (True, "so")


def test_failures_lie_beyond_every_limit(tmp_path: Path) -> None:
    """89 of 100 within the limit break a p95, whether the others were slow or failed at once."""
    good = [record(f"a{n}", service_ns=100 * MS) for n in range(89)]
    bad = [failed(f"f{n}", service_ns=MS) for n in range(11)]
    (found,) = judged(run(tmp_path, *good, *bad), (LATENCY,), ["c2"])
    assert found.verdict == "broken"
    assert found.value is not None
    assert (found.value.value_ns, found.value.n, found.value.ok) == (None, 100, 89)


def test_what_was_never_sent_in_time_is_an_error(tmp_path: Path) -> None:
    """Open loop: five of 100 trials due were given up at the end of their stage."""
    sent = [record(f"a{n}") for n in range(95)]
    late = [record(f"l{n}", outcome="not_run", reason="late", service_ns=None) for n in range(5)]
    (found,) = judged(run(tmp_path, *sent, *late), (ERRORS,), ["c2"])
    assert found.share is not None
    assert (found.share.k, found.share.n, found.verdict) == (5, 100, "undecided")


def test_a_trial_is_held_to_the_widest_limit_on_a_measure() -> None:
    """p50 under 1 s and p95 under 2 s: one of 1.5 s is one of those that may take longer; cut off is not answered."""
    limits = (objective("latency_p50", "1s"), objective("latency_p95", "2s"), objective("ttft_p95", "100ms"))
    assert meets(record("a", service_ns=1500 * MS, trial_ttft_ns=100 * MS), limits)
    assert not meets(record("a", service_ns=2001 * MS, trial_ttft_ns=100 * MS), limits)
    assert not meets(record("a", service_ns=S, trial_ttft_ns=101 * MS), limits)
    assert not meets(record("a", service_ns=S, outcome="unanswered", reason="cut_off"), limits)


def test_one_stage_is_no_sweep(tmp_path: Path) -> None:
    """Unless one was asked for and ended there."""
    assert summarize(run(tmp_path / "a", *stage(2, 4))).sweep is None
    told = summarize(run(tmp_path / "b", *stage(2, 4), sweep={"searched": False, "ended": "stopped"})).sweep
    assert told is not None
    assert (len(told.steps), told.knee, told.bracket) == (1, None, None)


def test_a_stage_that_does_not_come_to_rest_is_warned_of(tmp_path: Path) -> None:
    """A hundred trials, each 10 ms slower than the one before: MSER-5 would cut the first 75."""
    rising = [record(f"a{n}", service_ns=S + n * 10 * MS, begin_ns=n * S, end_ns=2 * n * S) for n in range(100)]
    found = summarize(run(tmp_path, *rising))
    steady = found.stages[0].steady
    assert steady is not None
    assert (steady.n, steady.cut, steady.steady) == (100, 75, False)
    assert any("stage c2 is not steady: by MSER-5 the first 75 of its 100" in one for one in found.warnings)
