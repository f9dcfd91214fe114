"""Accuracy and recall: what is counted, what is left out and said to be."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from records import failed, question, read_run, record, turn

from loadrig.analysis.accuracy import ArmAccuracy, CategoryAccuracy, accuracy_by_arm, correct, dropped
from loadrig.analysis.retrieval import CategoryRecall, Mean, recall_by_arm
from loadrig.analysis.summary import summarize
from loadrig.log import RunFolder, read_prompts
from loadrig.reports.quality import recalls as recall_tables
from loadrig.words.corpus import Evidence, Hit
from loadrig.words.record import Record, ToolCall


def of(run: RunFolder, arm: str = "rag") -> CategoryAccuracy:
    rows: list[ArmAccuracy] = [row for row in accuracy_by_arm(run) if row.arm == arm]
    return rows[0].categories[0]


def test_seventeen_of_twenty_has_wilsons_interval(tmp_path: Path) -> None:
    """17 of 20 questions right: .85, from .640 to .948."""
    records = [record(f"t{i}", question=f"q{i}", answer="yes" if i < 17 else "no") for i in range(20)]
    share = of(read_run(tmp_path, records)).of_asked
    assert share is not None
    assert (share.k, share.n, round(share.low, 3), round(share.high, 3)) == (17, 20, 0.640, 0.948)


def test_an_arm_that_does_not_answer_has_no_perfect_share(tmp_path: Path) -> None:
    """M2, M5: right, wrong, starved and failed: 1 of 2 graded, 1 of 4 asked, the 1 unanswered and 1 failed named."""
    records = [
        record("a", question="q1"), record("b", question="q2", answer="no"),
        record("c", question="q3", outcome="unanswered", reason="starved", answer=""), failed("d", question="q4"),
    ]  # fmt: skip
    found = of(read_run(tmp_path, records))
    assert found.of_asked is not None
    assert found.of_graded is not None
    assert (found.of_asked.k, found.of_asked.n, found.unanswered, found.failed) == (1, 4, 1, 1)
    assert (found.of_graded.k, found.of_graded.n) == (1, 2)


def test_repetitions_are_not_taken_for_independent(tmp_path: Path) -> None:
    """Three repetitions of one question are one question for the interval; the tally over all stands beside it."""
    records = [record(f"t{i}", repetition=i, answer=answer) for i, answer in enumerate(("no", "yes", "yes"), start=1)]
    found = of(read_run(tmp_path, records))
    assert found.of_asked is not None
    assert (found.of_asked.k, found.of_asked.n, found.right, found.checked) == (0, 1, 2, 3)


def test_questions_the_control_knows_are_dropped_from_accuracy(tmp_path: Path) -> None:
    """The control is right on q1 in one repetition: it is listed, and rag is 0 of 1 without it, 1 of 2 with it."""
    records = [
        record("c1", arm="control", answer="no"), record("c2", arm="control", answer="yes", repetition=2),
        record("c3", arm="control", question="q2", answer="no"),
        record("r1"), record("r2", question="q2", answer="no"),
    ]  # fmt: skip
    run = read_run(tmp_path, records)
    found = of(run)
    assert [(drop.question, drop.answer) for drop in dropped(run)] == [("q1", "yes")]
    assert found.of_asked is not None
    assert found.with_dropped is not None
    assert (found.of_asked.k, found.of_asked.n, found.with_dropped.k, found.with_dropped.n) == (0, 1, 1, 2)


def test_a_key_without_demands_cannot_be_checked(tmp_path: Path) -> None:
    """A question that demands nothing is not graded, though every answer would pass."""
    run = read_run(tmp_path, [record("a")], questions=[question(must_contain=())])
    assert (of(run).of_asked, of(run).no_key, correct(run, run.records)) == (None, 1, None)


def recalls(run: RunFolder, arm: str) -> dict[str, CategoryRecall]:
    rows = [row for row in recall_by_arm(run, read_prompts(run.path)) if row.arm == arm]
    return {found.category: found for found in rows[0].categories}


def hits(*docs: str) -> tuple[Hit, ...]:
    return tuple(Hit(doc, f"{doc}#0", 1.0) for doc in docs)


def test_recall_is_by_category_and_over_questions(tmp_path: Path) -> None:
    """q1 finds 1 of 2 gold in both repetitions, q2 its one: .75 in all, .5 and 1 by category; q3 has no gold."""
    questions = [question(gold=("a", "b")), question("q2", gold=("c",), category="trap"), question("q3")]
    records = [
        record("1", retrieved=hits("a", "x")), record("2", retrieved=hits("a"), repetition=2),
        record("3", question="q2", category="trap", retrieved=hits("c", "c")),
        record("4", question="q3", retrieved=hits("a")),
    ]  # fmt: skip
    found = recalls(read_run(tmp_path, records, questions=questions), "rag")
    means = {name: (row.recall.mean, row.recall.n) for name, row in found.items() if row.recall}
    assert means == {"all": (0.75, 2), "fact": (0.5, 1), "trap": (1.0, 1)}


def test_a_trial_that_failed_before_its_hits_were_told_has_no_recall(tmp_path: Path) -> None:
    """Answered: 1 of 1 gold. A failed one, its hits lost with it, is no 0 beside it, and is told; an answered one that
    found nothing is a 0, and so is an agent's that searched and then failed."""
    questions = [question(name, gold=("a",)) for name in ("q1", "q2", "q3")]
    nothing = (turn(tool_calls=(ToolCall("search", "{}", ok=True, docs=(), ns=1),)),)
    records = [
        record("1", retrieved=hits("a")), failed("2", question="q2"), failed("3", question="q1", repetition=2),
        record("4", question="q3"), failed("5", arm="agentic", turns=nothing),
    ]  # fmt: skip
    rag, agentic = recall_by_arm(read_run(tmp_path, records, questions=questions), {})
    means = [one.categories[0].recall for one in (rag, agentic)]
    assert means == [Mean(2, 0.5), Mean(1, 0.0)]
    assert (rag.lost, agentic.lost) == (2, 0)


