"""The pictures of report.md: drawn where there is something to show, told in words, removed when that is no more."""

from __future__ import annotations

from pathlib import Path

from records import failed, record, turn, write_run

from loadrig.analysis.summary import Summary, summarize
from loadrig.log import read_run
from loadrig.reports import pictures
from loadrig.words.record import Record, Usage

USED = Usage(input=10, output=10)


def summary_of(folder: Path, *records: Record, **given: object) -> Summary:
    return summarize(read_run(write_run(folder, records, **given)))


def priced(trial: str, **given: object) -> Record:
    return record(trial, cost="0.01", usage=USED, turns=(turn("0.01", usage=USED),), **given)


def test_a_run_has_those_that_show_something(tmp_path: Path) -> None:
    """Latency, cost and tokens of one stage; no sweep."""
    found = pictures.write(tmp_path, summary_of(tmp_path / "run", priced("a")))
    assert [one.path for one in found] == ["pictures/latency.png", "pictures/cost.png", "pictures/tokens.png"]
    assert [(tmp_path / one.path).read_bytes()[:4] for one in found] == [b"\x89PNG"] * 3
    assert "rag?: service 1.00* to 1.00* s" in found[0].text


def test_a_run_in_which_all_failed_has_none_and_keeps_no_old_one(tmp_path: Path) -> None:
    """A picture of an earlier report would tell of what is no more."""
    pictures.write(tmp_path, summary_of(tmp_path / "a", priced("a")))
    assert pictures.write(tmp_path, summary_of(tmp_path / "b", failed("f"))) == ()
    assert list((tmp_path / "pictures").iterdir()) == []


def test_a_sweep_has_its_curve(tmp_path: Path) -> None:
    """Two stages of ten trials a second apart, each with a throughput."""
    records = [
        record(f"{stage}{at}", stage=stage, begin_ns=at * 10**9, end_ns=(at + 1) * 10**9)
        for stage in ("c1", "c2") for at in range(10)
    ]  # fmt: skip
    stages = [{"name": "c1", "concurrency": 1}, {"name": "c2", "concurrency": 2}]
    found = pictures.sweep(summary_of(tmp_path, *records, stages=stages))
    assert found is not None
    assert "c1 1.00/s, c2 1.00/s" in found[1]
