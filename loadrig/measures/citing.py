"""Dates and documents that an answer cites, and which of them the corpus does not hold.

Rules: a date is fabricated when neither the corpus nor the key (question and reference, which may have computed it)
holds it, in none of its readings; it is misplaced when the corpus holds it but none of the documents named in the same
sentence does, as a date of its own or in its text. On a small corpus the first is the one to read; a large one holds so
many dates that an invented one is likely to be among them, and only the second tells. A typing error looks like an
invention, and so does a date that the model computed itself ("three months after going live").

A document is fabricated when it is named by an id or a number that is not there, see `loadrig.measures.naming`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from loadrig.corpus.facts import Known, dates_of, holds
from loadrig.corpus.mentions import Mention, dates_mentioned
from loadrig.measures.context import Context
from loadrig.measures.naming import KEPT, Named, ids_named, numbers_named
from loadrig.measures.sentences import sentences
from loadrig.words.record import Record

_FIGURE = re.compile(r"\d")


@lru_cache(maxsize=KEPT)
def cited_dates(answer: str, known: Known) -> Sequence[Mention]:
    """The dates of an answer, those in a document's id left out."""
    ids = ids_named(answer, known)
    return [date for date in dates_mentioned(answer) if not any(i.start <= date.start < i.end for i in ids)]


def fabricated_dates(answer: str, key: str, known: Known) -> list[str]:
    """Those that the corpus and the key's text do not hold, as they are written."""
    found = cited_dates(answer, known)
    return [answer[date.start : date.end] for date in found if not _is_known(date, key, known)]


@lru_cache(maxsize=KEPT)
def misplaced_dates(answer: str, key: str, known: Known) -> Sequence[tuple[str, str]]:
    """Documents cited with a known date that none of them holds: the first one's id, and the date as it is written."""
    return [pair for start, end in sentences(answer) for pair in _misplaced(answer[start:end], key, known)]


def named_documents(record: Record, context: Context) -> list[Named]:
    """Documents that an answer names or that were given as its citations, those that do not exist too."""
    known = context.known
    if known is None:
        return []
    answer = record.answer
    sources = [cited.source for cited in record.citations if cited.source is not None]
    given = [Named(0, 0, name, known.by_id.get(name.casefold())) for name in sources]
    return [*ids_named(answer, known), *numbers_named(answer, context.key, known), *given]


def _misplaced(sentence: str, key: str, known: Known) -> Iterator[tuple[str, str]]:
    if not _FIGURE.search(sentence) or not dates_mentioned(sentence):
        return  # nearly every sentence: no date is without a figure
    names = [*ids_named(sentence, known), *numbers_named(sentence, key, known)]
    cited = [name.document for name in names if name.document is not None]
    if not cited or any(document.outside for document in cited):
        return
    held = frozenset(date for document in cited for date in dates_of(document))
    for date in cited_dates(sentence, known):
        if _is_known(date, key, known) and not _holds(held, date) and not _keyed(date, key):
            yield cited[0].id, sentence[date.start : date.end]


def _is_known(date: Mention, key: str, known: Known) -> bool:
    return _holds(known.dates, date) or _keyed(date, key)


def _holds(held: frozenset[str], date: Mention) -> bool:
    return any(holds(held, reading) for reading in date.readings)


def _keyed(date: Mention, key: str) -> bool:
    return _holds(_readings(key), date)


@lru_cache(maxsize=1024)
def _readings(key: str) -> frozenset[str]:
    return frozenset(reading for found in dates_mentioned(key) for reading in found.readings)
