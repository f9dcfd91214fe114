"""A clock that a test sets by hand."""

from __future__ import annotations


class HandClock:
    """Shows the time it is given, in `ns`."""

    def __init__(self) -> None:
        self.ns = 0

    def now_ns(self) -> int:
        return self.ns

    def label(self) -> str:
        return "2026-03-01T00:00:00Z"
