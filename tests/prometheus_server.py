"""A real Prometheus on loopback, and queries of a dashboard as Grafana would send them."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import msgspec

Line = tuple[dict[str, str], list[float]]
MISSING = not (shutil.which("prometheus") and shutil.which("promtool"))
REASON = "prometheus and promtool are not installed (Debian: apt-get install prometheus)"
PATIENCE_S = 60


@contextmanager
def prometheus(folder: Path, configuration: Path, *flags: str) -> Iterator[str]:
    """The address of a server that keeps its data below `folder`; it takes a free port by itself, and tells."""
    log = folder / "prometheus.log"
    command = [
        "prometheus", "--web.listen-address=127.0.0.1:0", f"--storage.tsdb.path={folder / 'data'}",
        f"--config.file={configuration}", *flags,
    ]  # fmt: skip
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        try:
            yield _ready(process, log)
        finally:
            process.terminate()
            process.wait(30)


def _ready(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"Listening on\W+address=(127\.0\.0\.1:\d+)", log.read_text())
        if found and _is_answering(address := f"http://{found[1]}"):
            return address
        time.sleep(0.05)
    raise AssertionError(f"prometheus did not start: {log.read_text()[-2000:]}")


def _is_answering(address: str) -> bool:
    try:
        _asked(address, "query", query="1")
    except OSError:
        return False
    return True


@cache
def _asked(address: str, what: str, **params: str) -> list[dict[str, Any]]:
    """The series of an answer; the same question about the same time is asked once."""
    with urlopen(f"{address}/api/v1/{what}?{urlencode(params)}", timeout=60) as reply:
        found: list[dict[str, Any]] = msgspec.json.decode(reply.read())["data"]["result"]
    return found


def as_grafana(text: str, *, scrape_s: float, span_s: float, step_s: float = 0, **chosen: str) -> str:
    """An expression with its variables replaced: `$__rate_interval` by the rule of Grafana's Prometheus source, what is
    not chosen by all."""
    step_s = max(step_s, scrape_s)
    values = {
        "__rate_interval": f"{max(step_s + scrape_s, 4 * scrape_s):g}s",
        "__interval": f"{step_s:g}s",
        "__range": f"{math.ceil(span_s)}s",
        **dict.fromkeys(("run", "arm", "model"), ".*"),
        **chosen,
    }
    return re.sub(r"\$(\w+)", lambda found: values[found[1]], text)


def at(address: str, expr: str, when_s: float) -> list[tuple[dict[str, str], float]]:
    """Labels and value of each series at an instant, NaN left out."""
    found = _asked(address, "query", query=expr, time=f"{when_s:.3f}")
    values = ((series["metric"], float(series["value"][1])) for series in found)
    return [(labels, value) for labels, value in values if not math.isnan(value)]


def over(address: str, expr: str, *, start_s: float, end_s: float, step_s: float) -> list[Line]:
    """Labels and values of each series over a range, NaN left out."""
    span = {"start": f"{start_s:.3f}", "end": f"{end_s:.3f}", "step": f"{step_s:g}"}
    found = _asked(address, "query_range", query=expr, **span)
    lines = ((series["metric"], [float(value) for _, value in series["values"]]) for series in found)
    kept = ((labels, [value for value in values if not math.isnan(value)]) for labels, values in lines)
    return [(labels, values) for labels, values in kept if values]
