"""A real pushgateway, and a real Prometheus that scrapes it: what a run too short to be scraped leaves there."""

from __future__ import annotations

import contextlib
import math
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from busy_run import fed_metrics
from command import Called, here, loadrig, only_run, write_plan

from loadrig.live.pushing import Pusher
from loadrig.outside import get_json
from loadrig.words.errors import InputError

PATIENCE_S = 90

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(
        not (shutil.which("prometheus") and shutil.which("prometheus-pushgateway") and shutil.which("promtool")),
        reason="prometheus and its pushgateway are not installed "
        "(Debian: apt-get install prometheus prometheus-pushgateway)",
    ),
]


@contextmanager
def listening(folder: Path, *command: str) -> Iterator[str]:
    """A server given port 0, at the address that its log tells."""
    log = folder / "log"
    with log.open("wb") as written, subprocess.Popen(command, stdout=written, stderr=written) as process:
        try:
            (address,) = waited(lambda: re.findall(r'msg="Listening on" address=([\d.]+:\d+)', log.read_text())[:1])
            yield f"http://{address}"
        finally:
            process.terminate()
            process.wait(30)


def waited(found: Callable[[], list[Any]]) -> list[Any]:
    """What is found, as soon as there is something."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(InputError):  # the server still starts
            if there := found():
                return there
        time.sleep(0.1)
    raise AssertionError("nothing came")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A pushgateway on loopback, which keeps nothing: Debian's would take up what an earlier one was pushed."""
    flags = ["--web.listen-address=127.0.0.1:0", "--persistence.file="]
    with listening(tmp_path_factory.mktemp("gateway"), "prometheus-pushgateway", *flags) as url:
        yield url


@pytest.fixture(scope="module")
def prometheus(gateway: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prometheus that scrapes the gateway every second, and keeps the labels that were pushed."""
    folder = tmp_path_factory.mktemp("prometheus")
    target = {"targets": [gateway.removeprefix("http://")]}
    scrape = {"job_name": "push", "honor_labels": True, "static_configs": [target]}
    configuration = {"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    with listening(
        folder, "prometheus", "--web.listen-address=127.0.0.1:0", f"--storage.tsdb.path={folder / 'data'}",
        f"--config.file={folder / 'prometheus.yml'}",
    ) as url:  # fmt: skip
        yield url


@pytest.fixture(scope="module")
def pushed(gateway: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Called]:
    """A run of 22 trials whose metrics were pushed, as a user starts it: its results and what it said."""
    folder = tmp_path_factory.mktemp("pushed")
    flags = ["--out", folder / "results", "--inline", "--pushgateway", gateway]
    return folder / "results", loadrig("run", write_plan(folder), *flags)


def asked(prometheus: str, expr: str) -> list[tuple[dict[str, str], float]]:
    found = get_json(f"{prometheus}/api/v1/query", {"query": expr})["data"]["result"]
    return [(series["metric"], float(series["value"][1])) for series in found]


def test_a_short_run_leaves_its_totals(prometheus: str, pushed: tuple[Path, Called]) -> None:
    """Its 22 trials, under job loadrig and its own id, and nothing in flight, though nobody has scraped the run."""
    results, called = pushed
    assert called.code == 0, called.err
    run = only_run(results).path.name
    counted = f'sum by (job, run) (loadrig_trials_total{{run="{run}",outcome="answered"}})'
    assert waited(lambda: asked(prometheus, counted)) == [({"job": "loadrig", "run": run}, 22)]
    ((_, in_flight),) = asked(prometheus, f'loadrig_trials_in_flight{{run="{run}"}}')
    assert in_flight == 0


def test_the_final_state_holds_nothing_recent(gateway: str, pushed: tuple[Path, Called]) -> None:
    """What a gateway keeps for ever is no latency of the last ten seconds, and no lag."""
    text = httpx.get(f"{gateway}/metrics").text
    assert "loadrig_trial_duration_seconds_count{" in text
    assert "_10s_seconds{" not in text
    lags = re.findall(r"^loadrig_event_loop_lag_seconds{.*} (\S+)$", text, re.MULTILINE)
    assert lags
    assert all(math.isnan(float(lag)) for lag in lags)


def test_another_push_of_a_run_takes_the_place_of_the_first(gateway: str) -> None:
    """Two pushes of one run leave one group, another run's its own beside it."""
    for run in ("r1", "r1", "r2"):
        with Pusher(fed_metrics().registry, gateway, run, say=pytest.fail):
            pass
    text = httpx.get(f"{gateway}/metrics").text
    assert sorted(re.findall(r'^loadrig_trials_planned_total{.*run="(r\d)"} 1000$', text, re.MULTILINE)) == ["r1", "r2"]


def test_promtool_accepts_what_was_pushed(gateway: str, pushed: tuple[Path, Called]) -> None:
    """Names, types, units and help texts follow Prometheus' own conventions."""
    ours = ("loadrig_", "# HELP loadrig_", "# TYPE loadrig_")
    text = "\n".join(line for line in httpx.get(f"{gateway}/metrics").text.splitlines() if line.startswith(ours))
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=f"{text}\n", text=True, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_a_gateway_that_is_down_does_not_fail_a_run(tmp_path: Path) -> None:
    """Nobody listens at the gateway's port: the run ends with 0, its records are there, and it says what is missing."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{held.getsockname()[1]}"
        flags = ["--out", tmp_path / "results", "--inline", "--pushgateway", down]
        called = here("run", write_plan(tmp_path), *flags)
    assert called.code == 0, called.err
    assert "warning: metrics cannot be pushed, the run goes on without: no answer from" in called.err
    assert "warning: the pushgateway does not have the run's final metrics" in called.err
    assert "warning: warning:" not in called.err
    assert len(only_run(tmp_path / "results").records) == 22


def test_what_is_no_address_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """Exit code 2 with a remedy, and no folder of a run."""
    called = here("run", write_plan(tmp_path), "--out", tmp_path / "results", "--inline", "--pushgateway", "ftp://here")
    assert called.code == 2
    assert "such as --pushgateway http://127.0.0.1:9091" in called.err
    assert not (tmp_path / "results").exists()
