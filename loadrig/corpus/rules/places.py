"""Where things stand in a JSON file: the line of every value, by its path.

The text has been read as JSON before; of one that is not, the answer is without meaning.
"""

from __future__ import annotations

import bisect
import re
from json import JSONDecoder

_BLANK = re.compile(r"\s*")

Steps = tuple[str | int, ...]


def lines_of(text: str) -> dict[Steps, int]:
    """Line (from 1) in which each value begins.

    >>> lines_of('{"a": [1,\\n 2]}')[("a", 1)]
    2
    """
    breaks = [at for at, sign in enumerate(text) if sign == "\n"]
    decoder, lines = JSONDecoder(), dict[Steps, int]()

    def value(at: int, steps: Steps) -> int:
        at = _past_blanks(text, at)
        lines[steps] = bisect.bisect_left(breaks, at) + 1
        return members(at, steps) if text[at] in "{[" else scalar(at)[1]

    def members(at: int, steps: Steps) -> int:
        named, number = text[at] == "{", 0
        at = _past_blanks(text, at + 1)
        while text[at] not in "}]":
            step: str | int = number
            if named:
                step, at = scalar(at)
                at = _past_blanks(text, at) + 1  # the colon
            at, number = _past_blanks(text, value(at, (*steps, step))), number + 1
            at = _past_blanks(text, at + 1) if text[at] == "," else at
        return at + 1

    def scalar(at: int) -> tuple[str, int]:
        found, end = decoder.raw_decode(text, at)
        return str(found), end

    value(0, ())
    return lines


def _past_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
