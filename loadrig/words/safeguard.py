"""A safeguard: a named check that runs by itself, and what it found.

A check that could not run is "not checked", never "passed". "failed": the fault is there, and figures it touches cannot
be trusted; "warned": a reader must know it before he reads on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["passed", "warned", "not checked", "failed"]
WORST_FIRST: tuple[Verdict, ...] = ("failed", "warned", "not checked", "passed")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a check, under a name with its unit."""

    name: str
    value: int | float | str | None


@dataclass(frozen=True, slots=True)
class Safeguard:
    """What one check found. `of`: the model it is about; empty: the run."""

    name: str
    verdict: Verdict
    sentence: str
    figures: tuple[Figure, ...] = ()
    of: str = ""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several; of none: not checked."""
    found = set(verdicts)
    return next((verdict for verdict in WORST_FIRST if verdict in found), "not checked")
