"""Pictures of both dashboards, and their figures beside those of the run's own summary.

    python benchmarks/dashboard_pictures.py [--levels 2,4,8,16,32] [--seconds 24] [--scrapes 2] [--only run]

Fires a run on the embedded simulator, scraped by a Prometheus for each interval in --scrapes (seconds, such as 1,15)
with the shipped configuration, and draws the dashboards by Grafana's own components. The first interval makes
dashboard-run.png, each further one dashboard-run-15s.png and the like. The nights are a made-up history of fourteen:
a price that falls, a prompt that grows, a night that is missing. Prints expression, series, last value, and what
summary.json says.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "grafana")]

import grafana_page  # noqa: E402
import msgspec  # noqa: E402
import numpy as np  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402
from prometheus_server import as_grafana, at, prometheus  # noqa: E402

from loadrig.live.dashboards.setup import Setup, files, write  # noqa: E402

FILES = files(Setup())
MARK = "SIMULATED"
HEIGHT, SCALE = 4_600, 0.7
LINGER_S = 16
SCENARIO = """\
slots = 12
base_ms = 250
prefill_us_per_token = 4
decode_ms_per_token = 6
jitter = 0.25
thinking_tokens = 15
rate_429 = 0.01
rate_529 = 0.01
rate_cut = 0.005
"""
PLAN = """\
name = "sweep"
seed = 7
allowed_failure_share = 1.0
[corpus]
path = "corpora/huskbook"
[questions]
path = "questions/huskbook.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
scenario = "FOLDER/scenario.toml"
[[arm]]
kind = "rag"
k = 10
[[arm]]
kind = "full_context"
cache = "5m"
[[arm]]
kind = "agentic"
[retry]
attempts = 1
[load]
concurrency = [LEVELS]
duration_s = SECONDS
warmup = 4
workers = 1
"""


def main() -> int:
    """Both boards, one after the other."""
    given = _arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=grafana_page.chromium(), args=grafana_page.ARGUMENTS)
        viewport = {"width": grafana_page.WIDTH, "height": HEIGHT}
        page = browser.new_page(viewport=viewport, device_scale_factor=SCALE)
        if given.only != "nights":
            _run(Path(folder), given, page)
        if given.only != "run":
            _nights(Path(folder) / "nights", given.out / "dashboard-nights.png", page)
        browser.close()
    return 0


def _run(folder: Path, given: argparse.Namespace, page: Page) -> None:
    """Fires the run and draws its board once for each interval."""
    (folder / "scenario.toml").write_text(SCENARIO)
    words = {"FOLDER": str(folder), "LEVELS": given.levels, "SECONDS": str(given.seconds)}
    (folder / "plan.toml").write_text(re.sub("|".join(words), lambda found: words[found[0]], PLAN))
    command = [sys.executable, "-c", "from loadrig.cli import main; main()", "run", str(folder / "plan.toml")]
    flags = ["--metrics-port", "0", "--linger", str(LINGER_S), "--out", str(folder / "results")]
    with ExitStack() as stack:
        fired = subprocess.Popen([*command, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        stack.enter_context(fired)
        stack.callback(fired.kill)
        assert fired.stderr is not None
        target = next(found[1] for line in fired.stderr if (found := re.search(r"metrics at http://([^/]+)/", line)))
        start_s, servers = time.time(), {}
        for scrape_s in given.scrapes:
            home = folder / f"every-{scrape_s}"
            write(Setup(targets=(target,), interval_s=scrape_s), home)
            servers[scrape_s] = stack.enter_context(prometheus(home, home / "prometheus.yml"))
        next(line for line in fired.stderr if "metrics stay at" in line)
        end_s = time.time() + LINGER_S / 2
        _, told = fired.communicate()
        assert fired.returncode == 0, told
        (run,) = (path for path in (folder / "results").iterdir() if path.is_dir())
        for place, (scrape_s, server) in enumerate(servers.items()):
            name = "dashboard-run.png" if place == 0 else f"dashboard-run-{scrape_s}s.png"
            span = {"start": start_s, "end": end_s, "scrape_s": scrape_s}
            _drawn("loadrig.json", server, given.out / name, page, span=span)
            _compared(server, run, **span)


def _drawn(board: str, server: str, picture: Path, page: Page, *, span: dict[str, float]) -> None:
    with grafana_page.served(FILES[board], server) as address:
        seen = grafana_page.look(page, address, **span, mark=MARK)
        page.wait_for_timeout(500)
        clip = {"x": 0, "y": 0, "width": grafana_page.WIDTH, "height": _bottom(page)}
        picture.write_bytes(_fewer_colors(page.screenshot(clip=clip), page))
    bad = [f"{one.title}: {one.state}" for one in seen if one.state != "ok"]
    print(f"{picture}: {len(seen)} panels, {picture.stat().st_size / 1000:.0f} kB; without data: {bad or 'none'}")


def _fewer_colors(png: bytes, page: Page) -> bytes:
    """The same picture in 256 colours, a third of the size: the most frequent ones of sixteen shades a channel, and for
    the others the nearest."""
    read = """async (url) => {
        const image = new Image(); image.src = url; await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
        pen.drawImage(image, 0, 0);
        const {data} = pen.getImageData(0, 0, image.width, image.height);
        const parts = [];
        for (let at = 0; at < data.length; at += 30000) parts.push(String.fromCharCode(...data.slice(at, at + 30000)));
        return [image.width, image.height, btoa(parts.join(''))];
    }"""
    width, height, text = page.evaluate(read, f"data:image/png;base64,{base64.b64encode(png).decode()}")
    pixels = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4)[:, :3]
    _, inverse, counts = np.unique(pixels // 16, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    sums = np.stack([np.bincount(inverse, weights=pixels[:, channel]) for channel in range(3)], axis=1)
    colors = np.rint(sums / counts[:, None]).astype(np.uint8)  # each the mean of what falls into its bin
    kept = colors[np.argsort(counts)[::-1][:256]]
    nearest = ((colors[:, None].astype(int) - kept[None].astype(int)) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
    rows = nearest[inverse].reshape(height, width)
    body = b"".join(b"\0" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", kept.tobytes()), (b"IDAT", zlib.compress(body, 9)), (b"IEND", b""))
    written = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


def _bottom(page: Page) -> int:
    return min(HEIGHT, int(page.evaluate("document.documentElement.getElementsByTagName('body')[0].scrollHeight")))


def _compared(server: str, run: Path, *, start: float, end: float, scrape_s: float) -> None:
    """Prints the columns of the table by stage and what the summary says of the same."""
    summary = msgspec.json.decode((run / "summary.json").read_bytes())
    (table,) = (panel for panel in json.loads(FILES["loadrig.json"])["panels"] if panel["title"] == "By stage")
    exact = {stage["stage"]: _exact(stage) for stage in summary["stages"]}
    print(f"\nscrapes every {scrape_s} s, run {run.name}")
    for target in table["targets"]:
        expr = as_grafana(target["expr"], scrape_s=scrape_s, span_s=end - start, run=run.name)
        print(f"\n{target['legendFormat']}: {expr}")
        for labels, value in sorted(at(server, expr, end), key=lambda line: line[0]["stage"]):
            print(
                f"  {labels['stage']:>4} {value:10.3f}   summary: {exact[labels['stage']].get(target['legendFormat'])}"
            )


def _exact(stage: dict[str, Any]) -> dict[str, float]:
    found = {
        "load": stage["concurrency"], "answered/s": stage["trials_per_s"], "failed": stage["failed"],
        "timed n": stage["service"]["successes"]["p50"]["n"],
    }  # fmt: skip
    for share, one in stage["service"]["successes"].items():
        found[f"latency {share}"] = None if one["value_ns"] is None else one["value_ns"] / 1e9
    return found


def _nights(folder: Path, picture: Path, page: Page) -> None:
    """Draws the board of nights over a history of what the recording rules would have kept."""
    folder.mkdir()
    (folder / "samples").write_text("\n".join(_history()) + "\n# EOF\n")
    (folder / "prometheus.yml").write_text("global: {scrape_interval: 1m}\n")
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "samples", "data"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    end_s = time.time() // 86_400 * 86_400 + 12 * 3_600
    with prometheus(folder, folder / "prometheus.yml") as server:
        span = {"start": end_s - 14 * 86_400, "end": end_s, "scrape_s": 60}
        _drawn("loadrig-nights.json", server, picture, page, span=span)


ARMS = {"control": (60, 0, 40, 0), "rag-bm25-k10": (4_100, 0, 90, 20), "full_context": (900, 21_000, 110, 30),
        "agentic": (9_800, 0, 420, 160)}  # fmt: skip
EDGES_S = (1, 2, 4, 8, 15, 30, 60)


def _history() -> Iterator[str]:
    """Each night at two o'clock, for twenty minutes: 120 questions by four arms. Prices fall by a third on the sixth
    night, the agentic arm's prompts grow by 60 % on the tenth, the eighth night is missing."""
    midnight_s = time.time() // 86_400 * 86_400
    for night in range(14):
        if night == 7:
            continue
        run = f"nightly-{time.strftime('%Y%m%dT020000Z', time.gmtime(midnight_s - (13 - night) * 86_400))}"
        for minute in range(21):
            at_s = midnight_s - (13 - night) * 86_400 + 7_200 + 60 * minute
            yield f'run:loadrig_info:seen{{run="{run}",plan="nightly",simulated="true"}} {at_s} {at_s}'
            for arm in ARMS:
                for name, labels, whole in _night(night, arm, random.Random(f"{night} {arm}")):
                    amount = whole * minute / 20
                    amount = amount if name.startswith("cost") else int(amount)
                    place = f'run="{run}",arm="{arm}",model="claude-haiku-5-5"'
                    yield f"run:loadrig_{name}{{{place}{labels}}} {amount} {at_s}"


