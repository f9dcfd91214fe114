"""Taking up a run: what is asked again, and under which number."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import failed, read_run, record

from loadrig.execution.resuming import check_same_plan, missing
from loadrig.words.errors import InputError

RECORDS = [
    record("done"),
    failed("refused", "http_4xx"),
    failed("lost", "lost"),
    failed("stopped", "cancelled"),
    record("unrun", outcome="not_run", reason="stopped", try_no=0),
]


def test_only_what_is_missing_is_asked(tmp_path: Path) -> None:
    """Lost and cancelled trials get a second try, one never begun its first; what failed or is done is left."""
    trials = missing(read_run(tmp_path, RECORDS), retry_failed=False)
    assert [(trial.id, trial.try_no) for trial in trials] == [("lost", 2), ("stopped", 2), ("unrun", 1)]


def test_failed_trials_are_asked_only_when_told_to(tmp_path: Path) -> None:
    """With retry_failed the refused one is asked again too."""
    trials = missing(read_run(tmp_path, RECORDS), retry_failed=True)
    assert [trial.id for trial in trials] == ["refused", "lost", "stopped", "unrun"]


def test_a_torn_last_record_is_asked_again(tmp_path: Path) -> None:
    """A record cut in the middle of a word counts as missing, and the file can be read."""
    read_run(tmp_path, RECORDS)
    records = tmp_path / "records.jsonl"
    records.write_bytes(records.read_bytes()[:-20])
    from loadrig.log import read_run as reread  # noqa: PLC0415

    assert [trial.id for trial in missing(reread(tmp_path), retry_failed=False)] == ["lost", "stopped", "unrun"]


def test_a_changed_plan_or_corpus_is_refused(tmp_path: Path) -> None:
    """Going on with another plan would mix two runs in one folder."""
    run = read_run(tmp_path, RECORDS, plan={"seed": 7}, corpus={"sha256": "a"})
    check_same_plan(run, {"seed": 7}, "a")
    with pytest.raises(InputError, match="the plan differs"):
        check_same_plan(run, {"seed": 8}, "a")
    with pytest.raises(InputError, match="the corpus differs"):
        check_same_plan(run, {"seed": 7}, "b")
