"""Running figures: counts, recent percentiles, cost so far and time left, by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from records import S, record, turn

from loadrig.live.recent import Percentiles
from loadrig.live.tally import Tally
from loadrig.words.record import Record, Usage
from loadrig.words.trial import RunInfo


def tallied(*records: Record, planned: int = 100) -> Tally:
    """A tally that started at 0 and was given one record a second."""
    tally = Tally()
    tally.start(RunInfo("r1", "quick", "0.1.0", planned=planned, currency="USD", simulated=False), 0)
    for second, ended_record in enumerate(records, start=1):
        tally.add(ended_record, second * S)
    return tally


def ended(**given: Any) -> Record:
    """An answered trial of one turn, whose first token came after 1 s, for 0.01."""
    return record("t1", **{"turns": (turn(ttft_ns=S),), "cost": "0.01", **given})


def test_outcomes_add_up() -> None:
    """Every record but that of a trial not run is done; failures keep their reasons."""
    tally = tallied(
        ended(), ended(outcome="unanswered", reason="empty"), ended(outcome="failed", reason="timeout"),
        ended(outcome="failed", reason="timeout"), ended(outcome="not_run", reason="stopped", turns=()),
    )  # fmt: skip
    assert (tally.done, tally.unanswered, tally.failed, tally.not_run) == (4, 1, 2, 1)
    assert dict(tally.failures) == {"timeout": 2}


def test_percentiles_are_nearest_rank() -> None:
    """Of 1 to 20 s the 50th percentile is the 10th value and the 95th the 19th; without samples both are null."""
    tally = tallied(*(ended(service_ns=second * S) for second in range(20, 0, -1)))
    assert tally.service == Percentiles(10 * S, 19 * S, 20)
    assert tallied().service == Percentiles(None, None, 0)


def test_only_the_last_2000_samples_are_kept() -> None:
    """After 2,000 trials of 5 s nothing is left of 2,000 earlier ones of 1 s: memory stays, figures follow the load."""
    tally = tallied(*[ended(service_ns=S)] * 2000, *[ended(service_ns=5 * S)] * 2000)
    assert tally.service == Percentiles(5 * S, 5 * S, 2000)


def test_failures_give_no_latency() -> None:
    """A failed trial's time is no sample, but the good turn inside it is."""
    tally = tallied(ended(outcome="failed", reason="timeout", service_ns=9 * S))
    assert (tally.service.p50_ns, tally.ttft.p50_ns) == (None, S)


def test_cost_is_exact_and_says_when_it_is_partial() -> None:
    """Three times 0.1 is 0.3; a called model without a price makes it partial, a trial that never ran does not."""
    tally = tallied(*[ended(cost="0.1")] * 3, ended(cost=None, outcome="not_run", reason="stopped", turns=()))
    assert (tally.cost, tally.cost_partial) == (Decimal("0.3"), False)
    assert tallied(ended(cost="0.1"), ended(cost=None)).cost_partial
    assert tallied(ended(usage=Usage(output=3, exact=False))).cost_partial


def test_time_left_follows_the_pace() -> None:
    """Ten of 100 trials in 10 s leave 90 s; before five trials there is no estimate."""
    assert tallied(*[ended()] * 10).left_s(10 * S) == 90
    assert tallied(*[ended()] * 4).left_s(4 * S) is None


def test_time_left_grows_when_nothing_ends() -> None:
    """The same ten trials, looked at after 20 s, leave 180 s: a stall shows."""
    assert tallied(*[ended()] * 10).left_s(20 * S) == 180


def test_a_trial_asked_again_never_makes_more_done_than_planned() -> None:
    """With 2 planned and 3 records, one of them a second try, planned shows 3."""
    assert tallied(ended(), ended(), ended(try_no=2), planned=2).planned == 3
