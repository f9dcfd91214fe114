"""A line of a question file with all that it claims: the question, and what of the ledger its key rests on.

Rules: read leniently, as every claim is a rule's to judge: unknown documents and repeated ids are let through, and the
fields of the ledger (`fact`, `refusal`, `derivation`, `subtype`) may hold anything, as in files of other makers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

from loadrig.corpus.jsonl import read_rows
from loadrig.words.corpus import Evidence, Question
from loadrig.words.errors import InputError

_REMEDY = (
    'a line looks like {"id": "q1", "category": "simple_fact", "question": "...", "reference": "...", "gold": ["a"]}'
)


@dataclass(frozen=True, slots=True)
class Derived:
    """An answer about every document: those that mention a topic of the ledger, or those that do not."""

    topic: str
    mentioned: bool
    docs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyLine:
    """`derivation` is a `Derived`, or as text one in a language that is not known here."""

    line: int
    question: Question
    subtype: str | None = None
    facts: tuple[str, ...] = ()
    refusal: str | None = None
    derivation: Derived | str | None = None


def read_key(path: Path, *, outside: Collection[str]) -> tuple[tuple[KeyLine, ...], int]:
    """The lines that can be asked, and the number of those that a slice cannot answer. Raises `InputError`."""
    lines: list[KeyLine] = []
    left_out = 0
    for line, row in read_rows(path, _Row, remedy=_REMEDY):
        if set(outside).intersection(row.gold) or (outside and row.derivation):
            left_out += 1
        else:
            lines.append(_key_line(line, row))
    if not lines:
        raise InputError("no question to check", path=path, remedy="choose a larger slice" if left_out else _REMEDY)
    return tuple(lines), left_out


@dataclass(frozen=True, slots=True)
class _Row:
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
    subtype: Any = None
    fact: Any = None
    refusal: Any = None
    derivation: Any = None


def _key_line(line: int, row: _Row) -> KeyLine:
    return KeyLine(
        line=line,
        question=Question(**{field.name: getattr(row, field.name) for field in fields(Question)}),
        subtype=None if row.subtype is None else str(row.subtype),
        facts=tuple(map(str, row.fact if isinstance(row.fact, list) else [row.fact])) if row.fact else (),
        refusal=None if row.refusal is None else str(row.refusal),
        derivation=_derivation(row.derivation),
    )


def _derivation(value: Any) -> Derived | str | None:
    if not value:
        return None
    try:
        return msgspec.convert(value, Derived)
    except msgspec.ValidationError:
        return str(value)
