"""Text into words, for every lexical retriever: one rule for documents and questions.

Rules: Unicode form NFKC and case folded, so that one word has one spelling (`café` composed or decomposed, half-width
kana). A word is a run of letters and digits of any script, with the marks that belong to them; everything else,
underscore included, parts words. On ASCII text that is exactly `[a-z0-9]+` of the lower-cased text. Scripts written
without spaces (Han, kana; Hangul, whose particles stick to the word) give each character and each pair of neighbours,
so that a word is found inside a longer run. No stop words, no stems unless a retriever's options ask for them;
one-character words stay.

Thai, Lao, Khmer and Burmese runs are not cut: there a query must match the whole run.
`VERSION` changes whenever any text would give other words: indexes and recall figures are only comparable within one.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

VERSION = "1"

_ascii_words = re.compile(r"[a-z0-9]+")
# Han with extensions and compatibility forms, iteration mark; hiragana and katakana; Hangul syllables and letters.
_UNSPACED = "\u3005\u3007\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe\u3400-\u4dbf\u4e00-\u9fff" \
    "\uac00-\ud7a3\u1100-\u11ff\uf900-\ufaff\U00020000-\U0003ffff"  # fmt: skip

Language = Literal[
    "danish", "dutch", "english", "french", "german", "italian", "norwegian", "portuguese", "russian", "spanish",
    "swedish",
]  # fmt: skip
"""Those of which there are both a stemmer (Snowball's) and a list of stop words (bm25s's; English as Lucene's 33)."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Which words of a text count, and in which form: as they are, or without stop words, or by their stems."""

    language: Language = "english"
    stem: bool = False
    stop_words: bool = False

    def words(self, text: str) -> list[str]:
        """The words of a text in the form in which they are compared."""
        if not (self.stem or self.stop_words):
            return words_of(text)
        return [form for word in words_of(text) if (form := self.form(word)) is not None]

    def form(self, word: str) -> str | None:
        """The form of a word as `words_of` gives it; None: a stop word.

        >>> Wording(stem=True, stop_words=True).words("The valves of a pump")
        ['valv', 'pump']
        """
        if self.stop_words and word in _stop_words(self.language):
            return None
        return _stem(word, self.language) if self.stem else word


def words_of(text: str) -> list[str]:
    """The words of a text in order, repeated as they occur.

    >>> words_of("Valve RX-0040, café")
    ['valve', 'rx', '0040', 'café']
    >>> words_of("ポンプ")
    ['ポ', 'ン', 'プ', 'ポン', 'ンプ']
    """
    if text.isascii():
        return _ascii_words.findall(text.lower())
    words: list[str] = []
    for unspaced, word in _any_words().findall(folded(text)):
        if word:
            words.append(word)
        else:
            words.extend(unspaced)
            words.extend(first + second for first, second in pairwise(unspaced))
    return words


def folded(text: str) -> str:
    """The one spelling that is compared: NFKC, case folded (`ß` as `ss`), then NFKC again as folding can undo it."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@cache
def marks() -> str:
    r"""The combining marks, which Python's `\w` leaves out of words: 20 ms, once."""
    planes = range(0x300, 0x1F000)
    return "".join(chr(code) for code in planes if unicodedata.category(chr(code)).startswith("M"))


@cache
def _any_words() -> re.Pattern[str]:
    """A run without spaces, or a word."""
    letter = rf"[^\W_{_UNSPACED}]"
    return re.compile(rf"([{_UNSPACED}]+)|({letter}(?:{letter}|[{marks()}])*)")


@cache
def _stop_words(language: Language) -> frozenset[str]:
    from bm25s import stopwords  # noqa: PLC0415 - brings scipy, which who only needs words should not wait for

    listed: tuple[str, ...] = getattr(stopwords, f"STOPWORDS_{'EN' if language == 'english' else language.upper()}")
    return frozenset(word for entry in listed for word in words_of(entry))


@lru_cache(maxsize=65_536)
def _stem(word: str, language: Language) -> str:
    """A stemmer keeps the word it works on, and several threads may search: each call has one of its own."""
    import snowballstemmer  # noqa: PLC0415 - thirty languages, for who wants one

    stem: str = snowballstemmer.stemmer(language).stemWord(word)
    return stem
