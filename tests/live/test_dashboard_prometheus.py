"""The metrics and the dashboard before a real Prometheus: what a run exports is scraped, and every panel has data."""

from __future__ import annotations

import json
import math
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from busy_run import fed_metrics, feed

from loadrig.live.endpoint import Endpoint
from loadrig.live.metrics import Metrics
from loadrig.outside import get_json
from loadrig.words.errors import InputError

DASHBOARDS = Path(__file__).resolve().parents[2] / "dashboards"
PATIENCE_S = 90

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(
        not (shutil.which("prometheus") and shutil.which("promtool")),
        reason="prometheus and promtool are not installed (Debian: apt-get install prometheus)",
    ),
]


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def our_configuration(folder: Path, target: str) -> Path:
    """dashboards/prometheus.yml with this test's target, scraped every second."""
    configuration = yaml.safe_load((DASHBOARDS / "prometheus.yml").read_text())
    configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    configuration["rule_files"] = [str(DASHBOARDS / "rules.yml")]
    configuration["scrape_configs"][0]["static_configs"] = [{"targets": [target]}]
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(configuration))
    return path


@pytest.fixture(scope="module")
def metrics() -> Metrics:
    return fed_metrics()


@pytest.fixture(scope="module")
def endpoint(metrics: Metrics) -> Iterator[Endpoint]:
    with Endpoint(metrics.registry) as serving:
        yield serving


@pytest.fixture(scope="module")
def prometheus(endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prometheus on loopback that scrapes the endpoint; its address."""
    folder = tmp_path_factory.mktemp("prometheus")
    listen = f"127.0.0.1:{free_port()}"
    command = [
        "prometheus", f"--web.listen-address={listen}", f"--storage.tsdb.path={folder / 'data'}",
        f"--config.file={our_configuration(folder, f'127.0.0.1:{endpoint.port}')}",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield f"http://{listen}"
        finally:
            process.terminate()
            process.wait(30)


def answer(prometheus: str, expr: str) -> list[dict[str, Any]]:
    """The series of an instant query that have a finite value; none while the server still starts."""
    for variable, value in (("$__rate_interval", "10s"), ("$arm", ".*"), ("$model", ".*")):
        expr = expr.replace(variable, value)
    try:
        found = get_json(f"{prometheus}/api/v1/query", {"query": expr})["data"]["result"]
    except InputError as error:
        if "no answer" in error.problem or "answered 503" in error.problem:
            return []
        raise
    return [series for series in found if math.isfinite(float(series["value"][1]))]


def unlabelled(prometheus: str, target: dict[str, Any]) -> bool:
    """Whether a query of the dashboard gives no line yet, or one without a label that its legend shows."""
    needed = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
    found = answer(prometheus, target["expr"])
    return not found or any(needed - series["metric"].keys() for series in found)


def test_every_panel_has_data(metrics: Metrics, prometheus: str) -> None:
    """While trials go on ending, each query of the dashboard gives a line, with the labels that its legend shows."""
    board = json.loads((DASHBOARDS / "loadrig.json").read_bytes())
    empty = [target for panel in board["panels"] for target in panel["targets"]]
    deadline = time.monotonic() + PATIENCE_S
    while empty and time.monotonic() < deadline:
        feed(metrics)
        empty = [target for target in empty if unlabelled(prometheus, target)]
        time.sleep(0.2)
    assert [target["expr"] for target in empty] == []


def test_values_arrive_as_they_were_counted(prometheus: str) -> None:
    """Prometheus comes to hold the run's 1,000 planned trials, and that one of every three failed."""
    expected = {
        "loadrig_trials_planned_total": 1000,
        '3 * sum(loadrig_trials_total{outcome="failed"}) - sum(loadrig_trials_total)': 0,
    }
    found: dict[str, float] = {}
    deadline = time.monotonic() + PATIENCE_S
    while found != expected and time.monotonic() < deadline:
        found = {expr: float(series["value"][1]) for expr in expected for series in answer(prometheus, expr)}
        time.sleep(0.2)
    assert found == expected


def test_promtool_accepts_the_metrics(endpoint: Endpoint) -> None:
    """Names, types, units and help texts follow Prometheus' own conventions."""
    exposition = httpx.get(str(endpoint.url)).content
    checked = subprocess.run(["promtool", "check", "metrics"], input=exposition, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [("check", "config", "prometheus.yml"), ("test", "rules", "rules_test.yml")])
def test_promtool_accepts_the_files(arguments: tuple[str, ...]) -> None:
    """The scrape configuration is valid, and each alert speaks when it should and only then."""
    checked = subprocess.run(["promtool", *arguments], cwd=DASHBOARDS, capture_output=True, check=False)
    assert checked.returncode == 0, (checked.stdout + checked.stderr).decode()
