"""Requests without a name: seeded by their body and by how often it came."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import FAST, asking, running

from loadrig.simulator import strangers
from loadrig.simulator.strangers import Seen


def test_a_body_is_counted_by_itself() -> None:
    """The first and second time of one, the first of another."""
    seen = Seen()
    assert [seen.named(digest) for digest in ("a", "b", "a")] == ["a.1.1", "b.1.1", "a.1.2"]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for two the one sent least lately begins again, though it was the first to be sent twice."""
    monkeypatch.setattr(strangers, "MOST", 2)
    seen = Seen()
    names = [seen.named(digest) for digest in ("a", "b", "a", "c", "a", "b")]
    assert names == ["a.1.1", "b.1.1", "a.1.2", "c.1.1", "a.1.3", "b.1.1"]


def test_who_is_turned_away_and_asks_again_gets_through(tmp_path: Path) -> None:
    """Of a body sent 20 times half are turned away, not all and not none; and the same ones in another run."""
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    fates = []
    for folder in ("first", "second"):
        with running(FAST + "rate_429 = 0.5\n", tmp_path / folder) as simulator:
            fates.append([simulator.post(asking("x?")).status for _ in range(20)])
    assert set(fates[0]) == {200, 429}
    assert fates[0] == fates[1]


def test_the_log_keeps_what_a_client_calls_its_request(tmp_path: Path) -> None:
    """The header x-request-id, or nothing."""
    with running(FAST, tmp_path) as simulator:
        simulator.post(asking("x?"), **{"x-request-id": "mine-7"})
        simulator.post(asking("x?"))
        rows = simulator.stop()
    assert [row["client_request_id"] for row in rows] == ["mine-7", None]
