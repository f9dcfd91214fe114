"""Which column of somebody's question set is what: named by the user, else guessed from its heading.

Rules: a field that the user maps is taken from that column, which must be there. Of the others each takes the first
column whose heading is one of its usual names, letter case and punctuation aside; a column serves one field. Only the
question is indispensable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from loadrig.suggest import did_you_mean
from loadrig.words.errors import InputError

USUAL: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "query", "q", "prompt", "user_input", "input", "text"),
    "reference": (
        "reference",
        "answer",
        "reference_answer",
        "gold_answer",
        "expected_answer",
        "expected_output",
        "expected",
        "ground_truth",
        "output",
        "answers",
        "response",
    ),
    "id": ("id", "qid", "question_id", "query_id"),
    "category": ("category", "type", "question_type", "kind", "label"),
    "gold": (
        "gold",
        "gold_docs",
        "gold_documents",
        "doc_ids",
        "doc_id",
        "documents",
        "document",
        "sources",
        "source",
        "corpus_id",
    ),
    "must_contain": ("must_contain",),
    "stale": ("stale",),
    "caller": ("caller",),
}
LISTS = ("gold", "must_contain", "stale", "caller")


def parse(text: str | None) -> Mapping[str, str]:
    """`question=Query,reference=Answer` as a mapping. Raises `InputError` for what is no field or no pair."""
    pairs: dict[str, str] = {}
    for part in (text or "").split(",") if text else ():
        name, sign, column = (piece.strip() for piece in part.partition("="))
        if not sign or not column:
            raise InputError(f"--map {part.strip()!r}", remedy="write --map question=COLUMN,reference=COLUMN")
        if name not in USUAL:
            raise InputError(f"--map {name}: no such field", remedy=did_you_mean(name, USUAL))
        pairs[name] = column
    return pairs


def choose(headings: Sequence[str], wanted: Mapping[str, str], path: Path) -> Mapping[str, str]:
    """The column of each field that has one. Raises `InputError` when a mapped one or the question's is not there."""
    chosen: dict[str, str] = {}
    for name, column in wanted.items():
        if column not in headings:
            raise InputError(f"no column {column!r}", path=path, line=1, remedy=did_you_mean(column, headings))
        chosen[name] = column
    for name, usual in USUAL.items():
        free = {_plain(heading): heading for heading in reversed(headings) if heading not in chosen.values()}
        found = next((free[one] for one in usual if one in free), None)
        if name not in chosen and found is not None:
            chosen[name] = found
    if "question" not in chosen:
        remedy = f"say which it is: --map question=COLUMN; there are {', '.join(headings) or 'none'}"
        raise InputError("no column looks like the question", path=path, line=1, remedy=remedy)
    return chosen


def guesses(chosen: Mapping[str, str], wanted: Mapping[str, str]) -> Iterable[str]:
    """A sentence for each column that was guessed and is not named like its field."""
    for name, column in chosen.items():
        if name not in wanted and column != name:
            yield f"column {column!r} taken as {name}"


def _plain(heading: str) -> str:
    return re.sub(r"\W+", "_", heading.strip().casefold()).strip("_")