def _night(night: int, arm: str, chance: random.Random) -> Iterator[tuple[str, str, float]]:
    """(metric, further labels, its total at the night's end) of an arm."""
    fresh, cached, out, thinking = ARMS[arm]
    grown = 1.6 if arm == "agentic" and night >= 9 else 1.0
    price = 1.0 if night < 5 else 0.667
    failed, cut_off = chance.choice((0, 0, 1, 2)) + (9 if night == 11 else 0), chance.choice((0, 1, 1, 3))
    asked, wobble = 120, chance.uniform(0.96, 1.04) * grown
    tokens = {
        "input": fresh * wobble,
        "cache_write": cached * 0.02,
        "cache_read": cached * 0.98,
        "output": out * wobble,
    }
    for kind, count in tokens.items():
        yield "tokens:total", f',kind="{kind}"', count * asked
    yield "thinking_tokens:total", "", thinking * wobble * asked
    rates = {"input": 1.0, "cache_write": 1.25, "cache_read": 0.1, "output": 5.0}
    money = price * sum(rates[kind] * count for kind, count in tokens.items()) * asked / 1e6
    for phase, share in (("measured", 0.92), ("tail", 0.04), ("warmup", 0.04)):
        yield "cost:total", f',phase="{phase}",currency="USD"', money * share
    outcomes = {
        ("answered", ""): asked - failed - cut_off,
        ("failed", "overloaded"): failed,
        ("unanswered", "cut_off"): cut_off,
    }
    for (outcome, reason), count in outcomes.items():
        yield "trials:total", f',phase="measured",outcome="{outcome}",reason="{reason}"', count
    typical_s = {"control": 1.1, "rag-bm25-k10": 2.0, "full_context": 3.0, "agentic": 9.0}[arm] * wobble
    latencies = [chance.lognormvariate(0, 0.4) * typical_s for _ in range(asked - failed)]
    for edge in EDGES_S:
        yield "trial_duration_seconds:bucket", f',le="{edge}"', sum(one <= edge for one in latencies)
    yield "trial_duration_seconds:bucket", ',le="+Inf"', len(latencies)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", default="2,4,8,16,32")
    parser.add_argument("--seconds", type=float, default=24)
    parser.add_argument("--scrapes", type=lambda text: [int(part) for part in text.split(",")], default=[2])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--only", choices=("run", "nights"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
