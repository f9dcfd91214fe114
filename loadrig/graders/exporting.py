"""A run's answers on a sheet to be graded, and the key that says which trials a code stands for.

The sheet holds what a grader needs and nothing that tells arm or model: question, reference, superseded values, the
key's quotes, the answer, and empty columns for the marks. The key stays in the run's folder, one file for each seed and
choice, below grading/.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from loadrig.graders import sheet
from loadrig.graders.blind import Choice
from loadrig.graders.cells import CELL, cells, guarded, shown
from loadrig.log import write_json
from loadrig.words.corpus import Question
from loadrig.words.errors import InputError
from loadrig.words.score import Key

FOLDER = "grading"
SCHEMA = 1
ANSWER = "answer"
GIVEN = ("question", "reference", "superseded", "quotes")
CUT = " [cut]"


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What a code stands for: the text that was on the sheet, and the trials that gave it."""

    code: str
    question: str
    answer: str
    trials: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    """What was exported from a run: rows by code, and the codes of each sheet."""

    rows: Mapping[str, KeyRow]
    sheets: tuple[frozenset[str], ...]

    def missing(self, seen: Collection[str]) -> tuple[str, ...]:
        """Codes of the smallest sheet with all that were seen, or of all sheets, that were not."""
        whole = min((codes for codes in self.sheets if codes.issuperset(seen)), key=len, default=self.rows.keys())
        return tuple(sorted(whole - set(seen)))


@dataclass(frozen=True, slots=True)
class _KeyFile:
    schema: int
    seed: int
    rows: tuple[KeyRow, ...]


def export(folder: Path, choice: Choice, path: Path) -> None:
    """Writes the sheet to `path` and its key into the run's folder."""
    answers = [cells(row.answer) for row in choice.rows]
    most = max(map(len, answers), default=1)
    header = (sheet.CODE, *GIVEN, *answer_columns(most), *sheet.MARKS, "note")
    blank = [""] * (len(sheet.MARKS) + 1)
    lines = [
        [row.code, *_given(row.question), *parts, *[""] * (most - len(parts)), *blank]
        for row, parts in zip(choice.rows, answers, strict=True)
    ]
    (folder / FOLDER).mkdir(exist_ok=True)
    rows = tuple(KeyRow(row.code, row.question.id, row.answer, row.trials) for row in choice.rows)
    name = f"key-{choice.seed}-{'all' if choice.all_repetitions else 'first'}.json"
    write_json(folder / FOLDER / name, _KeyFile(SCHEMA, choice.seed, rows))
    sheet.write(path, header, lines)


def answer_columns(most: int) -> list[str]:
    """`answer`, `answer 2`, ...: more than one where an answer is longer than a cell may be."""
    return [ANSWER, *(f"{ANSWER} {number}" for number in range(2, most + 1))]


def read_keys(folder: Path) -> Keys:
    """All rows that were ever exported from a run. Raises `InputError` when there are none."""
    rows: dict[str, KeyRow] = {}
    sheets = []
    for path in sorted((folder / FOLDER).glob("key-*.json")):
        try:
            found = msgspec.json.decode(path.read_bytes(), type=_KeyFile)
        except msgspec.DecodeError as error:
            raise InputError(f"not a key: {error}", path=path, remedy="export the sheet again, same --seed") from error
        sheets.append(frozenset(row.code for row in found.rows))
        for row in found.rows:
            earlier = rows.get(row.code)
            trials = dict.fromkeys((*(earlier.trials if earlier else ()), *row.trials))
            rows[row.code] = replace(row, trials=tuple(trials))
    if not rows:
        raise InputError("no sheet was exported from this run", path=folder, remedy="loadrig grade RUN export")
    return Keys(rows, tuple(sheets))


def _given(question: Question) -> Iterable[str]:
    quotes = "\n".join(f"[{one.doc}] {one.quote}" for one in question.evidence)
    texts = (question.question, question.reference, "\n".join(question.stale), quotes)
    return [_one_cell(text) for text in texts]


def _one_cell(text: str) -> str:
    held = shown(text)
    return guarded(held if len(held) <= CELL else held[: CELL - len(CUT)] + CUT)
