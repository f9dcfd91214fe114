"""Ray on one machine: a run's own, which cannot be reached from another."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import run, until
from command import LOADRIG, QUICK, write_plan
from listening import listening

LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.fixture
def ray_folder() -> Iterator[Path]:
    """Where Ray keeps its files, with the address of a cluster that is not there. Short: it is in sockets' paths."""
    with tempfile.TemporaryDirectory(prefix="lr", dir="/tmp") as name:
        (Path(name) / "ray").mkdir()
        (Path(name) / "ray" / "ray_current_cluster").write_text("127.0.0.1:1")
        yield Path(name)


@pytest.mark.ray
def test_all_of_rays_ports_are_on_loopback(tmp_path: Path, ray_folder: Path) -> None:
    """While a run goes on over Ray no socket of its processes listens on any address but 127.0.0.1 and ::1, and there
    are some: GCS, raylet, driver, workers and agents have one each at least. It is a Ray of the run's own, though Ray
    left word of one that somebody else has started here."""
    plan = write_plan(tmp_path, QUICK.replace("[corpus]", "repetitions = 10\n[corpus]"))
    command = [*LOADRIG, "run", str(plan), "--out", str(tmp_path / "results"), "--fleet", "ray", "--metrics-port", "0"]
    environment = {**os.environ, "RAY_TMPDIR": str(ray_folder)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            files = tmp_path / "results"
            run(until(lambda: process.poll() is not None or _bytes(files) > 5000))
            assert process.poll() is None
            found = listening(process.pid)
        finally:
            process.terminate()
    assert {told for told in found if told[1] not in LOOPBACK} == set()
    names = " ".join(name for name, _ in found)
    assert [word for word in ("gcs_server", "raylet", "ray::Actor", "RuntimeEnv", "loadrig") if word not in names] == []


def test_a_socket_on_all_addresses_would_be_seen() -> None:
    """One of ours on 0.0.0.0 and one on ::, told apart from one on loopback."""
    with (
        socket.create_server(("127.0.0.1", 0)),
        socket.create_server(("0.0.0.0", 0)),
        socket.create_server(("::", 0), family=socket.AF_INET6),
    ):
        found = {address for _, address in listening(os.getpid())}
    assert found == {"0100007F", "00000000", "0" * 32}


def _bytes(results: Path) -> int:
    """What has been written of records."""
    return sum(path.stat().st_size for path in results.glob("*/records.jsonl"))
