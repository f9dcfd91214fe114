"""The metrics and the shipped files before a real Prometheus: what a run exports is scraped as it was counted."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from busy_run import fed_metrics
from prometheus_server import MISSING, REASON, at, prometheus

from loadrig.live.dashboards.setup import Setup, write
from loadrig.live.endpoint import Endpoint

DASHBOARDS = Path(__file__).resolve().parents[2] / "dashboards"
PATIENCE_S = 90

pytestmark = [pytest.mark.prometheus, pytest.mark.skipif(MISSING, reason=REASON)]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(fed_metrics().registry) as serving:
        yield serving


def test_values_arrive_as_they_were_counted(endpoint: Endpoint, tmp_path: Path) -> None:
    """Prometheus, with the configuration that the command writes, comes to hold the run's 1,000 planned trials, and
    that one of every three failed."""
    write(Setup(targets=(f"127.0.0.1:{endpoint.port}",), interval_s=1), tmp_path)
    expected = {
        "loadrig_trials_planned_total": 1000,
        '3 * sum(loadrig_trials_total{outcome="failed"}) - sum(loadrig_trials_total)': 0,
    }
    found: dict[str, float] = {}
    deadline = time.monotonic() + PATIENCE_S
    with prometheus(tmp_path, tmp_path / "prometheus.yml") as address:
        while found != expected and time.monotonic() < deadline:
            found = {expr: value for expr in expected for _, value in at(address, expr, time.time())}
            time.sleep(0.2)
    assert found == expected


def test_promtool_accepts_the_metrics(endpoint: Endpoint) -> None:
    """Names, types, units and help texts follow Prometheus' own conventions."""
    exposition = httpx.get(str(endpoint.url)).content
    checked = subprocess.run(["promtool", "check", "metrics"], input=exposition, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [("check", "config", "prometheus.yml"), ("test", "rules", "rules_test.yml")])
def test_promtool_accepts_the_files(arguments: tuple[str, ...]) -> None:
    """The scrape configuration is valid; each alert speaks when it should and only then, and each run's totals are
    kept under its name."""
    checked = subprocess.run(["promtool", *arguments], cwd=DASHBOARDS, capture_output=True, check=False)
    assert checked.returncode == 0, (checked.stdout + checked.stderr).decode()


def test_promtool_accepts_what_was_chosen(tmp_path: Path) -> None:
    """Other intervals, addresses and sums make files that are valid, too."""
    chosen = Setup(datasource='a "b"', targets=("h:1", "[::1]:2"), gateways=("127.0.0.1:9091",), interval_s=40)
    write(chosen, tmp_path)
    command = ["promtool", "check", "config", "prometheus.yml"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert checked.returncode == 0, (checked.stdout + checked.stderr).decode()
