"""What Prometheus and the dashboards say of a run, held against the run's own summary.json.

    python benchmarks/metrics_agreement.py [--seconds 120] [--concurrency 32] [--questions 40]
        [--intervals 1,15] [--kill] [--all]

Runs a plan of four arms on the simulator with one real Prometheus for each scrape interval, and asks them at the end:
what the run counts (trials by outcome, tokens by kind, money), which must be equal, and every latency quantile of the
dashboards over the whole run, which must lie in the bucket of the exact one or beside it. Every expression of
dashboards/*.json is asked with the window that Grafana would take; its last value is shown (`--all`: of each series).
`--kill` kills one worker in mid-run: no counter may fall in any scrape, and nothing may be in flight at the end.

Exit code 1 when anything disagrees. Needs prometheus (Debian: apt-get install prometheus).
"""

from __future__ import annotations

import argparse
import bisect
import contextlib
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadrig.live.dashboards.setup import Setup, write
from loadrig.live.metrics import SECONDS, SHORT_SECONDS
from loadrig.outside import get_json
from loadrig.words.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_S = 90.0
PLAN = """\
name = "agreement"
[corpus]
path = "{root}/corpora/huskbook"
[questions]
path = "{root}/questions/huskbook.jsonl"
limit = {questions}
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
k = 5
[[arm]]
kind = "full_context"
[[arm]]
kind = "agentic"
[load]
concurrency = [{concurrency}]
duration_s = {seconds}
warmup = 8
workers = 2
fleet = "process"
cpus_per_worker = 0.5
"""
MEASURES = {  # a histogram's name, and the summary's for the same thing; of a turn: alike where a trial has one
    "time_to_first_token_seconds": ("ttft", "turn"),
    "time_to_first_answer_token_seconds": ("ttfat", "trial"),
    "trial_duration_seconds": ("service", "trial"),
    "time_per_output_token_seconds": ("tpot", "turn"),
}
BESIDE = ("probe", "priming", "summaries", "judge")  # no trials: in the bill, and in no metric


@dataclass(frozen=True)
class Prometheus:
    """One that runs, by its address, and how often it scrapes."""

    url: str
    interval_s: int
    folder: Path

    def watch(self, target: str) -> None:
        """Begins to scrape `host:port`."""
        targets = self.folder / "targets" / "loadrig.json"
        fresh = targets.with_suffix(".new")
        fresh.write_text(json.dumps([{"targets": [target]}]))
        fresh.replace(targets)

    def ask(self, expr: str, at_s: float | None = None) -> list[dict[str, Any]]:
        """The series of an instant query that have a finite value."""
        params = {"query": expr, **({} if at_s is None else {"time": f"{at_s:.3f}"})}
        found = get_json(f"{self.url}/api/v1/query", params)["data"]["result"]
        return [one for one in found if "values" in one or math.isfinite(float(one["value"][1]))]

    def last(self, expr: str, span: tuple[float, float]) -> list[tuple[dict[str, str], float]]:
        """The last finite value of each series over a span of time."""
        params = {"query": expr, "start": f"{span[0]:.3f}", "end": f"{span[1]:.3f}", "step": f"{self.interval_s}"}
        found = get_json(f"{self.url}/api/v1/query_range", params)["data"]["result"]
        finite = [(one["metric"], [float(value) for _, value in one["values"]]) for one in found]
        kept = [(labels, [value for value in values if math.isfinite(value)]) for labels, values in finite]
        return [(labels, values[-1]) for labels, values in kept if values]


