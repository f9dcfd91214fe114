"""The section on how answers behave, in report.md and summary.json."""

from __future__ import annotations

from pathlib import Path

from records import plain, question, record, write_run

from loadrig.analysis.summary import summarize
from loadrig.corpus.facts import NAME, Facts
from loadrig.log import read_run, write_lines
from loadrig.reports.behaviour import NO_FACTS, tables
from loadrig.reports.markdown import render

RECORDS = [
    record("1", arm="control", answer="I do not know."),
    record("2", answer="yes, on 4 February 2031 [a-1]"),
    record("3", question="q2", category="trap", answer="no | <b>"),
]
QUESTIONS = [question(), question("q2", category="trap", stale=("no",), reference="It is so.")]


def test_every_table_names_its_n(tmp_path: Path) -> None:
    """One of one date invented, one of one superseded value; a category without any finding is left out."""
    path = write_run(tmp_path, RECORDS, questions=QUESTIONS)
    write_lines(path / NAME, [Facts("a-1", "2031-02-03")])
    found = {table.title: {row[0]: row[1:] for row in table.rows} for table in tables(summarize(read_run(path)))}
    assert found["Provenance"]["rag, all"] == ("1/1", "0/1", "0/1", "0/0", "1/2")
    assert "rag, trap" not in found["Provenance"]
    assert found["Answers by rule"]["rag, trap"][0] == "1/1"
    assert found["Grounding gap: each arm minus the control"]["rag"][:4] == ("1", "1.00", "0.00", "+1.00")
    assert found["What the control does without documents"]["all"][:3] == ("1", "0", "1")


def test_not_checked_is_said(tmp_path: Path) -> None:
    """A run without facts says so where the figures would stand, and what a model wrote stays text."""
    summary = summarize(read_run(write_run(tmp_path, RECORDS, questions=QUESTIONS)))
    written = render(summary)
    assert "run has no documents.jsonl" in written
    assert NO_FACTS.startswith("not checked")
    assert "<b>" not in written


def test_the_json_has_every_measure_with_its_n(tmp_path: Path) -> None:
    """By arm and category: unit, n, total, questions, mean."""
    path = write_run(tmp_path, RECORDS, questions=QUESTIONS)
    rows = plain(summarize(read_run(path)))["behaviour"]["answers"]
    trap = next(row for row in rows[1]["categories"] if row["category"] == "trap")
    stale = next(figure for figure in trap["figures"] if figure["measure"] == "stale")
    assert stale == {"measure": "stale", "unit": "answers", "n": 1, "total": 1.0, "questions": 1, "mean": 1.0}
