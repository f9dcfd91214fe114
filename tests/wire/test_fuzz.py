"""Damaged replies: whatever arrives, in whatever pieces, becomes a record. `benchmarks/fuzz.py` goes on for longer."""

from __future__ import annotations

import time

import pytest
from mutated_streams import WHOLE, check


@pytest.mark.parametrize("provider", WHOLE)
def test_damaged_replies_become_records(provider: str) -> None:
    """Two hundred kilobytes of bent streams: no crash, nothing that is no record, no cut that matters, no stall."""
    done, number, began = 0, 0, time.monotonic()
    while done < 200_000:
        done += check(number, provider)
        number += 1
    assert time.monotonic() - began < 30
