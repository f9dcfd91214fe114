"""Figures of a study that stand for themselves: calls, wall time, what two runs share, what is counted over arms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compared import nothing_to_collect, run_of  # noqa: F401 - the first is used by pytest
from records import attempt, question, read_run, record, turn

from loadrig.analysis.answers import ArmAnswers, CategoryAnswers, Figure
from loadrig.analysis.retrieval import ArmRecall, CategoryRecall, Mean
from loadrig.analysis.selection import ALL
from loadrig.analysis.study import marked
from loadrig.analysis.study.answers import Part, part_of
from loadrig.analysis.study.recalled import recalled
from loadrig.analysis.study.rows import differs, row
from loadrig.analysis.study.tested import adjusted, paired
from loadrig.analysis.study.whole import Named, study
from loadrig.analysis.summary import summarize
from loadrig.words.record import Record
from loadrig.words.study import KnownSettings

ARMS = [{"name": "rag", "kind": "Rag", "k": 3}, {"name": "rag-k5", "kind": "Rag", "k": 5}]
PLAN = {"name": "night", "timezone": "UTC", "arms": [{"name": "control", "kind": "Control"}, *ARMS]}


def part(folder: Path, *records: Record, **given: Any) -> Part:
    run = read_run(folder, records, **{"plan": PLAN, **given})
    return part_of(run, summarize(run), name="first")


def asked(trial: str, attempts: int, **given: Any) -> Record:
    return record(trial, turns=(turn(attempts=(attempt(),) * attempts),), **given)


def test_calls_are_exchanges_of_every_kind(tmp_path: Path) -> None:
    """Three attempts of a trial, one of a warm-up, one of a try asked again, two of a probe: seven."""
    records = [asked("a", 3), asked("w", 1, phase="warmup"), asked("b", 1), record("b", try_no=2)]
    found = part(tmp_path, *records)
    found = replace(found, run=replace(found.run, probes=(asked("p", 2),)))
    assert row(found).calls == 7


def test_wall_time_is_the_sum_of_sessions(tmp_path: Path) -> None:
    """90 s and 30 s; a session that was killed has no end."""
    times = (("12:00:00", "12:01:30"), ("12:02:00", None), ("13:00:00", "13:00:30"))
    sessions = [
        {"began_at": f"2026-11-20T{begun}Z", "ended_at": ended and f"2026-11-20T{ended}Z"} for begun, ended in times
    ]
    assert row(part(tmp_path, record("a"), sessions=sessions)).wall_s == 120
    assert row(part(tmp_path / "none", record("a"))).wall_s is None


def test_what_two_runs_have_in_common_is_that_of_the_arm_with_most(tmp_path: Path) -> None:
    """Three questions of both in one arm, one in the other."""
    records = [record(f"a{n}", question=f"q{n}") for n in range(3)] + [record("b", arm="rag-k5", question="q0")]
    first, second = (part(tmp_path / name, *records) for name in ("x", "y"))
    assert differs(first, second).common == 3


def test_saturated_is_17_of_20_exactly(tmp_path: Path) -> None:
    """17 of 20 right in the only arm: said; 16 of 20: not."""

    def of(right: int) -> Part:
        records = [record(f"t{n}", question=f"q{n}", answer="yes" if n < right else "no") for n in range(20)]
        questions = [question(f"q{n}") for n in range(20)]
        return part(tmp_path / str(right), *records, questions=questions)

    assert [len(list(marked.saturated(of(right), share=0.85))) for right in (17, 16)] == [1, 0]


def answers(arm: str, sound: int, ill: int, cited: int, bad: int) -> ArmAnswers:
    figures = tuple(
        Figure(name, "dates", 1, total, 1, 0.0) for name, total in (("dates_cited", cited), ("dates_fabricated", bad))
    )
    return ArmAnswers(arm, "m", (CategoryAnswers(ALL, figures, sound, ill, 0, 0),))


def test_what_the_control_cites_is_in_no_count_and_a_clean_arm_is_not_named(tmp_path: Path) -> None:
    """The control's 9 and 9 stay out: 5 right and sound, 3 right and ill-sourced; 2 of 11 dates, all in one arm."""
    found = part(tmp_path, record("a"), record("b", arm="rag-k5"))
    rows = (answers("control", 9, 9, 9, 9), answers("rag", 4, 1, 5, 0), answers("rag-k5", 1, 2, 6, 2))
    behaves = replace(found.summary.behaviour, facts=True, answers=rows)
    found = replace(found, summary=replace(found.summary, behaviour=behaves))
    (cross,) = marked.crossed(found)
    assert (cross.right_sound, cross.right_ill) == (5, 3)
    (cites,) = marked.cited(found)
    assert (cites.bad, cites.cited, cites.arms) == (2, 11, ("rag-k5",))


def test_recall_of_a_class_counts_the_questions_of_the_arm_with_most(tmp_path: Path) -> None:
    """Two questions at k = 3, four at k = 5, where one run of the first was lost: n = 4."""
    found = part(tmp_path, record("a"), record("b", arm="rag-k5"))
    rows = tuple(
        ArmRecall(arm, "m", (CategoryRecall("fact", Mean(n, mean), None, None),))
        for arm, n, mean in (("rag", 2, 0.5), ("rag-k5", 4, 1.0))
    )
    (of,) = recalled(replace(found, summary=replace(found.summary, recall=rows)))
    assert (of.n, dict(of.by_k), of.reached_at) == (4, {3: 0.5, 5: 1.0}, 5)


def test_what_could_be_seen_is_by_the_level_of_the_family() -> None:
    """20 questions show 36.6 points in one test; in two, each at 2.5 %, 41.8."""
    verdicts = {f"q{n}": True for n in range(20)}
    one = paired(verdicts, verdicts, key="k", names=("s", "m", "a", "b"), category=ALL)
    assert one is not None
    assert adjusted([one])[0].detectable == pytest.approx(0.366, abs=5e-4)
    assert adjusted([one, one])[0].detectable == pytest.approx(0.418, abs=5e-4)


def test_a_window_that_is_published_need_not_be_said(tmp_path: Path) -> None:
    """900 tokens fit a million with headroom; what the study says of the window wins."""
    found = part(tmp_path, record("a", model="claude-haiku-5-5"), corpus={"tokens": 900, "name": "c"})
    for known, verdict in (
        (KnownSettings(), "holds"),
        (KnownSettings(windows={"claude-haiku-5-5": 1000}), "does not hold"),
    ):
        criteria = study([found], Named("s", "", known)).criteria
        assert [one.verdict for one in criteria if one.key == "fits"] == [verdict]


def test_the_size_of_the_corpus_speaks_for_each_choice_in_its_place(tmp_path: Path) -> None:
    """900 tokens in a window of 1,000: too tight for full context with headroom, no reason to search; in this order."""
    found = part(tmp_path, record("a"), record("b", arm="rag-k5"), corpus={"tokens": 900, "name": "c"})
    criteria = study([found], Named("s", "", KnownSettings(windows={"m": 1000}))).criteria
    by_size = [(one.key, one.choice, one.verdict) for one in criteria if one.key in ("fits", "exceeds", "far")]
    assert by_size == [
        ("fits", "full context", "does not hold"), ("exceeds", "retrieval", "does not hold"),
        ("far", "agentic search", "does not hold"),
    ]  # fmt: skip
