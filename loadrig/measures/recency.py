"""Claims that a certain document is the most recent one, held against the true dates.

Rules: "the most recent (latest, newest; neueste, jüngste, aktuellste) document (minutes, meeting, Protokoll ...)" and a
document, named by id, number or date, with nothing but words of naming between them, on either side: "the latest
minutes, dated 5 March", "05-minutes is the most recent document". A claim that is narrowed ("the most recent document
that mentions the bell") cannot be checked and is left out, and so is any other wording: the counts are lower bounds. A
claim is true when the document or date named fits the latest of all documents or of the corpus' own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from loadrig.corpus.facts import Known, holds
from loadrig.corpus.mentions import Mention, dates_mentioned, months_mentioned
from loadrig.measures.naming import KEPT, Named, ids_named, numbers_named
from loadrig.measures.sentences import sentences

_CLAIM = re.compile(
    r"\b(?:most recent(?:ly dated)?|latest|newest|(?:neuest|jüngst|aktuellst)(?:e[nmrs]?))\s+(?:[\w'\u2019-]+\s+){0,3}?"
    r"(?:documents?|minutes|meetings?|papers?|records?|files?|protocols?|dokumente?s?|protokolle?s?|sitzung|"
    r"niederschrift|unterlage|papier)\b",
    re.IGNORECASE,
)
_NAMING = re.compile(
    r"(?:[\s,:;()\[\]\"'\u201c\u201d\u201e`*_\u2013\u2014-]|\b(?:is|are|was|were|being|of|from|dated|date|held|on|the|in|with|id|no|nr|named|"
    r"called|namely|minutes|meeting|document|ist|sind|war|waren|vom|von|am|das|die|der|dem|namens|datiert|protokoll|"
    r"dokument|also|thus|therefore|here|which|i\.?e|viz)\b\.?)*",
    re.IGNORECASE,
)  # fmt: skip
_WHOLE = re.compile(
    r"\s*(?:$|[.,;:!?)]|(?:in|of|among|from|provided|available|given|we|im|der|aller)\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What an answer takes for the latest, in its words, and whether it is."""

    named: str
    true: bool


@lru_cache(maxsize=KEPT)
def recency_claims(answer: str, key: str, known: Known) -> Sequence[Claim]:
    """The claims of an answer that can be checked; none when no document has a date."""
    if not known.newest or not _CLAIM.search(answer):
        return []
    return [claim for start, end in sentences(answer) for claim in _claims(answer[start:end], key, known)]


def _claims(sentence: str, key: str, known: Known) -> Iterator[Claim]:
    found = list(_CLAIM.finditer(sentence))
    if not found:
        return
    names = [*ids_named(sentence, known), *numbers_named(sentence, key, known)]
    dates = [*dates_mentioned(sentence), *months_mentioned(sentence)]
    found_at: list[Named | Mention] = [*names, *dates]
    places = sorted(found_at, key=lambda place: (place.start, -place.end))
    for claim in found:
        after = next((p for p in places if p.start >= claim.end()), None)
        if after is None or not _NAMING.fullmatch(sentence[claim.end() : after.start]):
            before = [p for p in places if p.end <= claim.start()] if _WHOLE.match(sentence[claim.end() :]) else []
            after = before[-1] if before and _NAMING.fullmatch(sentence[before[-1].end : claim.start()]) else None
        if after is not None:
            yield Claim(sentence[after.start : after.end], _fits(after, known))


def _fits(place: Named | Mention, known: Known) -> bool:
    if isinstance(place, Named):
        return place.document in known.newest
    newest = [one.date for one in known.newest if one.date]
    return any(
        holds(newest, reading) or (len(reading) == len("--03") and any(date[4:7] == reading[1:] for date in newest))
        for reading in place.readings
    )
