"""What a grader gets to see, and what not."""

from __future__ import annotations

from pathlib import Path

from graded_runs import exported, rows, small_run
from records import read_run, record

from loadrig.graders.blind import LETTERS, choose


def test_the_same_words_to_the_same_question_are_one_row(tmp_path: Path) -> None:
    """Four trials have a first repetition, one ended without an answer; two arms said the same of q1: two rows."""
    choice = choose(small_run(tmp_path), seed=7, all_repetitions=False)
    assert sorted(row.trials for row in choice.rows) == [(("a1", 1), ("r1", 1)), (("r2", 1),)]
    assert (choice.trials, choice.unanswered) == (4, 1)


def test_all_repetitions_when_asked_for(tmp_path: Path) -> None:
    """A-69: the first repetition by default; with the option the second too."""
    trials = [
        trial for row in choose(small_run(tmp_path), seed=7, all_repetitions=True).rows for trial, _ in row.trials
    ]
    assert sorted(trials) == ["a1", "r1", "r1b", "r2"]


def test_a_sheet_says_nothing_of_arm_model_or_trial(tmp_path: Path) -> None:
    """Neither names nor ids of trials are in the file; the key, which has the trials, is in the run's folder."""
    run = small_run(tmp_path, {"r1": "one", "a1": "two"})
    text = exported(run).read_text()
    assert not any(name in text for name in ("rag", "agentic", "r1", "a1", "starved"))
    assert "r1" in (tmp_path / "grading" / "key-7-first.json").read_text()


def test_a_sheet_holds_what_a_grader_needs(tmp_path: Path) -> None:
    """Question, reference, superseded values and quotes, guarded where a spreadsheet would convert them."""
    (row,) = (row for row in rows(exported(small_run(tmp_path))) if row["answer"].startswith("It is eight"))
    given = {name: row[name] for name in ("question", "reference", "superseded", "quotes", "correct", "note")}
    assert given == {
        "question": "Is it?", "reference": "'8.", "superseded": "'7", "quotes": "'[d] it is 8",
        "correct": "", "note": "",
    }  # fmt: skip


def test_codes_are_consonants_and_differ_by_seed(tmp_path: Path) -> None:
    """Six letters that no spreadsheet takes for a number, a date or a truth value; another seed, other codes."""
    run = small_run(tmp_path)
    first, again, other = (choose(run, seed=seed, all_repetitions=False) for seed in (7, 7, 8))
    codes = [row.code for row in first.rows]
    assert all(len(code) == 6 and set(code) <= set(LETTERS) for code in codes)
    assert codes == [row.code for row in again.rows]
    assert not set(codes) & {row.code for row in other.rows}


def test_the_order_is_shuffled_and_does_not_follow_the_arms(tmp_path: Path) -> None:
    """Of two arms with 30 answers each, the first ten rows are of both; questions do not come in their order."""
    records = [record(f"{arm}{i}", arm=arm, question=f"q{i}", answer=f"{arm} {i}") for arm in "ab" for i in range(30)]
    choice = choose(read_run(tmp_path, records), seed=7, all_repetitions=False)
    assert {row.trials[0][0][0] for row in choice.rows[:10]} == {"a", "b"}
    order = [row.question.id for row in choice.rows]
    assert order != sorted(order)
