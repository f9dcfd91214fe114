"""The gap between arms and the control, and what the control does instead of answering."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import question, read_run, record

from loadrig.analysis.contexts import Looked, looked_at
from loadrig.analysis.grounding import controlled, gaps, label
from loadrig.log import RunFolder, read_prompts

TRAP = question(
    category="negative_trap", reference="None: it was refused.", must_contain=("refused",), stale=("guided tour",)
)


def looked(run: RunFolder) -> list[Looked]:
    return looked_at(run, read_prompts(run.path))


def labelled(folder: Path, answer: str, **given: object) -> str:
    given = {"category": "negative_trap", "arm": "control", **given}
    return label(looked(read_run(folder, [record("1", answer=answer, **given)], questions=[TRAP]))[0])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It was refused.", "right"),
        ("I do not know.", "refusal"),
        ("I have no access to the documents, but it is typically 8 hours.", "guess"),
        ("The guided tour takes 8 hours.", "confabulation"),
        ("Open the settings, then choose Sync, then press Start.", "confabulation"),
    ],
)
def test_an_answer_to_a_trap_has_one_label(tmp_path: Path, answer: str, expected: str) -> None:
    """A guide to what was refused is a confabulation, however helpful; declining, guessing and denying are not."""
    assert labelled(tmp_path, answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is probably the account number.", "guess"),
        ("I cannot say; typically it would be the account number.", "guess"),
        ("The primary key is the account number.", "confabulation"),
        ("A session lasts all day and nobody logs in again.", "confabulation"),
        ("It was removed in March.", "confabulation"),
        ("It was probably removed in March.", "confabulation"),
        ("Ich weiß es nicht.", "refusal"),
    ],
)
def test_a_guess_hedges_and_a_confabulation_does_not(tmp_path: Path, answer: str, expected: str) -> None:
    """The kinds that a model without documents was seen to give: guessed, told flatly, superseded."""
    key = question(must_contain=("yes",), stale=("removed in March",))
    run = read_run(tmp_path, [record("1", arm="control", answer=answer)], questions=[key])
    assert label(looked(run)[0]) == expected


def test_no_answer_is_no_refusal_unless_the_model_refused(tmp_path: Path) -> None:
    """An empty answer tells nothing of what the model would have said."""
    assert labelled(tmp_path / "a", "", outcome="unanswered", reason="starved") == "none"
    assert labelled(tmp_path / "b", "", outcome="unanswered", reason="refused") == "refusal"


def test_labels_are_counted_by_category(tmp_path: Path) -> None:
    """Two refusals of 3 in all, each trial once; other arms are not in it."""
    records = [
        record("1", arm="control", answer="I do not know."), record("2", arm="control", answer="It is 9."),
        record("3", arm="control", question="q2", category="trap", answer="I do not know."), record("4", answer="no"),
    ]  # fmt: skip
    rows = {row.category: row for row in controlled(looked(read_run(tmp_path, records)))}
    assert (rows["all"].n, rows["all"].labels["refusal"], rows["all"].labels["confabulation"]) == (3, 2, 1)
    assert (rows["trap"].n, sum(rows["trap"].labels.values())) == (1, 1)


def arms(folder: Path, right: dict[str, int], n: int = 20) -> RunFolder:
    """Arms that are right on so many of n questions, the first ones."""
    records = [
        record(f"{arm}{i}", arm=arm, question=f"q{i}", answer="yes" if i < k else "I do not know.")
        for arm, k in right.items() for i in range(n)
    ]  # fmt: skip
    return read_run(folder, records)


def test_the_gap_is_paired_and_has_an_interval(tmp_path: Path) -> None:
    """0 of 20 against 19 of 20: +.95, p 2 x .5^19; of two arms Holm doubles the smallest, the larger gap is best."""
    run = arms(tmp_path, {"control": 0, "rag": 19, "full": 18})
    first, second = gaps(run, looked(run))
    assert (first.arm, first.n, first.gap, first.control, first.best, second.best) == ("rag", 20, 0.95, 0, True, False)
    assert first.low is not None
    assert 0.8 < first.low < 0.95
    assert first.p == pytest.approx(2 * 0.5**19)
    assert first.p_holm == pytest.approx(4 * 0.5**19)


def test_what_the_control_knows_is_no_gap(tmp_path: Path) -> None:
    """5 of 20 known without documents, 15 with: +.50. The questions that the control knows stay in."""
    run = arms(tmp_path, {"control": 5, "rag": 15})
    (gap,) = gaps(run, looked(run))
    assert (gap.n, gap.gap, gap.control) == (20, 0.5, 0.25)


def test_without_a_control_there_is_no_gap(tmp_path: Path) -> None:
    """None is computed against nothing."""
    run = arms(tmp_path, {"rag": 15})
    assert (gaps(run, looked(run)), controlled(looked(run))) == ((), ())
