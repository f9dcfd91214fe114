"""`loadrig selftest` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

from command import loadrig


def test_the_self_test_measures_and_says_whether_its_times_are_true(tmp_path: Path) -> None:
    """The exit code is the verdict; every level had replies, none failed, each was found in the target's log."""
    file = tmp_path / "selftest.json"
    called = loadrig("selftest", "--seconds", "0.5", "--streams", "8", "--json", str(file))
    figures = json.loads(file.read_text())
    assert called.code == (0 if figures["is_true"] else 1), called.err
    assert f"TTFT error p99 is {'within' if figures['is_true'] else 'OVER'} 2 ms at 8 streams" in called.out
    levels = [*figures["busy"], figures["paced"]]
    assert [one["schedule"]["tokens"] for one in levels] == [10, 100, 1000, 100]
    assert all(one["replies"] == one["ttft_error"]["n"] > 0 and one["failed"] == 0 for one in levels)
    assert figures["paced"]["loop"] == "uvloop.Loop"
    assert sum(figures["paced"]["stamps"].values()) >= figures["paced"]["replies"]
