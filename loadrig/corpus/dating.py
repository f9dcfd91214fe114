"""Dates as people write them into a text: 2034-01-24, 24 January 2034, January 24, 2034, 24-Jan-2034, 24. Januar 2034.

Rules: a date has day, month and year; months are English or German, whole or cut to three letters. What is no day of
the calendar is no date. `03/04/2034` is not read, as it means two things.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

_MONTHS = (
    ("january", "januar", "jan"),
    ("february", "februar", "feb"),
    ("march", "märz", "mar", "mär"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "juni", "jun"),
    ("july", "juli", "jul"),
    ("august", "aug"),
    ("september", "sep", "sept"),
    ("october", "oktober", "oct", "okt"),
    ("november", "nov"),
    ("december", "dezember", "dec", "dez"),
)
MONTHS = tuple(names[0].capitalize() for names in _MONTHS)  # in English, whole, as papers write them
MONTH_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}
_NAME = "(?P<month>" + "|".join(sorted(MONTH_OF, key=len, reverse=True)) + r")\.?"
_FORMS = (
    re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)(?![\d-])"),
    re.compile(
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)?[\s-]+{_NAME},?[\s-]+(?P<year>\d{{4}})(?!\d)", re.I
    ),
    re.compile(rf"(?<!\w){_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})(?!\d)", re.I),
)


def dates_in(text: str) -> list[tuple[int, str]]:
    """Offset and ISO form of each date, in the order of the text.

    >>> dates_in("Monday 9 March 2034, not 2034-02-30")
    [(7, '2034-03-09')]
    """
    return sorted((found.start(), day) for form in _FORMS for found in form.finditer(text) for day in _iso(found))


def _iso(found: re.Match[str]) -> Iterator[str]:
    parts = found.groupdict()
    month = int(parts["number"]) if parts.get("number") else MONTH_OF[parts["month"].casefold()]
    try:
        yield datetime.date(int(parts["year"]), month, int(parts["day"])).isoformat()
    except ValueError:
        return
