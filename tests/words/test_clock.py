"""Durations come from a clock that nobody can set."""

from __future__ import annotations

import time

import pytest

from loadrig.words.clock import SystemClock


def test_a_wall_clock_set_back_changes_no_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    """H7: ten seconds back between two instants, and the second is still the later one, by less than a second."""
    clock = SystemClock()
    begin_ns, wall_ns = clock.now_ns(), time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: wall_ns - 10_000_000_000)
    monkeypatch.setattr(time, "time", lambda: wall_ns / 1e9 - 10)
    assert 0 <= clock.now_ns() - begin_ns < 1_000_000_000
    assert time.time_ns() < wall_ns
