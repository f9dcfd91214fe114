"""Reads a question file (JSON Lines) and holds it against the corpus.

Rules: `id`, `category`, `question` and `reference` are required, the other fields of `Question` optional, unknown keys
ignored; ids occur once; every gold id is a document of the corpus. When the corpus is a slice, questions that need a
document outside it, or whose answer was derived from the whole (`derivation`), are left out and named, not an error.
`categories` keeps those of the categories named, and `limit` the first n of what then remains, in file order. Knows no
arm; whether an answer is right is not decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from loadrig.corpus.jsonl import read_rows
from loadrig.suggest import did_you_mean
from loadrig.words.corpus import Corpus, Evidence, Question
from loadrig.words.errors import InputError
from loadrig.words.settings import QuestionSettings

_LINE = (
    'a line looks like {"id": "q1", "category": "simple_fact", "question": "...", "reference": "...", "gold": ["a"]}'
)


@dataclass(frozen=True, slots=True)
class Selection:
    """The questions to ask, in file order, and the ids of those that a slice cannot answer."""

    questions: tuple[Question, ...]
    left_out: tuple[str, ...]


def load(settings: QuestionSettings, corpus: Corpus) -> tuple[Question, ...]:
    """The questions to ask of this corpus. Raises `InputError` with path, line and remedy."""
    return select(settings, corpus).questions


def select(settings: QuestionSettings, corpus: Corpus) -> Selection:
    """Like `load`, and says which questions were left out."""
    path = Path(settings.path)
    if settings.limit is not None and settings.limit < 1:
        raise InputError(f"limit = {settings.limit}", path=path, remedy="ask for at least one question")
    documents = frozenset(document.id for document in corpus.documents)
    outside = frozenset(corpus.outside)
    questions: list[Question] = []
    left_out: list[str] = []
    lines: dict[str, int] = {}
    for line, row in read_rows(path, _Row, remedy=_LINE):
        _check(row, lines, path=path, line=line)
        _check_gold(row, documents | outside, path=path, line=line)
        if outside.intersection(row.gold) or (outside and row.derivation):
            left_out.append(row.id)
        else:
            questions.append(Question(**{field.name: getattr(row, field.name) for field in fields(Question)}))
    if not questions:
        problem = "no question left" + (f": the slice cannot answer any of {len(left_out)}" if left_out else "")
        raise InputError(problem, path=path, remedy="choose a larger slice" if left_out else _LINE)
    kept = _of_categories(questions, settings.categories, path)
    return Selection(tuple(kept[: settings.limit]), tuple(left_out))


@dataclass(frozen=True, slots=True)
class _Row:
    """A line: a question, and how its answer was derived if it rests on the whole corpus."""

    id: str
    category: str
    question: str
    reference: str
    gold: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    amending: tuple[str, ...] = ()
    caller: tuple[str, ...] = ()
    at_s: float | None = None
    depths: tuple[float, ...] = ()
    derivation: Any = None


def _of_categories(questions: list[Question], wanted: Sequence[str], path: Path) -> list[Question]:
    have = list(dict.fromkeys(question.category for question in questions))
    if unknown := next((name for name in wanted if name not in have), None):
        raise InputError(f"no question of category {unknown!r}", path=path, remedy=f"there are: {', '.join(have)}")
    return [question for question in questions if not wanted or question.category in wanted]


def _check(row: _Row, lines: dict[str, int], *, path: Path, line: int) -> None:
    for name in ("id", "category", "question"):
        if not getattr(row, name).strip():
            raise InputError(f"empty {name}", path=path, line=line, remedy=f"write the {name}, or remove the line")
    if row.id in lines:
        problem = f"question id {row.id!r} occurs twice, first in line {lines[row.id]}"
        raise InputError(problem, path=path, line=line, remedy="give each question its own id")
    lines[row.id] = line


def _check_gold(row: _Row, known: Collection[str], *, path: Path, line: int) -> None:
    for doc in row.gold:
        if doc not in known:
            problem = f"question {row.id!r}: gold document {doc!r} is not in the corpus"
            raise InputError(problem, path=path, line=line, remedy=did_you_mean(doc, sorted(known)))
