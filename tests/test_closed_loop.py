"""Closed loop, exactly: N in flight over all workers while work remains, and no place waits for another."""

from __future__ import annotations

from pathlib import Path

from freezing_server import freezing
from small_run import Fired, fire

from loadrig.words.settings import ModelSettings, QuestionSettings
from plans import plan

S = 1_000_000_000


def asked(folder: Path, url: str, trials: int, **load: object) -> Fired:
    """One question so many times."""
    small = plan(
        repetitions=trials, model=(ModelSettings(id="m-1"),), load=load,
        questions=QuestionSettings(path="questions/tiny.jsonl", limit=1),
    )  # fmt: skip
    return fire(small, {"m-1": url}, folder, loop="uvloop")


def lasted_s(found: Fired) -> float:
    """From the first begin to the last end: the workers share this process's clock."""
    records = found.run.records
    return (max(r.end_ns or 0 for r in records) - min(r.begin_ns or 0 for r in records)) / S


def test_g2_n_are_in_flight_over_four_workers_and_no_more(tmp_path: Path) -> None:
    """96 questions of 1 s, 32 in flight over four workers: the server has 32 at once, and it is over in 3 s and a
    quarter of that at most. Half as many workers' connections would make a queue."""
    with freezing(lambda number: 1.0) as server:
        found = asked(tmp_path, server.url, 96, concurrency=(32,), workers=4)
    assert (server.requests, server.most) == (96, 32)
    assert {record.worker for record in found.run.records} == {"w1", "w2", "w3", "w4"}
    assert lasted_s(found) < 3 * 1.25
    assert max(record.service_ns or 0 for record in found.run.records) < 1.25 * S


def test_g1_a_straggler_holds_its_own_place_and_no_other(tmp_path: Path) -> None:
    """61 questions of 50 ms, six in flight, one of them of 4 s: the other 60 are done in 1.25 s over five places."""
    with freezing(lambda number: 4.0 if number == 0 else 0.05) as server:
        found = asked(tmp_path, server.url, 61, concurrency=(6,))
    *others, slow = sorted(found.run.records, key=lambda record: record.service_ns or 0)
    begin_ns = min(record.begin_ns or 0 for record in found.run.records)
    assert (slow.service_ns or 0) > 3.9 * S
    assert (max(record.end_ns or 0 for record in others) - begin_ns) / S < 1.25


def test_a_stage_of_stated_duration_ends_in_time_and_plans_what_it_asked(tmp_path: Path) -> None:
    """1 s of two in flight at 100 ms: about 20 trials, none begun after it; planned is what has a record."""
    with freezing(lambda number: 0.1) as server:
        found = asked(tmp_path, server.url, 1, concurrency=(2,), duration_s=1.0)
    records = found.run.records
    assert 12 <= len(records) == len(found.run.trials) == server.requests <= 21
    assert {record.outcome for record in records} == {"answered"}
    assert lasted_s(found) < 1.5
    assert all(count.balanced for count in found.summary.counts)
