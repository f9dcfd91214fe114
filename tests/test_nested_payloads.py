"""Rows with more in them than we know, nested as deep as you like, are read: an evaluation's bands, for instance."""

from __future__ import annotations

import json
from pathlib import Path

from records import record, write_run

from loadrig import corpus, questions
from loadrig.log import RECORDS, read_run
from loadrig.words.settings import CorpusSettings, QuestionSettings

BANDS = {"0-10%": {"recall": 0.92, "faithfulness": 0.95}, "40-60%": {"recall": 0.74, "faithfulness": {"of": [1, 2]}}}


def test_a_question_may_carry_bands(tmp_path: Path) -> None:
    """B-22: a payload within a payload is no error, and the question is what it would be without."""
    row = {"id": "q1", "category": "fact", "question": "When?", "reference": "Now.", "bands": BANDS}
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (found,) = questions.load(QuestionSettings(path=str(path)), corpus.load(CorpusSettings(path="corpora/tiny")))
    assert (found.id, found.reference) == ("q1", "Now.")


def test_a_record_may_carry_bands(tmp_path: Path) -> None:
    """B-22: records that somebody added a payload to are read, and so are those without."""
    folder = write_run(tmp_path / "r", [record("a"), record("b", question="q2")])
    first, *lines = (folder / RECORDS).read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rows[0]["bands"] = BANDS
    (folder / RECORDS).write_text("\n".join([first, *map(json.dumps, rows)]) + "\n")
    assert [one.answer for one in read_run(folder).records] == ["yes", "yes"]
