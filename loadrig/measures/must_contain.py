"""The cheap pre-check of an answer: does it hold the words that a right one must hold. Not the grade.

Every entry must occur; `||` separates alternatives of one entry. Case, Unicode form (NFKC) and kinds of white space
do not matter; an alternative counts only between word borders (`2` is not found in `12` or `v2`, but is in `2.5`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable


def passes(answer: str, must_contain: Iterable[str]) -> bool:
    """True when each entry occurs; with no entry at all too.

    >>> passes("It is two  hours.", ["2 hours||two hours"])
    True
    """
    text = _spelled(answer)
    return all(any(_occurs(alternative, text) for alternative in entry.split("||")) for entry in must_contain)


def _occurs(alternative: str, text: str) -> bool:
    wanted = _spelled(alternative)
    return bool(wanted) and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text) is not None


def _spelled(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