def test_models_of_an_arm_stand_by_name(tmp_path: Path) -> None:
    """As in every other table, whichever was asked first."""
    run = read_run(tmp_path, [record(model, model=model, retrieved=hits("a")) for model in ("z", "b", "m")])
    assert [one.model for one in recall_by_arm(run, {})] == ["b", "m", "z"]


def test_reading_and_search_hits_are_credited_listing_is_not(tmp_path: Path) -> None:
    """An agent that listed everything, searched out a and read b has 2 of 3 gold; an amending document it missed: 0."""
    calls = (
        ToolCall("list_documents", "{}", ok=True, docs=(), ns=1),
        ToolCall("search", "{}", ok=True, docs=("a",), ns=1, hits=1),
        ToolCall("read", "{}", ok=True, docs=("b",), ns=1),
    )
    run = read_run(
        tmp_path,
        [record("1", arm="agentic", turns=(turn(tool_calls=calls),))],
        questions=[question(gold=("a", "b", "c"), amending=("c",))],
    )
    found = recalls(run, "agentic")["all"]
    assert found.recall is not None
    assert found.amending is not None
    assert (found.recall.mean, found.amending.mean) == (pytest.approx(2 / 3), 0.0)


def prompted(trial: str, arm: str, *fragments: bytes) -> tuple[Record, dict[str, bytes]]:
    """A record whose prompt is the join of `fragments`, and those by their hashes."""
    hashes = {hashlib.sha256(fragment).hexdigest(): fragment for fragment in fragments}
    return record(trial, arm=arm, turns=(turn(prompt=tuple(hashes)),)), hashes


def test_evidence_is_looked_for_in_the_prompt_itself(tmp_path: Path) -> None:
    """Full context retrieves nothing, so has no recall; of two quotes one stands in its prompt: .5."""
    full, fragments = prompted("1", "full_context", b'{"messages":[{"text":"<document>\\nat most', b' 2 members"}]}')
    key = question(gold=("a",), evidence=(Evidence("a", "at most 2\nmembers"), Evidence("a", "at least 3")))
    found = recalls(read_run(tmp_path, [full], questions=[key], prompts=fragments), "full_context")["all"]
    assert found.recall is None
    assert found.evidence is not None
    assert (found.evidence.mean, found.evidence.n) == (0.5, 1)


def test_the_table_of_recall_tells_what_is_left_out(tmp_path: Path) -> None:
    """One of three failed: the mean is of the two questions left, and the note says whose trial is not in it."""
    keys = [question(name, gold=("a",)) for name in ("q1", "q2", "q3")]
    records = [record("1", retrieved=hits("a")), record("2", question="q2"), failed("3", question="q3")]
    (table,) = recall_tables(summarize(read_run(tmp_path, records, questions=keys)), figures=("recall",))
    assert table.rows == (("rag", ".500 (2)", ".500 (2)"),)
    assert table.notes[1:] == ("trials left out, for they failed and their hits were lost with them: rag 1",)
