"""The "did you mean" of error messages. Knows only strings."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown name: the nearest known one, else the first known ones.

    >>> did_you_mean("s64", ["s64k", "s200k"])
    "did you mean 's64k'?"
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    shown = ", ".join(names[:8])
    return f"known: {shown}{', ...' if len(names) > 8 else ''}" if names else "there is none to choose from"