@contextlib.contextmanager
def prometheus(interval_s: int, folder: Path) -> Iterator[Prometheus]:
    """A Prometheus on a free loopback port with the configuration that we ship; what it scrapes is named later."""
    write(Setup(interval_s=interval_s, targets=("127.0.0.1:1",)), folder)
    command = [
        "prometheus", "--web.listen-address=127.0.0.1:0", f"--storage.tsdb.path={folder / 'data'}",
        f"--config.file={folder / 'prometheus.yml'}",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield Prometheus(_address(folder / "log", process), interval_s, folder)
        finally:
            process.terminate()
            process.wait(30)


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Where a server that was given port 0 says that it listens, once it answers."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r'msg="Listening on" address=(127\.0\.0\.1:\d+)', log.read_text()):
            url = f"http://{found[1]}"
            with contextlib.suppress(InputError):
                get_json(f"{url}/api/v1/query", {"query": "1"})
                return url
        time.sleep(0.1)
    raise SystemExit(f"prometheus did not start:\n{log.read_text()}")


@dataclass(frozen=True)
class Ran:
    """A run that ended: its summary, and the wall times of its first scrape, of its end, and of the last scrape."""

    summary: dict[str, Any]
    began_s: float
    ended_s: float
    scraped_s: float

    @property
    def window(self) -> str:
        return f"{math.ceil(self.scraped_s - self.began_s) + 60}s"


def run(plan: Path, watchers: list[Prometheus], *, kill_after_s: float | None) -> Ran:
    """Runs the plan, and ends its linger when every Prometheus has seen the final state."""
    results = plan.parent / "results"
    linger_s = 3 * max(one.interval_s for one in watchers) + 60
    command = [
        sys.executable, "-c", "from loadrig.cli import main; main()", "run", str(plan), "--metrics-port", "0",
        "--linger", str(linger_s), "--out", str(results),
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        began_s = ended_s = 0.0
        for line in process.stderr:
            print("   ", line.rstrip(), file=sys.stderr)
            if found := re.search(r"metrics at http://(\S+)/metrics", line):
                began_s = time.time()
                for watcher in watchers:
                    watcher.watch(found[1])
            if kill_after_s is not None and began_s and time.time() - began_s > kill_after_s:
                kill_after_s = None
                _kill_a_worker(results)
            if "metrics stay at" in line:
                ended_s = time.time()
                break
        scraped_s = max((_seen(watcher, ended_s) for watcher in watchers), default=0.0)
        process.send_signal(signal.SIGINT)
        process.communicate()
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    return Ran(json.loads((folder / "summary.json").read_text()), began_s, ended_s, scraped_s)


def _kill_a_worker(results: Path) -> None:
    """As the kernel would: the last worker of the manifest gets no chance to say anything."""
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    worker = json.loads((folder / "manifest.json").read_text())["workers"][-1]
    print(f"    killing {worker['name']}, pid {worker['pid']}", file=sys.stderr)
    os.kill(worker["pid"], signal.SIGKILL)


def _seen(watcher: Prometheus, ended_s: float) -> float:
    """When a scrape began that saw the run's final state."""
    deadline = time.monotonic() + 3 * watcher.interval_s + PATIENCE_S
    while time.monotonic() < deadline:
        found = watcher.ask("timestamp(loadrig_trials_in_flight)")
        if found and float(found[0]["value"][1]) > ended_s:
            return float(found[0]["value"][1])
        time.sleep(0.2)
    raise SystemExit(f"no scrape of the final state at {watcher.interval_s} s")


@dataclass(frozen=True)
class Held:
    """An expression's value against the summary's; `verdict`: `equal`, `same bucket`, `next bucket`, or worse."""

    expr: str
    series: str
    found: float | None
    expected: float
    verdict: str

    @property
    def is_right(self) -> bool:
        return self.verdict in ("equal", "same bucket", "next bucket")


def counts(watcher: Prometheus, ran: Ran) -> Iterator[Held]:
    """What is counted, at the last scrape: equal, or wrong."""
    arms = ran.summary["arms"]
    trials = 'sum by (arm, outcome) (loadrig_trials_total{phase!="warmup"})'
    outcomes: dict[tuple[str, ...], float] = {}
    for arm in arms:
        for one in arm["outcomes"]:
            key = (arm["arm"], one["outcome"])
            outcomes[key] = outcomes.get(key, 0) + one["n"]
    yield from _equal(watcher, ran, trials, ("arm", "outcome"), outcomes)
    tokens: dict[tuple[str, ...], float] = {}
    for arm in arms:
        means = arm["tokens_per_question"]
        for kind, name in (("input", "uncached"), ("output", "output")):
            if means[name] is not None:
                tokens[arm["arm"], kind] = tokens.get((arm["arm"], kind), 0) + round(means[name] * means["n"])
    expr = 'sum by (arm, kind) (loadrig_tokens_total{phase!="warmup",kind=~"input|output"})'
    yield from _equal(watcher, ran, expr, ("arm", "kind"), tokens)
    spent = sum(
        float(line["money"]["amount"] or 0) for line in ran.summary["bill"]["lines"] if line["name"] not in BESIDE
    )  # fmt: skip
    expr = "sum by (currency) (loadrig_cost_total)"
    yield from _equal(watcher, ran, expr, ("currency",), {(ran.summary["currency"],): spent})


def _equal(
    watcher: Prometheus, ran: Ran, expr: str, labels: tuple[str, ...], expected: dict[tuple[str, ...], float]
) -> Iterator[Held]:
    found = {
        tuple(one["metric"].get(label, "") for label in labels): float(one["value"][1])
        for one in watcher.ask(expr, ran.scraped_s)
    }
    for key in sorted(expected.keys() | {key for key, value in found.items() if value}):
        value, right = found.get(key), expected.get(key, 0.0)
        is_equal = value is not None and math.isclose(value, right, rel_tol=1e-9, abs_tol=1e-9)
        yield Held(expr, " ".join(key), value, right, "equal" if is_equal else "DIFFERS")


def expressions() -> list[tuple[str, str]]:
    """Title and expression of every query of the dashboards; where an interval is chosen, with the one shown first."""

    def of(panels: list[dict[str, Any]], chosen: dict[str, str]) -> Iterator[tuple[str, str]]:
        for panel in panels:
            yield from of(panel.get("panels", []), chosen)
            for target in panel.get("targets", []):
                expr = target["expr"]
                for name, length in chosen.items():
                    expr = expr.replace(f"${name}", length)
                yield panel.get("title", ""), expr

    boards = [json.loads(path.read_text()) for path in sorted((ROOT / "dashboards").glob("*.json"))]
    found: list[tuple[str, str]] = []
    for board in boards:
        variables = board["templating"]["list"]
        chosen = {one["name"]: one["current"]["value"] for one in variables if one["type"] == "interval"}
        found += of(board["panels"], chosen)
    return list(dict.fromkeys(found))


def filled(expr: str, ran: Ran, *, window: str, step: str) -> str:
    """With windows in the place of Grafana's own, and anything for the variables."""
    for name, length in (("rate_interval", window), ("interval", step), ("range", ran.window)):
        expr = re.sub(rf"\$\{{?__{name}\}}?", length, expr)
    return re.sub(r"\$\{?\w+(:\w+)?\}?", ".*", expr)


def quantiles(watcher: Prometheus, ran: Ran) -> Iterator[Held]:
    """Each latency quantile of the dashboards over the whole run, by arm, against the exact one."""
    for expr in dict.fromkeys(expr for _, expr in expressions()):
        found = re.search(r"histogram_quantile\(\s*([\d.]+).*?loadrig_(\w+)_bucket", expr)
        if not found or found[2] not in MEASURES or "arm" not in expr:
            continue
        name, of = MEASURES[found[2]]
        exact = _exact(ran.summary, name, f"p{100 * float(found[1]):g}", of)
        whole = filled(expr, ran, window=ran.window, step=f"{watcher.interval_s}s")
        edges = SHORT_SECONDS if "per_output_token" in found[2] else SECONDS
        for one in watcher.ask(whole, ran.scraped_s):
            arm = one["metric"].get("arm", "")
            if arm in exact:
                value, right = float(one["value"][1]), exact[arm]
                apart = abs(bisect.bisect_left(edges, value) - bisect.bisect_left(edges, right))
                verdict = ("same bucket", "next bucket")[apart] if apart < 2 else f"{apart} BUCKETS APART"
                yield Held(f"p{100 * float(found[1]):g} of {found[2]}", arm, value, right, verdict)


def _exact(summary: dict[str, Any], name: str, q: str, of: str) -> dict[str, float]:
    """In seconds by arm, where the summary has it; what is of a turn only for arms with one turn a trial."""
    exact = {}
    for arm in summary["arms"]:
        spread = arm[name].get("successes", arm[name])
        quantile = spread.get(q)
        if quantile and quantile["value_ns"] is not None and (of == "trial" or arm["turns"]["max"] == 1):
            exact[arm["arm"]] = quantile["value_ns"] / 1e9
    return exact


def falls(watcher: Prometheus, ran: Ran) -> tuple[int, int, int, list[str]]:
    """How many series of counters and how many of their samples there are, in flight at the end, and which fell."""
    found = watcher.ask(f'{{__name__=~"loadrig_.*_(total|count|bucket|sum)"}}[{ran.window}]', ran.scraped_s)
    fell, samples = [], 0
    for one in found:
        values = [float(value) for _, value in one["values"]]
        samples += len(values)
        if any(later < earlier for earlier, later in itertools.pairwise(values)):
            fell.append(str(one["metric"]))
    (left,) = (int(float(one["value"][1])) for one in watcher.ask("loadrig_trials_in_flight", ran.scraped_s))
    return len(found), samples, left, fell


def show(watcher: Prometheus, ran: Ran, *, everything: bool) -> bool:
    """Prints the tables of one Prometheus; whether all is right."""
    print(f"\n== scraped every {watcher.interval_s} s (simulated) ==")
    right = True
    for title, held in (("counts at the last scrape", counts), ("quantiles over the whole run", quantiles)):
        rows = list(held(watcher, ran))
        right &= bool(rows) and all(row.is_right for row in rows)
        print(f"\n{title}: {sum(row.is_right for row in rows)} of {len(rows)} agree")
        for expr in dict.fromkeys(row.expr for row in rows):
            print(f"  {expr}")
            for row in (row for row in rows if row.expr == expr):
                shown = "none" if row.found is None else f"{row.found:.6g}"
                print(f"    {row.series:32} {shown:>12}  summary.json {row.expected:.6g}  {row.verdict}")
    series, samples, left, fell = falls(watcher, ran)
    right &= not fell and left == 0
    print(f"\ncounters: {len(fell)} of {series} series fell over {samples} samples; {left} in flight at the end")
    print("\n".join(f"  FELL {one}" for one in fell))
    print("expressions of the dashboards, last value in the run:")
    for title, expr in expressions():
        asked = filled(expr, ran, window=f"{4 * watcher.interval_s}s", step=f"{watcher.interval_s}s")
        last = watcher.last(asked, (ran.began_s, ran.scraped_s))
        print(f"  {title}: {' '.join(expr.split())}\n    {len(last)} series")
        for labels, value in last if everything else last[:2]:
            named = ", ".join(f"{key}={value}" for key, value in labels.items() if key not in ("instance", "job"))
            print(f"      {named or 'all'}: {value:.6g}")
    return right


def main() -> int:
    """Runs once, prints a table for each Prometheus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--intervals", default="1,15")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    if shutil.which("prometheus") is None:
        raise SystemExit("prometheus is not installed (Debian: apt-get install prometheus)")
    with tempfile.TemporaryDirectory(prefix="agreement-") as place, contextlib.ExitStack() as stack:
        plan = Path(place) / "plan.toml"
        plan.write_text(PLAN.format(root=ROOT, **vars(asked)))
        watchers = [
            stack.enter_context(prometheus(int(one), Path(place) / f"every-{one}s"))
            for one in asked.intervals.split(",")
        ]
        ran = run(plan, watchers, kill_after_s=asked.seconds / 2 if asked.kill else None)
        right = [show(watcher, ran, everything=asked.all) for watcher in watchers]
        return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
