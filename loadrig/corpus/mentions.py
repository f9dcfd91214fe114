"""Every date that a text mentions, whole or in part, in the forms in which people and models write one.

Rules: `2034-01-24`, `2034/01/24`, `24 January 2034`, `January 24th, 2034`, `24. Januar 2034`, `24-Jan-2034`,
`24.01.2034`, `01/24/2034`, and in part `24 January` and `January 2034`; months English or German, whole or short. A
mention is written as `2034-01-24`, `2034-01` or, without a year, `--01-24`. Numbers that may be read two ways give both
readings. What is no day of the calendar is a mention all the same: a text may well claim 30 February. Without a year a
month wants its capital letter, for "may 12 people" is no date.

Does not know years of two digits, relative dates ("a week later"), days written out ("the second of March"), nor the
first day of a span ("9 and 23 March").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from loadrig.corpus.dating import MONTH_OF

_NAMES = "|".join(sorted(MONTH_OF, key=len, reverse=True))
_MONTH = rf"(?P<{{0}}>{_NAMES})\b\.?"
_DAY = r"(?P<{0}>0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?P<{0}>[12]\d{{3}})(?!\d)"
_BEGIN = "|".join(sorted({name[:2] for name in MONTH_OF}))
_MENTION = re.compile(
    rf"(?<!\w)(?=\d|{_BEGIN})(?:"  # where any form begins: without this the search takes more than four times as long
    + "|".join(
        (
            rf"(?<![\d./-]){_YEAR.format('y1')}(?P<sep>[-/.])(?P<m1>\d\d)(?P=sep)(?P<d1>\d\d)(?![\d-])",
            rf"(?<![\w./-])(?P<a2>\d{{1,2}})(?P<sep2>[./-])\s?(?P<b2>\d{{1,2}})(?P=sep2)\s?{_YEAR.format('y2')}(?![./-]\d)",
            rf"(?<![\w.:/,-]){_DAY.format('d3')}(?:st|nd|rd|th|\.)?(?:\s+of)?(?:\s+|-){_MONTH.format('m3')}"
            rf"(?:,?(?:\s+|-){_YEAR.format('y3')})?",
            rf"{_MONTH.format('m4')}\s+{_DAY.format('d4')}(?:st|nd|rd|th)?(?!\d|[.,:]\d)(?:,?\s+{_YEAR.format('y4')})?",
            rf"{_MONTH.format('m5')}(?:\s+of)?,?\s+{_YEAR.format('y5')}",
        )
    )
    + ")",
    re.IGNORECASE,
)
_MONTH_ALONE = re.compile(rf"\b(?:{_NAMES})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """A date from `start` to `end` of a text, and what it may mean."""

    start: int
    end: int
    readings: tuple[str, ...]


def dates_mentioned(text: str) -> list[Mention]:
    """The dates of a text in their order.

    >>> [found.readings for found in dates_mentioned("Not on May 12th but on 03/04/2034, or in May 2034.")]
    [('--05-12',), ('2034-04-03', '2034-03-04'), ('2034-05',)]
    """
    found = (Mention(one.start(), one.end(), tuple(dict.fromkeys(_readings(one)))) for one in _MENTION.finditer(text))
    return [mention for mention in found if mention.readings]


def months_mentioned(text: str) -> list[Mention]:
    """Names of months, with a capital letter, as `--05`: no date, but enough to check a claim."""
    return [
        Mention(one.start(), one.end(), (f"--{MONTH_OF[one[0].casefold()]:02}",))
        for one in _MONTH_ALONE.finditer(text)
        if one[0][0].isupper()
    ]


def _readings(found: re.Match[str]) -> Iterator[str]:
    part = found.groupdict()
    if part["y1"]:
        yield f"{part['y1']}-{part['m1']}-{part['d1']}"
    elif part["y2"]:
        for day, month in ((part["a2"], part["b2"]), (part["b2"], part["a2"])):
            if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
                yield f"{part['y2']}-{int(month):02}-{int(day):02}"
    elif part["m5"]:
        yield f"{part['y5']}-{MONTH_OF[part['m5'].casefold()]:02}"
    else:
        name, day, year = next((part[f"m{n}"], part[f"d{n}"], part[f"y{n}"]) for n in (3, 4) if part[f"m{n}"])
        if year or name[0].isupper():
            yield f"{year or '-'}-{MONTH_OF[name.casefold()]:02}-{int(day):02}"
