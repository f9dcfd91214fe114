"""Timed trials that opened their connection."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import MS, attempt, read_run, record, turn

from loadrig.analysis.connecting import warned
from loadrig.analysis.load import stage_loads
from loadrig.words.record import Record


def trial(name: str, connect_ms: int | None, tls_ms: int | None = None) -> Record:
    connect, tls = (None if ms is None else ms * MS for ms in (connect_ms, tls_ms))
    return record(name, turns=(turn(attempts=(attempt(connect_ns=connect, tls_ns=tls),)),))


@pytest.mark.parametrize(
    ("fresh", "warm", "said"),
    [((3, 3), 98, True), ((3, 2), 98, False), ((3, 3), 200, False)],
)
def test_connecting_in_timed_trials_is_warned_of(fresh: tuple[int, int], warm: int, said: bool, tmp_path: Path) -> None:
    """Two of 100 took 6 ms each, of 100 ms to the first token: over 5 ms, and over one in a hundred. 5 ms are not over
    5 ms; two of 202 are not over one in a hundred."""
    records = [trial(f"f{n}", *fresh) for n in range(2)] + [trial(f"w{n}", None) for n in range(warm)]
    run = read_run(tmp_path, records)
    told = (
        "stage c2: 2 of 100 timed trials opened their connection, which took 0.006 s at p50 and is in their TTFT; "
        "warmup = 2 keeps that out"
    )
    assert list(warned(run, stage_loads(run))) == ([told] if said else [])
