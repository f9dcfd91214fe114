"""compare.html and the pictures of compare.md: differences with their intervals, questions one by one, text escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compared import answers, nothing_to_collect, run_of  # noqa: F401
from drawn import rows_of
from records import MS, failed, record

from loadrig.analysis.compare.paired import paired
from loadrig.analysis.compare.sides import pairs
from loadrig.analysis.compare.whole import compare
from loadrig.log import RunFolder
from loadrig.reports import compare as reports
from loadrig.reports.compare_page import Drawn, drawings
from loadrig.statistics.clustered import Draws

FEW = Draws(bootstraps=200, permutations=99)


def drawn(a: RunFolder, b: RunFolder) -> dict[str, Drawn]:
    return {one[1]: one for one in drawings(compare(a, b, draws=FEW), paired(pairs(a, b)))}


def rows(of: Drawn) -> dict[str, dict[str, Any]]:
    """The rows of the chart's data that have a name, by it."""
    return {row["name"]: row for row in rows_of(of[0]) if "name" in row}


def timed(name: str, ms: list[int]) -> RunFolder:
    times = enumerate(ms)
    return run_of(name, [record(f"{name}{at}", arm="k5", question=f"q{at}", service_ns=of * MS) for at, of in times])


def test_a_difference_in_points_stands_at_its_place(tmp_path: Path) -> None:
    """20/20 to 10/20 is -50 points, found; failed trials do not differ, inside the noise."""
    of = drawn(run_of("a", answers(20, 20)), run_of("b", answers(10, 20)))["Differences in points"]
    found = rows(of)
    assert (found["accuracy"]["value"], found["accuracy"]["found"]) == (-50.0, True)
    assert found["accuracy"]["low"] < -50 < found["accuracy"]["high"]
    assert (found["failed"]["value"], found["failed"]["found"]) == (0.0, False)


def test_a_time_is_drawn_in_percent_of_the_baselines(tmp_path: Path) -> None:
    """From 1,000 to 1,200 ms is 20 percent."""
    of = drawn(timed("a", [1000] * 9), timed("b", [1200] * 9))["Differences in percent"]
    found = rows(of)
    assert round(found["service p50 in c2"]["value"], 6) == 20.0


def test_each_question_has_its_difference(tmp_path: Path) -> None:
    """By rising difference; a question that failed on a side has none and is counted."""
    a, b = timed("a", [1000, 1000, 1000]), timed("b", [900, 1500])
    lost = failed("f", arm="k5", question="q2")
    (found,) = paired(pairs(a, run_of("b", [*b.records, lost])))
    assert [(one.question, one.b_ns - one.a_ns) for one in found.each] == [("q0", -100 * MS), ("q1", 500 * MS)]
    assert (found.beyond, found.measure, found.stage) == (1, "service", "c2")


def written(folder: Path, a: RunFolder, b: RunFolder) -> tuple[str, str]:
    path = reports.write(compare(a, b, draws=FEW), None, folder, each=paired(pairs(a, b)))
    return path.read_text(), (folder / "compare.html").read_text()


def test_both_files_have_the_pictures(tmp_path: Path) -> None:
    """Linked from the Markdown as files that are there, drawn into the page."""
    text, html = written(tmp_path, run_of("a", answers(20, 20)), run_of("b", answers(10, 20)))
    names = sorted(path.name for path in (tmp_path / "compare-pictures").iterdir())
    assert [f"](compare-pictures/{name})" in text for name in names] == [True] * len(names)
    assert html.count("<svg") == len(names) == 3
    assert "accuracy is lower by 50.0 points at n = 20" in html


def test_names_from_a_run_are_text_in_the_page(tmp_path: Path) -> None:
    """An arm, a question and a run with a tag."""
    hostile = {"arm": "<script>x</script>", "question": "<img src=x>", "category": "<b>"}
    a = run_of("<i>a", [record("a", **hostile)])
    b = run_of("<i>b", [record("b", answer="no", service_ns=5 * MS, **hostile)])
    _, html = written(tmp_path, a, b)
    assert [tag for tag in ("<script", "<img", "<i>b") if tag in html] == []
    assert "script-src" not in html
    assert "default-src 'none'" in html
