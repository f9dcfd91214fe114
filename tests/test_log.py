"""The run's files: whole lines only, one writer, every record on disk as soon as it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import read_run, record

from loadrig.log import RunLog
from loadrig.log import read_run as reread
from loadrig.words.errors import InputError


def test_a_new_line_does_not_glue_to_a_torn_one(tmp_path: Path) -> None:
    """I8: the second record, cut in the middle of a word, is gone; what is written next stands on a line of its own."""
    read_run(tmp_path, [record("a"), record("b")])
    path = tmp_path / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with RunLog(tmp_path) as log:
        log.append([record("c")], {})
    assert [one.trial for one in reread(tmp_path).records] == ["a", "c"]


def test_a_record_is_on_file_before_the_next_comes(tmp_path: Path) -> None:
    """I3: whatever ends the process, what was appended can be read; nothing waits for the end."""
    read_run(tmp_path, [record("a")])
    with RunLog(tmp_path) as log:
        log.append([record("b")], {})
        assert [one.trial for one in reread(tmp_path).records] == ["a", "b"]


def test_a_run_has_one_writer(tmp_path: Path) -> None:
    """A second process that takes up the same run is refused, and told why."""
    with RunLog(tmp_path), pytest.raises(InputError, match="another process is writing this run"):
        RunLog(tmp_path)


def test_the_highest_try_counts_and_the_others_stay(tmp_path: Path) -> None:
    """Whatever the order on file; the lower try is kept apart, for the bill."""
    run = read_run(tmp_path, [record("a", try_no=2), record("a", try_no=1), record("b")])
    assert [(one.trial, one.try_no) for one in run.records] == [("a", 2), ("b", 1)]
    assert [(one.trial, one.try_no) for one in run.superseded] == [("a", 1)]


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    """Path, line and remedy; nothing is skipped in silence."""
    read_run(tmp_path, [record("a")])
    path = tmp_path / "records.jsonl"
    path.write_bytes(path.read_bytes() + b"{}\n")
    with pytest.raises(InputError, match=r"records\.jsonl:3: not a record"):
        reread(tmp_path)
