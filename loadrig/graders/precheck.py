"""The pre-check: does an answer contain what its key demands? Cheap, automatic, and not the grade.

Rules: each entry of `must_contain` must hit; `||` separates the alternatives of an entry. Case, white space and
typographic quotes and dashes make no difference. An alternative hits where it stands alone: no letter or digit
touches an end of it that is a letter or digit, so `pen` does not hit in `pencil`; an end that is neither (`.start`,
`2%`) needs no room. Numbers are whole: `8` hits in `8%`, `(8)` and `8.`, not in `18`, `8.5`, `1,8` or `-8`.
Underscores count as letters inside a name (`my_pen`) and as emphasis around one (`_pen_`).

Does not know synonyms, negation or history: "not 8 but 9" hits `8`. A key is written with that in mind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_PLAIN = str.maketrans(
    dict.fromkeys("‘’ʼ′", "'") | dict.fromkeys("“”„″", '"') | dict.fromkeys("‐‑‒–—−", "-")  # noqa: RUF001
)
_NUMBER_HEAD = re.compile(r"[-+.,]?\d")
# Letters and digits are [^\W_]. A single underscore joins a name only when a letter or digit stands behind it.
_ROOM_BEFORE = r"(?<![^\W_])(?<![^\W_]_)"
_ROOM_AFTER = r"(?![^\W_])(?!_+[^\W_])"
_NO_AMOUNT_BEFORE = r"(?<!\d[.,])"
_NO_SIGN_BEFORE = r"(?<![\W_][-+])"  # 3-8 is a range, -8 another number
_NO_AMOUNT_AFTER = r"(?![.,]\d)"


def passes(answer: str, must_contain: Iterable[str]) -> bool:
    """Whether every entry hits. Nothing demanded is met by any answer: such a question has no pre-check."""
    text = _plain(answer)
    return all(_hits(text, entry) for entry in must_contain)


def hits(answer: str, entry: str) -> bool:
    """Whether one of the entry's alternatives stands in the answer. Blank alternatives never hit."""
    return _hits(_plain(answer), entry)


def _hits(text: str, entry: str) -> bool:
    wanted = (_plain(alternative) for alternative in entry.split("||"))
    return any(part in text and _alone(part).search(f" {text}") is not None for part in wanted if part)


@lru_cache(maxsize=32)  # an answer is looked at for one entry of its key after the other
def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).translate(_PLAIN).casefold().split())


@lru_cache(maxsize=4096)
def _alone(part: str) -> re.Pattern[str]:
    """Finds `part` where no letter or digit touches its letters or digits; a number, where it is the whole number."""
    before = after = ""
    if _NUMBER_HEAD.match(part):
        before = _ROOM_BEFORE + _NO_AMOUNT_BEFORE + (_NO_SIGN_BEFORE if part[0].isdigit() else "")
    elif part[0].isalnum():
        before = _ROOM_BEFORE
    if part[-1].isalnum():
        after = _ROOM_AFTER + (_NO_AMOUNT_AFTER if part[-1].isdigit() else "")
    return re.compile(before + re.escape(part) + after)
