"""Taking up a run: what is asked again, under which number, and what the first part may have spent unrecorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from records import S, failed, read_run, record, trial_of

from loadrig.execution.resuming import check_same_plan, take_up
from loadrig.log import read_run as reread
from loadrig.words.errors import InputError

RECORDS = [
    record("done"),
    failed("refused", "http_4xx"),
    failed("lost", "lost"),
    failed("stopped", "cancelled"),
    record("unrun", outcome="not_run", reason="stopped", try_no=0),
]
PLAN = {"seed": 7, "load": {"workers": 1, "warmup": 8}, "budget": {"money": None}}


def test_only_what_is_missing_is_asked(tmp_path: Path) -> None:
    """Lost and cancelled trials get a second try, one never begun its first; what failed or is done is left."""
    taken = take_up(read_run(tmp_path, RECORDS), retry_failed=False)
    assert [(trial.id, trial.try_no) for trial in taken.trials] == [("lost", 2), ("stopped", 2), ("unrun", 1)]
    assert taken.earlier == tuple(RECORDS)


def test_failed_trials_are_asked_only_when_told_to(tmp_path: Path) -> None:
    """With retry_failed the refused one is asked again too."""
    taken = take_up(read_run(tmp_path, RECORDS), retry_failed=True)
    assert [trial.id for trial in taken.trials] == ["refused", "lost", "stopped", "unrun"]


def test_nothing_missing_is_said(tmp_path: Path) -> None:
    """A complete run is not run again by mistake."""
    with pytest.raises(InputError, match="nothing is missing"):
        take_up(read_run(tmp_path, RECORDS[:1]), retry_failed=False)


def test_a_torn_last_record_is_asked_again(tmp_path: Path) -> None:
    """A record cut in the middle of a word counts as missing, and the file can be read."""
    read_run(tmp_path, RECORDS)
    records = tmp_path / "records.jsonl"
    records.write_bytes(records.read_bytes()[:-20])
    assert [trial.id for trial in take_up(reread(tmp_path), retry_failed=False).trials] == ["lost", "stopped", "unrun"]


def test_a_killed_drivers_last_requests_are_lost_not_forgotten(tmp_path: Path) -> None:
    """No record of four trials at two in flight: the first two may have been sent and get a second try, by name."""
    trials = [trial_of(record(name), position) for position, name in enumerate(["done", "a", "b", "c", "d"])]
    run = read_run(tmp_path, [record("done")], trials=trials, status="running")
    taken = take_up(run, retry_failed=False)
    assert [(lost.trial, lost.reason, lost.try_no) for lost in taken.lost] == [("a", "lost", 1), ("b", "lost", 1)]
    assert [(trial.id, trial.try_no) for trial in taken.trials] == [("a", 2), ("b", 2), ("c", 1), ("d", 1)]


def test_in_open_loop_a_killed_drivers_lost_trials_are_those_that_were_due(tmp_path: Path) -> None:
    """The last end on file is 2 s after the begin: of those without a record the one due at 3 s, a second later, may
    have been sent, the one due at 4 s not."""
    done = record("t1", stage="r1", scheduled_ns=S)
    trials = [replace(trial_of(record(f"t{n}", stage="r1"), n), due_ns=n * S) for n in range(1, 5)]
    stage = {"name": "r1", "concurrency": None, "open_loop": {"max_in_flight": 10}}
    taken = take_up(read_run(tmp_path, [done], trials=trials, status="running", stages=[stage]), retry_failed=False)
    assert [lost.trial for lost in taken.lost] == ["t2", "t3"]
    assert [(trial.id, trial.try_no) for trial in taken.trials] == [("t2", 2), ("t3", 2), ("t4", 1)]


def test_a_changed_plan_or_corpus_is_refused_by_name(tmp_path: Path) -> None:
    """Going on with another seed or corpus would mix two runs in one folder; the key that differs is named."""
    run = read_run(tmp_path, RECORDS, plan=PLAN, corpus={"sha256": "a"}, command_line="loadrig run x")
    with pytest.raises(InputError, match="seed") as caught:
        check_same_plan(run, {**PLAN, "seed": 8}, "a")
    assert "loadrig run x" in caught.value.remedy
    with pytest.raises(InputError, match="the corpus differs"):
        check_same_plan(run, PLAN, "b")


def test_how_a_run_is_carried_out_may_change(tmp_path: Path) -> None:
    """Another number of workers and a larger budget are no other run; another warm-up is."""
    run = read_run(tmp_path, RECORDS, plan=PLAN, corpus={"sha256": "a"})
    check_same_plan(run, {**PLAN, "load": {"workers": 2, "warmup": 8}, "budget": {"money": "5"}}, "a")
    with pytest.raises(InputError, match=r"load\.warmup"):
        check_same_plan(run, {**PLAN, "load": {"workers": 1, "warmup": 9}}, "a")
