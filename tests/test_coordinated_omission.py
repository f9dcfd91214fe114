"""A target that stalls: open loop shows what its users wait, closed loop cannot and says so.

The truth is arithmetic. Forty trials a second are due for 5 s and each takes 20 ms; the target freezes from 1.5 to
2.5 s. The forty due meanwhile wait for the rest of the freeze: 1.000, 0.975, ... 0.025 s, and 20 ms. Of 200 the third
longest is the p99, the eleventh longest the p95.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from freezing_server import freezing
from small_run import Fired, fire

from loadrig.analysis.latency import Spread
from loadrig.reports.markdown import render
from loadrig.words.settings import LimitSettings, ModelSettings
from plans import plan

TOOK_S, FROZEN_S = 0.02, (1.5, 2.5)
OPEN = {"concurrency": None, "rate": (40.0,), "arrivals": "constant", "duration_s": 5.0}
LOADS = {
    "open": OPEN,
    "four at most": {**OPEN, "max_in_flight": 4},
    "closed": {"concurrency": (4,), "think_s": 0.08, "duration_s": 5.0},  # 40 a second, as long as it answers
}


def against_a_freeze(folder: Path, **load: object) -> Fired:
    model = ModelSettings(id="m-1")
    with freezing(lambda number: TOOK_S, FROZEN_S) as server:
        return fire(plan(model=(model,), limits=LimitSettings(total=30), load=load), {"m-1": server.url}, folder)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fired]:
    return {name: against_a_freeze(tmp_path_factory.mktemp("freeze"), **load) for name, load in LOADS.items()}


def seconds(spread: Spread | None) -> list[float]:
    """p50, p95 and p99."""
    assert spread is not None
    return [
        quantile.value_ns / 1e9 for quantile in (spread.p50, spread.p95, spread.p99) if quantile and quantile.value_ns
    ]


def test_g10_scheduled_latency_is_what_users_waited(ran: dict[str, Fired]) -> None:
    """p50 20 ms; p95 0.75 + 0.02 s and p99 0.95 + 0.02 s, as reckoned, within 60 ms."""
    (stage,) = ran["open"].summary.stages
    assert stage.open_loop is not None
    assert (stage.open_loop.due, stage.open_loop.scheduled.ok) == (200, 200)
    assert seconds(stage.open_loop.scheduled.successes) == pytest.approx([0.02, 0.77, 0.97], abs=0.06)


def test_g3_waiting_for_a_slot_is_in_scheduled_latency_and_not_in_service(ran: dict[str, Fired]) -> None:
    """At most four in flight: four trials see the freeze, the rest wait unsent. Service p95 is 20 ms, scheduled p95 is
    still over 0.75 s, and the difference is the dispatch delay."""
    (stage,) = ran["four at most"].summary.stages
    assert stage.open_loop is not None
    assert stage.open_loop.in_flight_max == 4
    assert seconds(stage.service.successes)[1] == pytest.approx(0.02, abs=0.06)
    assert 0.7 < seconds(stage.open_loop.scheduled.successes)[1] < 1.0
    assert 0.7 < seconds(stage.open_loop.dispatch_delay)[1] < 1.0


def test_scheduled_latency_is_dispatch_delay_and_service_to_the_nanosecond(ran: dict[str, Fired]) -> None:
    """Of every trial; none begins before it is due, and a closed loop has none of it."""
    for record in (*ran["open"].run.records, *ran["four at most"].run.records):
        assert record.scheduled_ns == (record.dispatch_delay_ns or 0) + (record.service_ns or 0)
        assert (record.dispatch_delay_ns or 0) >= 0
        assert (record.begin_ns or 0) - (record.due_ns or 0) == record.dispatch_delay_ns
    assert {(r.due_ns, r.scheduled_ns, r.dispatch_delay_ns) for r in ran["closed"].run.records} == {(None, None, None)}


def test_after_a_stall_nothing_is_sent_but_what_is_due(ran: dict[str, Fired]) -> None:
    """Four at most: at no instant have more been begun than were due."""
    records = ran["four at most"].run.records
    due, begun = (sorted(times) for times in zip(*((r.due_ns or 0, r.begin_ns or 0) for r in records), strict=True))
    assert all(begin_ns >= due_ns for due_ns, begin_ns in zip(due, begun, strict=True))


def test_a_closed_loop_hides_the_stall(ran: dict[str, Fired]) -> None:
    """Four of about 160 trials meet the freeze, so p95 is 20 ms; fewer were asked than the 200 an open loop asks."""
    found = ran["closed"]
    (stage,) = found.summary.stages
    assert seconds(stage.service.successes)[1] == pytest.approx(0.02, abs=0.06)
    slow = [record for record in found.run.records if (record.service_ns or 0) > 500_000_000]
    assert len(slow) == 4
    assert 120 < len(found.run.records) < 180


def test_g10_the_report_says_which_loop_it_was_and_what_that_means(ran: dict[str, Fired]) -> None:
    """One sentence each, under the headline."""
    told = {name: render(found.summary) for name, found in ran.items()}
    assert "open loop: trials are due at times fixed beforehand, whatever the target does" in told["open"]
    assert "while the target stalls fewer are sent, so the users who would wait are hidden" in told["closed"]
    assert "closed loop" not in told["open"]


def test_a_closed_loop_rests_between_two_trials_and_counts_none_of_it(ran: dict[str, Fired]) -> None:
    """80 ms of thinking: a slot's next trial begins that much after the last, whose service latency is 20 ms."""
    records = sorted(ran["closed"].run.records, key=lambda record: record.begin_ns or 0)
    assert seconds(ran["closed"].summary.stages[0].service.successes)[0] == pytest.approx(0.02, abs=0.03)
    ends = sorted(record.end_ns or 0 for record in records)
    for place, record in enumerate(records[4:]):
        assert (record.begin_ns or 0) - ends[place] >= 79_000_000
