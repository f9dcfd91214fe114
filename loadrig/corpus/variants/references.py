"""How papers cite one another: by number (`minutes no. 5`), and how to make them cite the date instead.

Rules: a paper's number is what its title says (`Harbour committee: minutes no. 5`), so papers whose titles carry none
are not cited by number. Inside a sentence the article is added where none stands; at the start of a sentence or
heading the kind is followed by the date alone. Lists are understood: `minutes no. 2, 4 and 6`, `minutes nos. 2 and 4`.
A number that no paper has stays, and is found by `left`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadrig.corpus.manifest import Entry
from loadrig.corpus.variants.dates import MONTH, written

_TITLE = re.compile(r"(?:^|[:,;(-] ?)(?P<kind>[^\W\d_][^:,;(\d]*) no\. (?P<number>\d+)\b")
_NO_ARTICLE_NEEDED = re.compile(r"\b(?:the|these|those|our|all|both|last|'s) $", re.IGNORECASE)
_MORE = rf"(?:, (?:and )?| and | or | to )(?:no\. )?\d+\b(?! (?:{MONTH}))"
_LIST = rf"(?P<numbers>\d+\b(?:{_MORE})*)"


@dataclass(frozen=True, slots=True)
class References:
    """Which paper has which number: `dates[kind, number]` is its ISO date."""

    dates: Mapping[tuple[str, int], str]

    def dated(self, text: str) -> str:
        """The text with citations by date.

        >>> References({("minutes", 5): "2034-03-21"}).dated("as in minutes no. 5, item 2")
        'as in the minutes of 21 March 2034, item 2'
        """
        for pattern in self._patterns():
            text = pattern.sub(self._replaced, text)
        return text

    def left(self, text: str) -> list[str]:
        """Citations by number that still stand in a text."""
        return [found.group() for pattern in self._patterns() for found in pattern.finditer(text)]

    def _patterns(self) -> Iterable[re.Pattern[str]]:
        kinds = dict.fromkeys(kind for kind, _ in self.dates)
        return [re.compile(rf"\b(?P<kind>(?i:{re.escape(kind)})) nos?\. {_LIST}") for kind in kinds]

    def _replaced(self, found: re.Match[str]) -> str:
        kind, numbers = found["kind"], found["numbers"]
        known = [self.dates.get((kind.lower(), int(number))) for number in re.findall(r"\d+", numbers)]
        days = [written(day) for day in known if day is not None]
        if len(days) < len(known):
            return found.group()
        before = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
        bare = kind[0].isupper() or before.startswith("#") or before.endswith(": ") or _NO_ARTICLE_NEEDED.search(before)
        return f"{'' if bare else 'the '}{kind} {_listed(days, numbers)}"


def _listed(days: Sequence[str], numbers: str) -> str:
    """`of A`, `of A and of B`, `of A, of B and of C`, `of A or of B`, `from A to B`."""
    if " to " in numbers and len(days) == 2:
        return f"from {days[0]} to {days[1]}"
    *first, last = [f"of {day}" for day in days]
    return f"{', '.join(first)} {'or' if ' or ' in numbers else 'and'} {last}" if first else last


def numbered_kind(title: str) -> str | None:
    """`minutes` of `Harbour committee: minutes no. 5`; None when the title has no number."""
    found = _TITLE.search(title)
    return found["kind"].lower() if found else None


def numbering(entries: Iterable[Entry], dates: Mapping[str, str]) -> References:
    """The numbers that the titles give to papers whose date is known."""
    found: dict[tuple[str, int], str] = {}
    for entry in entries:
        title = _TITLE.search(entry.title or "")
        if title and entry.id in dates:
            found[title["kind"].lower(), int(title["number"])] = dates[entry.id]
    return References(found)
