"""A few nights under a moved wall clock: what is planted is named, and nothing else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
import chaos_clock
import fourteen_nights
from fourteen_nights import SHORT, nights

pytestmark = pytest.mark.skipif(chaos_clock.COMPILER is None, reason=chaos_clock.MISSING)


def test_a_price_and_a_missed_night_are_named_and_nothing_else(tmp_path: Path) -> None:
    """Nights from the 23rd of October 2026 in Berlin, over the day of 25 hours: the real command each time. The 25th is
    missed; on the 26th, after the change of clocks, prices are 30 % higher, and that alone is the reason."""
    found = list(nights(SHORT, tmp_path, last=4, questions=2, least=2))
    assert [(one.day, one.planted, one.code) for one in found] == [
        ("2026-10-23", "", 0), ("2026-10-24", "", 0), ("2026-10-26", "price", 0),
    ]  # fmt: skip
    assert [one.findings for one in found[:2]] == [(), ()]
    assert set(found[2].findings) >= {"all: cost per question by price"}
    assert all("cost per question by price" in one or "TTFT" in one for one in found[2].findings)
    assert found[2].missed == ("2026-10-25",)
    told = json.loads((tmp_path / "results" / "nightly-fourteen.json").read_text())
    parts = {one["factor"]: float(one["amount"]) for one in told["change"]["change"]["parts"]}
    before = float(told["change"]["change"]["before"])
    assert parts["price"] == pytest.approx(0.3 * before)
    assert (parts["tokens"], parts["mix"], parts["failure"]) == (0, 0, 0)
    assert {week["week"] for week in told["weeks"]["arms"]} == {"2026-W43", "2026-W44"}


def test_every_planted_thing_has_a_target() -> None:
    """What a series plants is something the simulator can be told to do, or something that is done around it."""
    around = {"missed", "price"}
    for series in (fourteen_nights.AUTUMN, fourteen_nights.SPRING):
        assert set(series.planted.values()) - around <= set(fourteen_nights.TARGETS)
        assert max(series.planted) <= 14
