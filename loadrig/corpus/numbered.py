"""What a corpus counts with numbers: `minutes no. 3`, `Request 5`, `PEP 484`.

Rules: a noun is a numbering one when the texts give it two or more numbers with no. or Nr., when three or more headings
begin with it and a number, or when a document's id is it and a number. Its numbers are those that follow it anywhere in
the corpus. Case and a plural s make no difference. A number with a decimal part or a per cent sign is an amount, not a
number of that kind, and so is one after a figure and a small letter (`15 minutes 30`, not `5 Request 8`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from loadrig.corpus.dating import MONTH_OF

_NOUN = r"(?P<noun>[^\W\d_]{3,})"
_COUNT = r"(?P<number>\d{1,6})(?![\w%])(?![.,:/-]\d)(?!\s*(?:%|per cent|percent|Prozent))"
_WORD = r"(?:no\.?|nr\.?|number|nummer|\#)\s*"
_BY_WORD = re.compile(rf"\b{_NOUN}\s+(?:no|nr)\.?\s*{_COUNT}", re.IGNORECASE)
_BY_HEADING = re.compile(
    rf"(?:(?<=\n\n)|\A|^\#+[ \t]*)(?=[A-ZÄÖÜ]){_NOUN}[ \t]+{_COUNT}(?=[ \t]*(?:$|[:.)(\u2013\u2014-]))", re.MULTILINE
)
_BY_ID = re.compile(r"(?P<noun>[^\W\d_]{3,})[-_ ]?(?P<number>\d{1,6})")
_ANY = re.compile(rf"\b(?P<noun>[^\W\d_]{{3,}}+)\s++(?:{_WORD})?{_COUNT}", re.IGNORECASE)
_FIGURE = re.compile(r"\d\s+$")
_NO_NOUN = frozenset(name.removesuffix("s") for name in (*MONTH_OF, "the", "and", "with", "from", "than", "about"))


@dataclass(frozen=True, slots=True)
class Number:
    """A numbered thing from `start` to `end` of a text: its noun, folded, and the number, as `minute 3`."""

    start: int
    end: int
    name: str


def numbering_nouns(texts: Iterable[str], ids: Iterable[str]) -> frozenset[str]:
    """The nouns, folded, that a corpus numbers."""
    by_word: dict[str, set[int]] = {}
    by_heading: dict[str, set[int]] = {}
    for text in texts:
        for form, kind in ((_BY_WORD, by_word), (_BY_HEADING, by_heading)):
            for one in form.finditer(text):
                kind.setdefault(_folded(one["noun"]), set()).add(int(one["number"]))
    nouns = {noun for noun, numbers in by_word.items() if len(numbers) >= 2}
    nouns |= {noun for noun, numbers in by_heading.items() if len(numbers) >= 3}
    nouns |= {_folded(found["noun"]) for found in map(_BY_ID.fullmatch, ids) if found}
    return frozenset(nouns - _NO_NOUN)


def numbers_in(text: str, nouns: Collection[str]) -> list[Number]:
    """Numbered things of these nouns, in the order of the text.

    >>> [found.name for found in numbers_in("As in Minutes no. 3, not requests 7.", {"minute", "request"})]
    ['minute 3', 'request 7']
    """
    found = ((one, _folded(one["noun"])) for one in _ANY.finditer(text))
    return [
        Number(one.start(), one.end(), f"{noun} {int(one['number'])}")
        for one, noun in found
        if noun in nouns
        and not (one["noun"][0].islower() and _FIGURE.search(text[max(0, one.start() - 8) : one.start()]))
    ]


def number_of_id(name: str) -> str | None:
    """`pep 484` of an id `pep-0484`; None for ids that are more than a noun and a number."""
    found = _BY_ID.fullmatch(name)
    return None if found is None else f"{_folded(found['noun'])} {int(found['number'])}"


def _folded(noun: str) -> str:
    return noun.casefold().removesuffix("s")
