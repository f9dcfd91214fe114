"""The sentences of an answer, as spans: what is said together.

Rules: a sentence ends at a full stop, question or exclamation mark before white space, or at a line's end. It does not
end behind an abbreviation (`no. 3`, `e. g.`) or a German ordinal (`9. März`), and brackets right behind its end, as
citations have them, are still of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loadrig.corpus.dating import MONTH_OF

_END = re.compile(
    r"(?P<stop>[.!?]+[\"'\u201c\u201d\u2019\u00bb)*_]*)(?=\s)(?P<cited>(?:[ \t]*\[[^\]\n]{1,200}\])*[.]?)|\n"
)
_SHORT = re.compile(
    r"\b(?:nos?|nrn?|vol|approx|ca|cf|dr|mrs?|ms|st|vgl|bzw|usw|z\. ?b|e\. ?g|i\. ?e|d\. ?h|[a-z])$", re.IGNORECASE
)
_ORDINAL = re.compile(r"(?<!\d)\d{1,2}$")
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")


def sentences(text: str) -> list[tuple[int, int]]:
    """Start and end of each, in order; together they hold all but white space.

    >>> text = "See no. 3 of 9. März. It says 9. [a] So be it."
    >>> [text[start:end] for start, end in sentences(text)]
    ['See no. 3 of 9. März.', 'It says 9. [a]', 'So be it.']
    """
    return list(spans(text))


def spans(text: str) -> Iterator[tuple[int, int]]:
    """The same one after the other, for whoever does not want them all."""
    start = 0
    for end in _ends(text):
        part = text[start:end]
        first, last = end - len(part.lstrip()), start + len(part.rstrip())
        if first < last:
            yield first, last
        start = end


def _ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        if not (found["stop"] == "." and not found["cited"] and _goes_on(text, found.start())):
            yield found.end()
    yield len(text)


def _goes_on(text: str, stop: int) -> bool:
    """Whether the full stop at `stop` ends no sentence."""
    before = text[max(0, stop - 10) : stop]
    word = _NEXT_WORD.match(text, stop + 1)
    is_ordinal = _ORDINAL.search(before) and word and (word[1].casefold() in MONTH_OF or word[1].islower())
    return bool(_SHORT.search(before) or is_ordinal)
