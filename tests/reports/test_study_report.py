"""study.md: the tables of several runs side by side, and what a study's file says as data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from compared import nothing_to_collect  # noqa: F401 - used by pytest
from records import question, read_run, record

from loadrig.analysis.study.answers import Part, part_of
from loadrig.analysis.study.whole import Named, study
from loadrig.analysis.summary import summarize
from loadrig.reports.study.markdown import render
from loadrig.words.study import KnownSettings

ARMS = [{"name": "control"}, {"name": "k5", "k": 5}, {"name": "full_context"}]


def part(folder: Path, name: str, right: int, q: str = "q", of_class: str = "supersession", **more: object) -> Part:
    """A run of eight questions on supersession, of which `right` are right in full context and all in retrieval."""
    records = [record(f"c{n}", arm="control", question=f"{q}{n}", category=of_class, answer="no") for n in range(8)]
    for arm, of in (("k5", 8), ("full_context", right)):
        records += [
            record(f"{arm}{n}", arm=arm, question=f"{q}{n}", category=of_class, answer="yes" if n < of else "no")
            for n in range(8)
        ]
    plan = {"name": "p", "arms": ARMS, "model": [{"id": "m", "provider": "anthropic"}], "corpus": {"path": "c"}}
    asked = [question(f"{q}{n}", category=of_class) for n in range(8)]
    run = read_run(folder / name, records, plan=plan, run=name, questions=asked, **more)
    return part_of(run, summarize(run), name=name, about=f"about {name}")


@pytest.fixture
def parts(tmp_path: Path) -> list[Part]:
    return [part(tmp_path, "original", 8), part(tmp_path, "hardened", 0)]


def report(parts: list[Part], title: str = "T") -> str:
    return render(study(parts, Named("s", title, KnownSettings(), ("ablation",))), parts)


def test_eight_one_way_are_a_result_and_stand_in_short(parts: list[Part]) -> None:
    """Six of eight questions lost, p .03125: told in the hardened run and between the runs, before all tables."""
    text = report(parts)
    short = text[text.index("## In short") : text.index("## Findings")]
    assert "hardened, m, supersession: full_context is lower than k5 by 100.0 points, 0/8 against 8/8" in short
    assert "original -\\> hardened, m, supersession:" in short


def test_runs_stand_side_by_side(parts: list[Part]) -> None:
    """An arm a row, a run a column; a run without a folder is named."""
    lines = report(parts).splitlines()
    at = lines.index("### Right: supersession")
    row = next(line for line in lines[at:] if line.startswith("| full_context"))
    assert [cell.split()[0] for cell in row.split("|")[2:4]] == ["8/8", "0/8"]
    assert any(line.startswith("| ablation") and "not run" in line for line in lines)


def test_what_cannot_be_told_is_said(parts: list[Part]) -> None:
    """No window, no volume, no experiment: each with what would tell."""
    text = report(parts)
    assert 'say it: \\[known.windows\\] "m" = tokens' in text
    assert "no experiment in this study" in text


def test_a_title_is_data(parts: list[Part]) -> None:
    """It starts neither a tag nor a link."""
    assert report(parts, "<b>[x](y)").startswith("# \\<b\\>\\[x\\](y)")


def test_a_real_run_is_not_called_simulated(parts: list[Part]) -> None:
    """The mark stands only where a run was simulated."""
    assert "dial settings" not in report(parts)


def test_a_simulated_run_marks_the_whole_study(tmp_path: Path) -> None:
    """Above everything else."""
    text = report([part(tmp_path, "original", 8, simulated=True)])
    assert text.splitlines()[2] == "> **simulated: figures are dial settings of the simulator, not evidence**"


def test_a_run_without_common_questions_is_no_repeat(tmp_path: Path) -> None:
    """Nothing is in both: whether they differ in one thing cannot be told."""
    text = report([part(tmp_path, "original", 8), part(tmp_path, "other", 8, q="x")])
    line = next(line for line in text.splitlines() if line.startswith("| other") and "nothing in common" in line)
    assert "cannot be told" in line
    assert "none: a repeat" not in text


def test_what_was_not_asked_is_a_limit(tmp_path: Path, parts: list[Part]) -> None:
    """24 trials planned, all asked: no word; a run that is absent, and one with 2 not asked, are named."""
    limits = study(parts, Named("s", "T", KnownSettings(), ("ablation",))).limits
    assert "not run yet: ablation" in limits
    assert not any("is not whole" in one for one in limits)
    short = parts[0]
    counts = (replace(short.summary.counts[0], not_run=2), *short.summary.counts[1:])
    short = replace(short, summary=replace(short.summary, counts=counts))
    said = study([short], Named("s", "T", KnownSettings())).limits
    assert any(one.startswith("original is not whole: 2 of 24 trials were not asked") for one in said)


def test_a_run_without_the_class_is_named(tmp_path: Path) -> None:
    """One run of two asks nothing superseded: what the first research question says of it is of all its questions."""
    facts = part(tmp_path, "facts", 8, of_class="simple_fact")
    found = study([facts, part(tmp_path, "original", 8)], Named("s", "T", KnownSettings())).sections[0].findings
    assert found[0].text.startswith("facts: no question is of the class supersession")
    assert found[0].strength == "cannot be told"
