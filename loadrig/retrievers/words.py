"""Text into words, for every lexical retriever: one rule for documents and questions.

Rules: Unicode form NFKC and case folded, so that one word has one spelling (`café` composed or decomposed, half-width
kana). A word is a run of letters and digits of any script, with the marks that belong to them; everything else,
underscore included, parts words. On ASCII text that is exactly `[a-z0-9]+` of the lower-cased text. Scripts written
without spaces (Han, kana; Hangul, whose particles stick to the word) give each character and each pair of neighbours,
so that a word is found inside a longer run. No stop words, no stems; one-character words stay.

Thai, Lao, Khmer and Burmese runs are not cut: there a query must match the whole run.
`VERSION` changes whenever any text would give other words: indexes and recall figures are only comparable within one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

VERSION = "1"

_ascii_words = re.compile(r"[a-z0-9]+")
# Han with extensions and compatibility forms, iteration mark; hiragana and katakana; Hangul syllables and letters.
_UNSPACED = "\u3005\u3007\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe\u3400-\u4dbf\u4e00-\u9fff" \
    "\uac00-\ud7a3\u1100-\u11ff\uf900-\ufaff\U00020000-\U0003ffff"  # fmt: skip


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
def _any_words() -> re.Pattern[str]:
    r"""A run without spaces, or a word. Python's `\w` leaves out combining marks, so they are listed: 20 ms, once."""
    planes = range(0x300, 0x1F000)
    marks = "".join(chr(code) for code in planes if unicodedata.category(chr(code)).startswith("M"))
    letter = rf"[^\W_{_UNSPACED}]"
    return re.compile(rf"([{_UNSPACED}]+)|({letter}(?:{letter}|[{marks}])*)")
