"""Part numbers, dates and other codes (`RX-0040`, `2026-03-01`, `UTF-8`): the exact form ranks first.

Words alone cannot do that: `RX-0040` and a text that has `rx` here and `0040` there share both words. So chunks that
hold a code exactly as the query writes it get a bonus on top of their score: the most that its parts could add to any
chunk, the sum of their idf. Hence for a query of one code no chunk without it ranks above a chunk with it.

A code is two or more words joined by hyphens (any dash) or underscores, with a digit in it, as long as it goes:
`RX-0040` is not found in `RX-0040-B`. Case and Unicode form do not matter. The bonus is in the default retriever only.
Considered instead: the joined form as one more word (changes every chunk's length, and guarantees nothing), a second
pass over the best hits (what is not among them cannot rise). Points and slashes do not join: they end sentences and
separate alternatives.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from loadrig.retrievers.words import folded, marks, words_of

_dashes = re.compile(r"[\u2010-\u2015\u2212]")
_ascii_code = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)+")
_digit = re.compile(r"\d")


@dataclass(frozen=True, slots=True, eq=False)
class PartNumbers:
    """For each code of the corpus its bonus and the positions of the chunks that hold it."""

    found: dict[str, tuple[float, npt.NDArray[np.int32]]]

    def add_bonus(self, query: str, scores: npt.NDArray[np.float32]) -> None:
        """Raises the scores of the chunks that hold a code of the query, once for each code."""
        for code in codes_of(query):
            if code in self.found:
                bonus, chunks = self.found[code]
                scores[chunks] += bonus


def part_numbers_of(texts: Iterable[str], idf: Callable[[str], float]) -> PartNumbers:
    """Collects the codes of the chunks' texts; `idf` gives the weight of a word of the corpus."""
    chunks: defaultdict[str, list[int]] = defaultdict(list)
    for position, text in enumerate(texts):
        for code in codes_of(text):
            chunks[code].append(position)
    return PartNumbers(
        {
            code: (sum(map(idf, words_of(code))), np.array(positions, dtype=np.int32))
            for code, positions in chunks.items()
        }
    )


def codes_of(text: str) -> list[str]:
    """The codes in a text, each once, in the form that is compared. In order: that of a set is another one in each
    process, and with it an index would be.

    >>> codes_of("Valve RX-0040 (built-in) of 2026-03-01")
    ['rx-0040', '2026-03-01']
    """
    found = _ascii_code.findall(text.lower()) if text.isascii() else _any_code().findall(_dashes.sub("-", folded(text)))
    return [code for code in dict.fromkeys(found) if _digit.search(code)]


@cache
def _any_code() -> re.Pattern[str]:
    """Of words as `words_of` gives them, marks included: half a word would be no word of the corpus."""
    word = rf"[^\W_](?:[^\W_]|[{marks()}])*"
    return re.compile(rf"{word}(?:[-_]{word})+")
