"""How a text stands in the cells of a sheet, so that no spreadsheet changes it or runs it.

Rules, the same for CSV and XLSX: a text that a spreadsheet might take for a formula, a number, a date or a truth value
gets an apostrophe in front, and so does one that begins with an apostrophe; coming back, one apostrophe is taken off.
Line ends become line feeds, and tabs, which LibreOffice drops on saving, blanks; control characters, which XML cannot
hold, are shown as their pictures (U+2400 on). A text longer than a cell may be is continued in further cells. `same`
compares as a person would: white space counts as one blank, for spreadsheets trim it.
"""

from __future__ import annotations

import re

CELL = 16_000  # characters; a cell holds 32,767 UTF-16 units, of which a character takes at most two
RISKY = ("=", "+", "-", "@", "'", "\n")
SHORT = 40  # a date, an amount or a truth value is no longer; with a digit or of one word it gets an apostrophe
_LINE_END = re.compile(r"\r\n?")
_CONTROL = {code: 0x2400 + code for code in range(32) if chr(code) != "\n"} | {0x7F: 0x2421, 0x09: 0x20}
_NO_CHARACTER = {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD} | dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)


def shown(text: str) -> str:
    """The text as a sheet can hold it."""
    return _LINE_END.sub("\n", text).translate(_CONTROL | _NO_CHARACTER)


def cells(text: str) -> list[str]:
    """The cells of a text, each as it is written; an empty text has one."""
    held = shown(text)
    return [guarded(held[at : at + CELL]) for at in range(0, len(held), CELL)] or [""]


def joined(parts: list[str]) -> str:
    """The text that `cells` made the parts of."""
    return "".join(unguarded(part) for part in parts)


def guarded(text: str) -> str:
    """The text with an apostrophe in front where it needs one."""
    return f"'{text}" if text.startswith(RISKY) or _may_be_converted(text) else text


def unguarded(text: str) -> str:
    """The text without the apostrophe in front."""
    return text.removeprefix("'")


def same(one: str, other: str) -> bool:
    """Whether two texts differ at most in white space, and in what a spreadsheet file cannot say."""
    return _compared(one) == _compared(other)


def _may_be_converted(text: str) -> bool:
    bare = text.strip()
    if not bare:
        return False
    if not any(character.isalpha() for character in bare):
        return True
    return len(bare) <= SHORT and (any(character.isdigit() for character in bare) or len(bare.split()) == 1)


def _compared(text: str) -> str:
    # openpyxl takes the escape of an underscore, x005F_, out of a text wherever it stands
    return " ".join(shown(text).replace("x005F_", "").split())
