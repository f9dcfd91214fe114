"""`loadrig report RUN RUN`: figures of several runs in columns, what differs between them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Called, here
from compared import SETTINGS, answers, nothing_to_collect  # noqa: F401
from records import MS, record, turn, write_run

from loadrig.analysis.beside import merged
from loadrig.analysis.compare.settings import Changed
from loadrig.words.record import Usage

NAMES = {"report.html", "report.md", "figures.json"}


def run(folder: Path, name: str, *, ms: int = 1000, cost: str = "0.01", right: int = 4, **manifest: Any) -> Path:
    """Four questions in one arm, each in so many milliseconds and at that cost."""
    used = Usage(input=100, output=10)
    turns = (turn(cost, usage=used),)
    records = answers(right, 4, service_ns=ms * MS, cost=cost, usage=used, turns=turns)
    return write_run(folder / name, records, **{**SETTINGS, "run": name, **manifest})


def plan(**given: Any) -> dict[str, Any]:
    return {**SETTINGS["plan"], **given}


def beside(*arguments: object, code: int = 0) -> Called:
    called = here("report", *arguments)
    assert called.code == code, called.out + called.err
    return called


def values(found: dict[str, Any], figure: str) -> list[Any]:
    """A figure of the only row, run by run."""
    (row,) = next(one["rows"] for one in found["figures"] if one["name"] == figure)
    return [value and value["number"] for value in row["values"]]


def test_a_figure_stands_in_a_column_for_each_run(tmp_path: Path) -> None:
    """1,000 and 2,000 ms, 0.01 and 0.02, four and two right of four; b alone retries."""
    a = run(tmp_path, "a")
    b = run(tmp_path, "b", ms=2000, cost="0.02", right=2, plan=plan(retry={"attempts": 1}))
    beside(a, b, "--out", tmp_path / "x")
    assert {path.name for path in (tmp_path / "x").iterdir()} == {*NAMES, "pictures"}
    found = json.loads((tmp_path / "x" / "figures.json").read_text())
    assert found["runs"] == ["a", "b"]
    assert values(found, "service latency p50") == [1000 * MS, 2000 * MS]
    assert values(found, "cost of a question asked") == ["0.01", "0.02"]
    assert values(found, "right of asked") == [1.0, 0.5]
    assert [(one["what"], one["values"], one["counted"]) for one in found["settings"]] == [
        ("retries", ['{"attempts":0}', '{"attempts":1}'], True)
    ]
    text = (tmp_path / "x" / "report.md").read_text()
    assert "nothing here says whether two runs differ by more than chance" in text
    assert "| k5    | 1.00\\* | 2.00\\* |" in text or "1.00*" in text


def test_three_runs_are_held_against_the_first() -> None:
    """What only the last changes is as in the first in the middle one."""
    found = merged([[], [(Changed("seed", "7", "8"), False)]])
    assert [(one.what, one.values, one.counted) for one in found] == [("seed", ("7", "7", "8"), False)]


def test_an_arm_that_a_run_has_not_is_empty_there(tmp_path: Path) -> None:
    """The row is there, its value is not; the difference in arms is told."""
    a = run(tmp_path, "a")
    b = write_run(tmp_path / "b", [*answers(4, 4), *answers(4, 4, arm="k10")], **{**SETTINGS, "run": "b"})
    beside(a, b, "--out", tmp_path / "x")
    found = json.loads((tmp_path / "x" / "figures.json").read_text())
    rows = next(one["rows"] for one in found["figures"] if one["name"] == "right of asked")
    assert [(row["arm"], [value is None for value in row["values"]]) for row in rows] == [
        ("k5", [False, False]), ("k10", [True, False]),
    ]  # fmt: skip
    assert ("arms", ["k5", "k5, k10"]) in [(one["what"], one["values"]) for one in found["settings"]]


def test_simulated_and_real_are_not_shown_together(tmp_path: Path) -> None:
    """Exit code 2, with the remedy, and nothing written."""
    a, b = run(tmp_path, "a"), run(tmp_path, "b", simulated=True)
    called = beside(a, b, "--out", tmp_path / "x", code=2)
    assert "a simulated run is not shown beside a real one" in called.err
    assert "remedy" in called.err
    assert not (tmp_path / "x").exists()


def test_simulated_runs_say_so_in_every_file(tmp_path: Path) -> None:
    """Dial settings, not evidence."""
    a, b = (run(tmp_path, name, simulated=True) for name in "ab")
    beside(a, b, "--out", tmp_path / "x")
    assert [name for name in NAMES if "not evidence" not in (tmp_path / "x" / name).read_text()] == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("a", "a"), "the same run twice"),
        (("a", "b", "--format", "csv"), "--format csv"),
        (("a", "--out", "x"), "--out with one run"),
        (("a", "nowhere"), "not a run folder"),
    ],
)
def test_wrong_input_is_told(tmp_path: Path, arguments: tuple[str, ...], problem: str) -> None:
    """With exit code 2."""
    for name in "ab":
        run(tmp_path, name)
    called = beside(
        *(one if one.startswith("-") or one in ("csv", "x") else tmp_path / one for one in arguments), code=2
    )
    assert problem in called.err


def test_a_place_that_takes_no_files_is_told(tmp_path: Path) -> None:
    """What is named with --out is a file: one error with its name."""
    out = tmp_path / "taken"
    out.touch()
    called = beside(run(tmp_path, "a"), run(tmp_path, "b"), "--out", out, code=1)
    assert f"{out} cannot be written" in " ".join(called.err.split())


def test_by_default_they_lie_beside_the_first(tmp_path: Path) -> None:
    """In a folder of their own, named by the time, which is no run."""
    beside(run(tmp_path, "a"), run(tmp_path, "b"), "--format", "md")
    (folder,) = tmp_path.glob("side-by-side-*")
    assert {path.name for path in folder.iterdir()} == {"report.md", "pictures"}


def test_only_the_files_asked_for_are_made(tmp_path: Path) -> None:
    """Of one run: both sheets, and no page."""
    folder = run(tmp_path, "a")
    called = beside(folder, "--format", "csv")
    assert {path.suffix for path in folder.iterdir() if path.name.startswith(("answers", "cost", "report"))} == {".csv"}
    assert "cost.csv" in called.out


def test_what_runs_are_called_is_text_in_both_pages(tmp_path: Path) -> None:
    """A tag in a run's name, an arm's and a stage's."""
    nasty = "<script>alert(1)</script>"
    for name in "ab":
        one = record("t", arm=nasty, stage=nasty, cost="0.01")
        write_run(tmp_path / name, [one], **{**SETTINGS, "run": f"{name}{nasty}"})
    beside(tmp_path / "a", tmp_path / "b", "--out", tmp_path / "x")
    html = (tmp_path / "x" / "report.html").read_text()
    assert "<script" not in html
    assert "default-src 'none'" in html
    text = (tmp_path / "x" / "report.md").read_text()
    assert "<script" not in text.replace("\\<script", "")
