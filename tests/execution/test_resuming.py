"""Taking up a run: what is asked again, under which number, and what the first part may have spent unrecorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import failed, read_run, record, trial_of

from loadrig.execution.resuming import check_same_plan, take_up
from loadrig.log import RunLog, read_leases
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
    taken = take_up(read_run(tmp_path, RECORDS), (), retry_failed=False)
    assert [(trial.id, trial.try_no) for trial in taken.trials] == [("lost", 2), ("stopped", 2), ("unrun", 1)]
    assert taken.earlier == tuple(RECORDS)


def test_failed_trials_are_asked_only_when_told_to(tmp_path: Path) -> None:
    """With retry_failed the refused one is asked again too."""
    taken = take_up(read_run(tmp_path, RECORDS), (), retry_failed=True)
    assert [trial.id for trial in taken.trials] == ["refused", "lost", "stopped", "unrun"]


def test_nothing_missing_is_said(tmp_path: Path) -> None:
    """A complete run is not run again by mistake."""
    with pytest.raises(InputError, match="nothing is missing"):
        take_up(read_run(tmp_path, RECORDS[:1]), (), retry_failed=False)


def test_a_torn_last_record_is_asked_again(tmp_path: Path) -> None:
    """A record cut in the middle of a word counts as missing, and the file can be read."""
    read_run(tmp_path, RECORDS)
    records = tmp_path / "records.jsonl"
    records.write_bytes(records.read_bytes()[:-20])
    assert [trial.id for trial in take_up(reread(tmp_path), (), retry_failed=False).trials] == [
        "lost", "stopped", "unrun"
    ]  # fmt: skip


def test_what_was_given_to_a_worker_and_has_no_record_is_lost_not_forgotten(tmp_path: Path) -> None:
    """Given: `done`, which has its record, a, and b a second time. a and b may have been sent: they are lost under
    those numbers and get the next ones; c was never given to anybody."""
    trials = [trial_of(record(name), position) for position, name in enumerate(["done", "a", "b", "c"])]
    run = read_run(tmp_path, [record("done"), failed("b", "lost")], trials=trials, status="running")
    taken = take_up(run, {("done", 1), ("a", 1), ("b", 1), ("b", 2)}, retry_failed=False)
    assert [(lost.trial, lost.reason, lost.try_no) for lost in taken.lost] == [("a", "lost", 1), ("b", "lost", 2)]
    assert [(trial.id, trial.try_no) for trial in taken.trials] == [("a", 2), ("b", 3), ("c", 1)]


def test_leases_tell_what_a_worker_was_given_and_has_not_handed_back(tmp_path: Path) -> None:
    """Three given to w1, of which it handed one back and w2 got it; one more handed back and with nobody."""
    given = [trial_of(record(name)) for name in ["a", "b", "c", "d"]]
    with RunLog(tmp_path) as log:
        log.lease("w1", given)
        log.take_back("w1", given[1:3])
        log.lease("w2", [given[1]])
        log.lease("w2", [])
    assert read_leases(tmp_path) == {("a", 1), ("b", 1), ("d", 1)}
    assert len((tmp_path / "leases.jsonl").read_bytes().splitlines()) == 3


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
