"""Other figures and dates for another project's papers, by one pass over a text.

Rules: a figure becomes another of its size and roundness, sometimes the same, and the same one throughout the project.
Dates move by the project's whole weeks, so that days of the week stay right; months named alone move along. Figures
that are numbers of something (`minutes no. 5`, `paragraph 3.1`, a heading's) stay; request numbers move by one step for
the whole project; codes with letters in them stay. Small counts written in words from four on become others.
"""

from __future__ import annotations

import datetime
import random
import re
from dataclasses import dataclass, field

from loadrig.corpus.dating import MONTHS
from loadrig.corpus.manifest import is_iso
from loadrig.corpus.variants.dates import MONTH

_COUNTS = ("four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_KEPT = "paragraphs?|items?|sections?|points?|nos?\\.|version"
_NUMBER = r"\d+(?:[.,]\d+)*"
_FIGURES = re.compile(
    rf"""(?P<heading>^\#+[ ]\d+\.?(?=[ ]|$)|^\d+(?:\.\d+)+(?=\.?[ ])|^(?:-[ ])?(?:\*\*)?\d+\.(?=[ ]))
    |(?P<iso>\b\d{{4}}-\d\d-\d\d\b)
    |(?P<day>\b\d{{1,2}})(?:st|nd|rd|th)?[ ](?P<month>{MONTH})\b(?:[ ](?P<year>\d{{4}}))?
    |(?P<alone>\b(?:{MONTH}))\b(?:[ ](?P<its_year>\d{{4}}\b))?
    |(?P<kept>\b(?i:{_KEPT})[ ]{_NUMBER}(?:(?:,[ ]|[ ]and[ ]|[ ]or[ ]|[ ]to[ ]){_NUMBER}\b(?![ ](?:{MONTH})))*)
    |(?P<request>\b(?i:requests?|slips?|wish|wishes)(?:[ ]no\.)?[ ])(?P<which>\d+)\b
    |(?P<bare_year>\b(?:19|20|21)\d\d\b(?![,.]\d))
    |(?P<time>\b\d{{1,2}}:\d\d\b)
    |(?P<figure>(?<![\w.,-])\d{{1,3}}(?:,\d{{3}})+(?![\w-])|(?<![\w.,-])\d+(?:\.\d+)?(?![\w-]))
    |(?P<count>\b(?:{"|".join(_COUNTS + _TENS)})\b)""",
    re.MULTILINE | re.VERBOSE,
)
_FACTORS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.1, 1.2, 1.25, 1.4, 1.5, 1.8, 2.0)
SAME = 0.25  # share of figures that stay


@dataclass(frozen=True, slots=True)
class Amounts:
    """What one project's figures are.

    `days` is how far its dates lie from the original's (whole weeks), `year` the one of dates that name none,
    `requests` the step between its request numbers and the original's.
    """

    seed: str
    days: int
    year: int
    requests: int
    _known: dict[str, str] = field(default_factory=dict, repr=False)

    def of(self, text: str) -> str:
        """The text with the project's dates and figures."""
        return _FIGURES.sub(self._replaced, text)

    def date(self, iso: str) -> str:
        """An ISO date, moved."""
        return (datetime.date.fromisoformat(iso) + datetime.timedelta(days=self.days)).isoformat()

    def _replaced(self, found: re.Match[str]) -> str:
        new = found.group()
        if found["iso"]:
            new = self.date(new) if is_iso(new) else new
        elif found["day"]:
            new = self._day(found)
        elif found["alone"]:
            new = self._month(found)
        elif found["request"]:
            new = f"{found['request']}{int(found['which']) + self.requests}"
        elif found["bare_year"]:
            new = str(int(new) + round(self.days / 365.25))
        elif found.lastgroup in ("time", "figure", "count"):
            new = self._figure(new, found.lastgroup)
        return new

    def _day(self, found: re.Match[str]) -> str:
        month, year = MONTHS.index(found["month"]) + 1, found["year"]
        try:
            old = datetime.date(int(year or self.year), month, int(found["day"]))
        except ValueError:
            return found.group()
        new = old + datetime.timedelta(days=self.days)
        return f"{new.day} {MONTHS[new.month - 1]}" + (f" {new.year}" if year else "")

    def _month(self, found: re.Match[str]) -> str:
        months = round(self.days / 30.44)
        total = MONTHS.index(found["alone"]) + months
        year = f" {int(found['its_year']) + total // 12}" if found["its_year"] else ""
        return MONTHS[total % 12] + year

    def _figure(self, figure: str, kind: str) -> str:
        if figure not in self._known:
            chance = random.Random(f"{self.seed}:{figure}")
            change = {"time": _time, "figure": _figure, "count": _count}[kind]
            self._known[figure] = figure if chance.random() < SAME else change(figure, chance)
        return self._known[figure]


def _time(time: str, chance: random.Random) -> str:
    hour, minute = map(int, time.split(":"))
    minutes = hour * 60 + minute + chance.choice((-90, -60, -45, -30, -15, 15, 30, 45, 60, 90))
    if not 0 <= minutes < 24 * 60:
        return time
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _count(word: str, chance: random.Random) -> str:
    row = _COUNTS if word in _COUNTS else _TENS
    return chance.choice([other for other in row if other != word])


def _figure(figure: str, chance: random.Random) -> str:
    if "." in figure:
        decimals = len(figure.partition(".")[2])
        return f"{max(float(figure) * chance.choice(_FACTORS), 10**-decimals):.{decimals}f}"
    value = int(figure.replace(",", ""))
    if value < 4:
        return figure
    step = next(size for size in (1000, 100, 50, 10, 5, 1) if value % size == 0 and value > size)
    new = max(step, round(value * chance.choice(_FACTORS) / step) * step)
    if value <= 100 < new:
        new = value - step
    if new == value:
        new = value + step if value != 100 else value - step
    return f"{new:,}" if "," in figure else str(new)
