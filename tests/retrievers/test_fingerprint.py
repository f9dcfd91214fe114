"""The hash of what a retriever holds."""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from threading import Lock
from typing import Any

import numpy as np
import pytest

from loadrig.retrievers.fingerprint import fingerprint


@dataclass(frozen=True)
class Holds:
    """Anything."""

    value: Any


class Slotted:
    """Without a dictionary."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class Plain:
    """Not a dataclass."""

    def __init__(self, value: object) -> None:
        self.value = value


VALUES = [
    "a", b"a", 1, 1.0, True, None, ("a", "b"), ("ab",), ("b", "a"), ["a", "b"], {"a": 1}, {"a": 2}, {"b": 1},
    {"a", "b"}, np.array([1, 2]), np.array([2, 1]), np.array([1.0, 2.0]), np.array([[1, 2]]),
    np.array([1, 2], dtype=np.int8), array("i", [1, 2]), array("i", [2, 1]), np.float32(1.5), Plain("a"), Plain("b"),
    Holds(Plain("a")), (), {}, date(2026, 3, 1), date(2026, 3, 2), deque([1]), deque([2]),
    Decimal("1.5"), Decimal("2.5"), 1j, 2j, Slotted("a"), Slotted("b"), Plain, Holds, len, max,
]  # fmt: skip


def test_different_things_have_different_fingerprints() -> None:
    """By value, by type, by shape and by order: no two of these are alike."""
    assert len({fingerprint(Holds(value)) for value in VALUES}) == len(VALUES)


@pytest.mark.parametrize("value", [{"x", "y", "z"}, np.arange(4)[::-1], {"b": [1], "a": (2,)}, Plain({"q"}), Lock()])
def test_equal_things_have_equal_fingerprints(value: object) -> None:
    """However a set is ordered in memory and an array laid out."""
    again = np.array(value) if isinstance(value, np.ndarray) else value
    assert fingerprint(Holds(value)) == fingerprint(Holds(again))


def test_what_holds_itself_has_one_too() -> None:
    """A ring ends where it meets itself."""
    ring: list[object] = [1]
    ring.append(ring)
    assert len(fingerprint(ring)) == 64
