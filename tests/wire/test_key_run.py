"""Whole runs by the command whose key is replaced while they last, or refused for good."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from asking import run
from command import QUICK, Called, loadrig, only_run, write_plan
from doorkeeper import Doorkeeper, doorkeeper

PLAN = "probe = false\n" + QUICK.replace('scenario = "SCENARIO"\n', "")


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a key, named by the environment."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    path = tmp_path / "key"
    path.write_text("first-key-of-two")
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(path))
    return path


def fired(folder: Path, *accepts: str, replace_at: int | None = None, key: Path) -> tuple[Called, list[str]]:
    """The run against a door that lets in these tokens; from its n-th request on another, which the file then has."""
    plan = write_plan(folder, PLAN)

    def then(number: int, keeper: Doorkeeper) -> None:
        if number == replace_at:
            key.write_text("second-key-of-two")
            keeper.accepts = {"second-key-of-two"}

    async def go() -> tuple[Called, list[str]]:
        async with doorkeeper(*accepts) as keeper:
            keeper.then = lambda number: then(number, keeper)
            out = ("--out", folder / "results", "--base-url", keeper.url, "--yes")
            return await asyncio.to_thread(loadrig, "run", plan, *out), keeper.tokens

    return run(go())


def test_a_key_that_is_replaced_in_mid_run_costs_no_trial(tmp_path: Path, key: Path) -> None:
    """Every trial is answered, each 401 is an attempt on record, and neither key is in any file."""
    called, tokens = fired(tmp_path, "first-key-of-two", replace_at=9, key=key)
    found = only_run(tmp_path / "results")
    attempts = Counter(attempt.http_status for one in found.records for attempt in one.turns[0].attempts)
    assert called.code == 0, called.err
    assert {one.outcome for one in found.records} == {"answered"}
    assert attempts == {200: len(found.records), 401: len(tokens) - len(found.records)}
    assert 1 <= attempts[401] <= 4  # four are in flight
    assert tokens[-1] == "second-key-of-two"
    files = (path.read_bytes() for path in found.path.rglob("*") if path.is_file())
    everything = b"".join(files) + (called.out + called.err).encode()
    assert b"key-of-two" not in everything


def test_a_key_refused_for_good_ends_the_run_in_its_first_second(tmp_path: Path, key: Path) -> None:
    """A handful is asked, once each; the rest is not run; one warning says why."""
    called, tokens = fired(tmp_path, key=key)
    found = only_run(tmp_path / "results")
    asked = [one for one in found.records if one.outcome != "not_run"]
    ends, begins = [one.end_ns or 0 for one in asked], [one.begin_ns or 0 for one in asked]
    assert called.code == 1
    assert {one.reason for one in found.records} == {"http_4xx", "stopped"}
    assert 3 <= len(asked) == len(tokens) <= 16
    assert max(ends) - min(begins) < 1_000_000_000
    assert len([warning for warning in found.manifest["warnings"] if "refuses us" in warning]) == 1
