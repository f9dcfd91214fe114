"""Chooses the documents of a slice: a part of a corpus that fits into so many tokens and answers many questions.

Rules: all slices of a corpus, its questions and a seed are beginnings of one row of documents, so that a smaller slice
lies in every larger one. In the row stand first the gold documents of the questions, those of questions that need few
documents before those that need many, else in seeded order; then all others in seeded order. A slice is the longest
beginning that fits.
"""

from __future__ import annotations

import codecs
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from loadrig.corpus import slices
from loadrig.words.corpus import Document, Question
from loadrig.words.errors import InputError


def row_of(documents: Sequence[Document], questions: Iterable[Question], seed: int) -> tuple[Document, ...]:
    """All documents, in the order in which slices take them in."""
    by_id = {document.id: document for document in documents}
    chance = random.Random(f"{seed}:slice")
    asked = [question for question in questions if question.gold]
    chance.shuffle(asked)
    gold = dict.fromkeys(doc for question in sorted(asked, key=lambda one: len(one.gold)) for doc in question.gold)
    rest = sorted(by_id.keys() - gold.keys())
    chance.shuffle(rest)
    return tuple(by_id[doc] for doc in [*gold, *rest])


def beginning(row: Sequence[Document], tokens: int) -> tuple[Document, ...]:
    """The longest beginning of the row with at most so many tokens."""
    total = 0
    for at, document in enumerate(row):
        total += document.tokens
        if total > tokens:
            return tuple(row[:at])
    return tuple(row)


def write_slice(folder: Path, name: str, documents: Sequence[Document], seed: int) -> None:
    """Puts the slice into slices.json, in the place of one of that name; the others stay."""
    path = folder / slices.NAME
    try:
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8) if path.exists() else b"{}"
        known: dict[str, Any] = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not a file of slices: {error}", path=path, remedy="mend it, or move it away") from error
    docs = sorted(document.id for document in documents)
    tokens = sum(document.tokens for document in documents)
    known[name] = {"docs": docs, "tokens": tokens, "seed": seed}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(known), indent=1) + b"\n")
