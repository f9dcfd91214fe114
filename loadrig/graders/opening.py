"""What an answer opens with: a reader takes the first word for the answer, whatever follows it.

An answer that opens with "no" and then states the right facts is wrong where the reference opens with "yes", and the
other way round. Only a yes or no that stands by itself counts: "No, ..." and "**No.**", not "No longer than ..." or
"No document says" nor "No. 9". Where the reference opens with neither, nothing is known.
"""

from __future__ import annotations

import re
from typing import Literal

_OPENING = re.compile(
    r"[\W_]*(?:(yes|ja)|(no|nein))(?!\.?\s*\d)(?=[\W_]*$|[^\w\s'-]|[\W_]*[\r\n]|\s+[-\u2013\u2014])", re.IGNORECASE
)


def opening(text: str) -> Literal["yes", "no"] | None:
    """The claim that a text opens with."""
    found = _OPENING.match(text)
    return None if found is None else "yes" if found[1] else "no"


def contradicts(answer: str, reference: str) -> bool:
    """Whether the two open with opposite claims."""
    said, right = opening(answer), opening(reference)
    return said is not None and right is not None and said != right
