"""A finding: a sentence made of figures, which figures those are, and how far the sentence reaches.

result         passes its test after Holm's adjustment, over questions as the independent units
lead           one question stands out, with its repetitions pooled: to be followed up, not used
inside noise   tested, and nothing beyond chance; it says what could not have been seen
description    a figure that is told as it is, without a test
cannot be told what is missing, and what would tell
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Strength = Literal["result", "lead", "inside noise", "description", "cannot be told"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`figures` say what the text is made of: keys of study.json's figures, or places in a run's summary.json."""

    text: str
    figures: tuple[str, ...]
    strength: Strength


def p_told(p: float) -> str:
    """`.25`, `.0002`, `< .0001`, `1`."""
    if p < 0.0001:
        return "< .0001"
    return f"{p:.1g}".removeprefix("0") if p < 0.001 else f"{p:.2g}".removeprefix("0")


def points(share: float) -> str:
    """A share of 1 as points, rounded up: what is told as seen could be seen."""
    return f"{math.ceil(round(1000 * share, 6)) / 10:.1f} points"


def times_told(ratio: float) -> str:
    """`6.2`, `0.016`: one digit, below one two digits that say something."""
    return f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"


def listed(names: tuple[str, ...] | list[str], most: int = 4) -> str:
    """`a, b, c and 2 more`."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return " and ".join([", ".join(names[:most]), *more])
