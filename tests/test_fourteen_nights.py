"""A few nights under a moved wall clock: what is planted is named, and nothing else."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
import chaos_clock
import fourteen_nights
from fourteen_nights import SHORT, nights

pytestmark = pytest.mark.skipif(chaos_clock.COMPILER is None, reason=chaos_clock.MISSING)


def copied(folder: Path, day: str, to: str) -> None:
    """The run of `day` once more, as one of another day: a night that need not be fired."""
    (run,) = (path for path in folder.iterdir() if path.is_dir())
    shutil.copytree(run, folder / f"{run.name}-again")
    for name in ("manifest.json", "records.jsonl"):
        file = folder / f"{run.name}-again" / name
        file.write_text(file.read_text().replace(f"{day}T", f"{to}T"))


def test_a_price_and_a_missed_night_are_named_and_nothing_else(tmp_path: Path) -> None:
    """Nights from the 23rd of October 2026 in Berlin, over the day of 25 hours: the real command on the 23rd and the
    26th; the 24th is a copy of the first. The 25th is missed; on the 26th, after the change of clocks, prices are 30 %
    higher, and that alone is the reason."""
    fired = nights(SHORT, tmp_path, last=4, questions=2, least=2)
    first = next(fired)
    copied(tmp_path / "results", "2026-10-23", "2026-10-24")
    (last,) = fired
    assert (first.day, first.planted, first.code, first.findings) == ("2026-10-23", "", 0, ())
    assert (last.day, last.planted, last.code, last.is_over) == ("2026-10-26", "price", 0, False)
    assert set(last.findings) >= {"all: cost per question by price"}
    assert all("cost per question by price" in one or "TTFT" in one for one in last.findings)
    assert last.missed == ("2026-10-25",)
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
