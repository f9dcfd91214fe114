"""What a rule says: something is broken, something is worth knowing, or something could not be looked at.

Rules: a finding breaks a promise and names the place and what to do; a note breaks none. Places are paths as the user
gave them, lines count from 1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; without a line the file as a whole."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule."""

    place: Place
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Note:
    """A figure, or something that may be meant so."""

    text: str
    place: Place | None = None

    def __str__(self) -> str:
        return self.text if self.place is None else f"{self.place}: {self.text}"


@dataclass(frozen=True, slots=True)
class Unchecked:
    """What a rule could not look at, and why."""

    reason: str


Outcome = Finding | Note | Unchecked
