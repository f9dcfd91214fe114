"""Weaknesses apart from the reading itself: the middle is not read, an answer opens with the wrong word or cites a date
that never was.

The first takes documents away before an answer is made; the others change a finished answer and nothing of what it was
made from. Off unless a scenario's dial says otherwise.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from random import Random

from loadrig.simulator.documents import Source
from loadrig.simulator.vocabulary import MONTHS

_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_WRITTEN = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})\b")
LOOKED_AT = 6  # statements from a document's opening in which its date is looked for


def without_middle(sources: list[Source], chance: Random, misses: float) -> list[Source]:
    """The documents that are read: one at depth x of all words, 0 to 1, is missed with chance misses (1 - |2x - 1|)."""
    sizes = [sum(statement.words for statement in source.parsed.statements) for source in sources]
    total, at, read = max(1, sum(sizes)), 0, []
    for source, size in zip(sources, sizes, strict=True):
        depth = (at + size / 2) / total
        at += size
        if chance.random() >= misses * (1 - abs(2 * depth - 1)):
            read.append(source)
    return read


def denied(answer: str) -> str:
    """A yes turned into an opening no; whatever follows stays."""
    return f"No. {answer.removeprefix('Yes. ')}" if answer.startswith("Yes. ") else answer


def dated(answer: str, source: Source, chance: Random, *, invents: float) -> str:
    """The answer with the date of the document it leads with: the true one, or, in a share `invents` of answers, one a
    few days beside it. A document without a date is cited without one."""
    day = date_of(source)
    if day is None:
        return answer
    if chance.random() < invents:
        day += timedelta(days=chance.choice((-1, 1)) * chance.randint(1, 6))
    return f"{answer} (document of {day.day} {MONTHS[day.month - 1]} {day.year})"


def date_of(source: Source) -> date | None:
    """The date a document is given with, else the first that stands in its opening."""
    opening = " ".join(statement.text for statement in source.parsed.statements[:LOOKED_AT])
    for text in (source.date or "", opening):
        iso, written = _ISO.search(text), _WRITTEN.search(text)
        try:
            if iso is not None:
                return date(int(iso[1]), int(iso[2]), int(iso[3]))
            if written is not None:
                return date(int(written[3]), MONTHS.index(written[2]) + 1, int(written[1]))
        except ValueError:
            continue
    return None
