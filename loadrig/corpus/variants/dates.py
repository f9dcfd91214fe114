"""Dates as English papers write them: `21 March 2034`. Read, written and taken out of titles."""

from __future__ import annotations

import datetime
import re

from loadrig.corpus.dating import MONTHS

MONTH = "|".join(MONTHS)
_WRITTEN = (
    rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{MONTH})(?: \d{{4}})?"
    rf"|(?:{MONTH}) \d{{1,2}}(?:, \d{{4}})?|(?:{MONTH}) \d{{4}}"
)
_ISO = r"\d{4}-\d\d-\d\d|\d{4}-\d\d"
_IN_TITLE = re.compile(
    rf"(?:[,(]?\s*\b(?:of|on|dated|for|from)\s+)?(?:{_WRITTEN}|{_ISO})\)?|[,:]?\s*\bnos?\.\s*\d+|\S*\d\S*"
)


def written(day: str) -> str:
    """An ISO date as a paper would write it.

    >>> written("2034-03-09")
    '9 March 2034'
    """
    date = datetime.date.fromisoformat(day)
    return f"{date.day} {MONTHS[date.month - 1]} {date.year}"


def without_dates(title: str) -> str:
    """A title without dates, numbers and words that hold digits.

    >>> without_dates("Harbour committee: minutes no. 5 (21 March 2034)")
    'Harbour committee: minutes'
    """
    left = " ".join(_IN_TITLE.sub(" ", title).split())
    return re.sub(r"\s+([,.;:])", r"\1", left).strip(" ,;:-(")
