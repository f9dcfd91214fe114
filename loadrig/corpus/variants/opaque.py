"""Names of files and documents that say nothing: seven consonants, and in an order that is not that of time."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

LETTERS = "bcdfghjkmnpqrstvwxz"  # without vowels and l: neither a word nor a month nor something like a 1
LENGTH = 7


def opaque_names(seed: str) -> Iterator[str]:
    """Endless names, none twice."""
    chance = random.Random(seed)
    seen: set[str] = set()
    while True:
        name = "".join(chance.choices(LETTERS, k=LENGTH))
        if name not in seen:
            seen.add(name)
            yield name


def opaque_ids(in_order: Sequence[str], seed: str) -> Mapping[str, str]:
    """A new id for each document, given in order of time, such that sorting the new ids does not sort by time.

    With three documents or more the sorted ids also do not run backwards, the first is not the oldest and the last is
    not the newest; a draw that breaks this is drawn again.
    """
    for attempt in range(1000):
        names = opaque_names(f"{seed}:{attempt}")
        new = [next(names) for _ in in_order]
        if is_mixed(new):
            return dict(zip(in_order, new, strict=True))
    raise AssertionError("a thousand draws in a row came out sorted")


def is_mixed(in_order: Sequence[str]) -> bool:
    """Whether names, given in order of time, sort into another order. One name alone cannot fail."""
    by_name = sorted(in_order)
    if len(in_order) < 3:
        return len(in_order) < 2 or by_name != list(in_order)
    rising = sum(one < other for one, other in pairwise(in_order))
    return by_name[0] != in_order[0] and by_name[-1] != in_order[-1] and 0 < rising < len(in_order) - 1
