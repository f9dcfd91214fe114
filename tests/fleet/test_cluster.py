"""Which Ray a run starts or joins, and with what settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from unfriendly_hosts import closed

from loadrig.fleet import cluster
from loadrig.words.errors import InputError


def test_a_cluster_that_is_not_there_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens at RAY_ADDRESS: said with the address and a remedy, not waited for."""
    with closed() as url:
        address = url.removeprefix("http://")
        monkeypatch.setattr("os.environ", {"RAY_ADDRESS": address})
        with pytest.raises(InputError, match=f"cluster at {address} cannot be joined.*refused") as told:
            cluster.start(1, 1.0)
    assert "RAY_ADDRESS" in told.value.remedy


@pytest.mark.parametrize(
    ("given", "has_file", "mode"),
    [
        ({}, False, "disabled"),
        ({}, True, "token"),
        ({"RAY_AUTH_TOKEN": "x"}, False, "token"),
        ({"RAY_AUTH_TOKEN_PATH": "x"}, False, "token"),
    ],
)
def test_a_cluster_is_joined_with_a_token_if_there_is_one(
    given: dict[str, str], has_file: bool, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the environment or the user's file has one; said in any case. Clusters are left on."""
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    if has_file:
        (tmp_path / ".ray").mkdir()
        (tmp_path / ".ray" / "auth_token").write_text("x")
    settings = cluster.environment("10.0.0.1:6379", given)
    assert settings["RAY_AUTH_MODE"] == mode
    assert "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" not in settings


def test_on_one_machine_each_run_has_a_token_of_its_own() -> None:
    """64 hexadecimal digits, never the same, on loopback alone."""
    first, second = cluster.environment(None, {}), cluster.environment(None, {})
    assert (first["RAY_AUTH_MODE"], first["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"]) == ("token", "0")
    assert len(bytes.fromhex(first["RAY_AUTH_TOKEN"])) == 32
    assert first["RAY_AUTH_TOKEN"] != second["RAY_AUTH_TOKEN"]
