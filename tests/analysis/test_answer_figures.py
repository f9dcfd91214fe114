"""What rules find in the answers of a run, by arm and category, and what stood before the model."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from records import question, read_run, record, turn, write_run

from loadrig.analysis.answers import CategoryAnswers, answers_by_arm, findings
from loadrig.analysis.contexts import looked_at
from loadrig.corpus.facts import NAME, Facts
from loadrig.log import RunFolder, read_prompts, write_lines
from loadrig.log import read_run as read_back
from loadrig.words.corpus import Evidence
from loadrig.words.record import Record

FACTS = (Facts("a-1", "2031-02-03", dates=("2031-02-03",)), Facts("b-2", "2031-03-05", dates=("2031-03-05",)))


def checked(folder: Path, records: list[Record], **given: object) -> RunFolder:
    """A run whose corpus' facts are on file."""
    path = write_run(folder, records, **given)
    write_lines(path / NAME, FACTS)
    return read_back(path)


def of(run: RunFolder, category: str = "all") -> CategoryAnswers:
    return next(
        row
        for row in answers_by_arm(run, looked_at(run, read_prompts(run.path)))[0].categories
        if row.category == category
    )


def test_totals_are_over_trials_and_means_over_questions(tmp_path: Path) -> None:
    """q1 cites 2 dates of which 1 is invented, then none; q2 invents 1: 2 of 3 dates, mean of (0.5, 1) a question."""
    records = [
        record("1", answer="yes, 3 February 2031 and 4 February 2031"), record("2", answer="yes", repetition=2),
        record("3", question="q2", category="trap", answer="yes, on 1 May 2031"),
    ]  # fmt: skip
    run = checked(tmp_path, records, questions=[question(), question("q2", category="trap")])
    figures = {figure.measure: figure for figure in of(run).figures}
    invented, cited = figures["dates_fabricated"], figures["dates_cited"]
    assert (invented.total, cited.total, invented.n, invented.questions, invented.mean) == (2, 3, 3, 2, 0.75)
    assert {f.measure: f.total for f in of(run, "trap").figures}["dates_fabricated"] == 1


def test_provenance_is_crossed_with_correctness(tmp_path: Path) -> None:
    """Right with a true date, right with an invented one, wrong with a true one, wrong with an invented id."""
    answers = ("yes, 3 February 2031", "yes, 4 February 2031", "no, 5 March 2031", "no [c-3]")
    records = [record(str(n), question=f"q{n}", answer=answer) for n, answer in enumerate(answers)]
    run = checked(tmp_path, records, questions=[question(f"q{n}", reference="Maybe.") for n in range(4)])
    found = of(run)
    assert (found.right_sound, found.right_ill, found.wrong_sound, found.wrong_ill) == (1, 1, 1, 1)


def test_what_a_grader_should_read_is_listed(tmp_path: Path) -> None:
    """In the words of the answer, with its trial."""
    records = [record("1", answer="yes, 4 February 2031 [c-3]"), record("2", answer="No. Though yes.", repetition=2)]
    run = checked(tmp_path, records)
    listed = [(one.measure, one.trial, one.what) for one in findings(looked_at(run, read_prompts(run.path)))]
    assert listed == [
        ("opening", "2", "No. Though yes."), ("dates_fabricated", "1", "4 February 2031"),
        ("ids_fabricated", "1", "c-3"),
    ]  # fmt: skip


def test_a_run_without_facts_has_no_figure_of_provenance(tmp_path: Path) -> None:
    """Neither 0 nor in the cross: not known."""
    found = of(read_run(tmp_path, [record("1", answer="yes, 4 February 2031")]))
    assert not {"dates_cited", "ids_cited", "recency_claims", "ill_sourced"} & {f.measure for f in found.figures}
    assert (found.right_sound, found.right_ill) == (0, 0)


PROMPTS = {
    "quote": b'{"messages":[{"text":"<document id=\\"a\\">\\nat most\\n2 members\\n</document>"}]}',
    "tag": b'{"messages":[{"text":"<document id=\\"a\\">\\nx\\n</document><document id=\\"b\\" date=\\"2031\\">y"}]}',
    "untold": b'{"messages":[{"text":"<document>\\nx\\n</document>"}]}',
    "nothing": b'{"messages":[{"text":"Question: a b?"}]}',
}


@pytest.mark.parametrize(
    ("prompt", "quoted", "arm", "had"),
    [
        ("quote", True, "rag", True), ("tag", True, "rag", False), ("tag", False, "rag", True),
        ("quote", False, "rag", False), ("nothing", False, "rag", False), ("nothing", True, "control", None),
        ("untold", False, "rag", None), ("untold", True, "rag", False),
    ],
)  # fmt: skip
def test_what_stood_before_the_model(tmp_path: Path, prompt: str, quoted: bool, arm: str, had: bool | None) -> None:
    """By the key's quotes or, without, by its gold documents' tags, unless these name none; the control sees none."""
    body = PROMPTS[prompt]
    digest = hashlib.sha256(body).hexdigest()
    key = question(gold=("a", "b"), evidence=(Evidence("a", "at most 2 members"),) if quoted else ())
    wrong = record("1", arm=arm, answer="no", turns=(turn(prompt=(digest,)),))
    run = read_run(tmp_path, [wrong], questions=[key], prompts={digest: body})
    assert looked_at(run, read_prompts(run.path))[0].context.had is had
