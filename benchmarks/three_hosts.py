"""A run over Ray on three hosts, each with an address and a clock of its own, one of which is killed or cut off.

    python benchmarks/three_hosts.py [--case CASE ...] [--silence SECONDS] [--quick-health]

Cases: `blip`, the third host's cable out for less than the limit; `cut`, out for longer, and back; `killed`, kill -9 of
the second host's raylet, which ends its workers; `both`, the second killed and the third cut in one run. The hosts are
network namespaces of this machine (see `hosts.py`), the target is the simulator on the switch between them, and its log
is the witness: by `x-loadrig-attempt` it knows every request it was sent. `--silence` is the limit after which the
driver gives a worker up (10 s as shipped); `--quick-health` has Ray look after its nodes each second, not as it ships.
Exit code 1 when a promise is broken, 2 where hosts cannot be made.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hosts import HEALTH_QUICK, SWITCH, Hosts, hosts, missing, ray_cluster

from loadrig.log import RunFolder, read_run

SCENARIO = "base_ms = 150\ndecode_ms_per_token = 4\njitter = 0.2\n"
PLAN = """
name = "CASE"
repetitions = REPETITIONS
[corpus]
path = "corpora/tiny"
[questions]
path = "questions/tiny.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "URL"
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
k = 1
[load]
LOAD
warmup = 0
cycle = false
workers = WORKERS
"""
CLOSED = "concurrency = [8]"
OPEN = 'rate = [20.0]\narrivals = "constant"\nduration_s = DURATION'
DRIVER = "import loadrig.fleet.handle as one; one.SILENCE_LIMIT_S = {}; from loadrig.cli import main; main()"
BEGUN = 40  # records on file before anything happens
KILLED, CUT = 2, 3  # the hosts
BUSY_MS = 20  # by which a loop of a machine with few cores is late


@dataclass(frozen=True)
class Case:
    """`cpus` of each host, a worker each; what happens once `BEGUN` records are there, as a script."""

    name: str
    cpus: tuple[int, int, int]
    load: str
    repetitions: int
    strike: Callable[[Struck], None]
    struck: frozenset[int]
    lossless: bool = False


@dataclass
class Struck:
    """A run in progress as a case's script sees it. `at_s`: when it did what to which host."""

    on: Hosts
    run: subprocess.Popen[str]
    records: Path
    silence_s: float
    at_s: dict[int, float] = field(default_factory=dict)
    noticed_s: dict[int, float] = field(default_factory=dict)
    hosts: dict[str, int] = field(default_factory=dict)

    def wait(self, until: Callable[[], bool], within_s: float) -> None:
        """Looks each 20 ms, and keeps the instant at which a worker's first lost trial is on file."""
        deadline = time.monotonic() + within_s
        while not until() and time.monotonic() < deadline and self.run.poll() is None:
            time.sleep(0.02)
            self.look()

    def look(self) -> None:
        lines = self.records.read_bytes().splitlines()[1:] if self.records.exists() else []
        for row in (json.loads(line) for line in lines if b'"lost"' in line):
            host = self.hosts.get(row["worker"])
            if host is not None and row["reason"] == "lost":
                self.noticed_s.setdefault(host, time.monotonic())

    def strike(self, host: int, what: Callable[[], object]) -> None:
        self.at_s[host] = time.monotonic()
        what()


def blip(run: Struck) -> None:
    """Out for half the limit, and in again."""
    run.strike(CUT, lambda: run.on.cut(CUT))
    run.wait(lambda: False, run.silence_s / 2)
    run.on.join(CUT)


def cut(run: Struck) -> None:
    """Out until it was noticed, and two seconds more."""
    run.strike(CUT, lambda: run.on.cut(CUT))
    run.wait(lambda: CUT in run.noticed_s, run.silence_s + 10)
    run.wait(lambda: False, 2)
    run.on.join(CUT)


def killed(run: Struck) -> None:
    """The raylet, whose workers go with it."""
    run.strike(KILLED, lambda: run.on.kill(KILLED, "raylet"))


def both(run: Struck) -> None:
    """One second apart."""
    killed(run)
    run.wait(lambda: False, 1)
    cut(run)


CASES = {
    case.name: case
    for case in (
        Case("blip", (0, 1, 1), CLOSED, 70, blip, frozenset({CUT}), lossless=True),
        Case("cut", (0, 1, 1), OPEN, 1, cut, frozenset({CUT})),
        Case("killed", (0, 1, 1), CLOSED, 70, killed, frozenset({KILLED})),
        Case("both", (1, 1, 1), CLOSED, 45, both, frozenset({KILLED, CUT})),
    )
}


@dataclass(frozen=True)
class Proof:
    """What the run's folder says, held against the target's log. `problems` are promises broken, in words."""

    case: str
    planned: int
    outcomes: Counter[str]
    lost: int
    doubled: int
    gone: int
    untold: int
    noticed_s: dict[int, float]
    by_host: dict[int, int]
    clock_error_ms: float | None
    apart_ms: float | None
    ready_s: float
    problems: tuple[str, ...]


def main() -> int:
    """Runs the cases and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=sorted(CASES), help="all but `both`")
    parser.add_argument("--silence", type=float, default=10.0)
    parser.add_argument("--quick-health", action="store_true")
    options = parser.parse_args()
    if reason := missing():
        print(f"no hosts here: {reason}")
        return 2
    chosen = [CASES[name] for name in options.case or ("blip", "cut", "killed")]
    print(
        f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores; a worker is given up after "
        f"{options.silence:g} s; Ray's health checks {'each second' if options.quick_health else 'as shipped'}"
    )
    proofs = list(_proofs(chosen, options.silence, HEALTH_QUICK if options.quick_health else {}))
    print("\n" + "\n".join(table(proofs)))
    broken = [f"{proof.case}: {problem}" for proof in proofs for problem in proof.problems]
    print("\n".join(broken) or "every promise kept")
    return bool(broken)


def _proofs(cases: Sequence[Case], silence_s: float, health: dict[str, str]) -> Iterator[Proof]:
    """Each case over one cluster, as long as that is the same for all of them."""
    begun = time.monotonic()
    with hosts() as on, ray_cluster(on, cpus=cases[0].cpus, health=health) as environment:
        up_s = time.monotonic() - begun
        print(f"three hosts, clocks ahead by {on.ahead_s or 'nothing'} s; Ray up after {up_s:.1f} s", flush=True)
        for case in cases:
            assert case.cpus == cases[0].cpus, f"{case.name} needs a cluster of its own"
            proof = played(case, on, environment, silence_s)
            print(f"{case.name}: done after {time.monotonic() - begun:.1f} s", flush=True)
            yield proof


def played(case: Case, on: Hosts, environment: dict[str, str], silence_s: float) -> Proof:
    """The case, from start to proof."""
    with tempfile.TemporaryDirectory() as name, target(on, Path(name)) as url:
        folder = Path(name)
        plan = folder / "plan.toml"
        load = case.load.replace("DURATION", f"{silence_s + 14:g}")
        text = PLAN.replace("CASE", case.name).replace("REPETITIONS", str(case.repetitions)).replace("URL", url)
        plan.write_text(text.replace("LOAD", load).replace("WORKERS", str(sum(case.cpus))))
        command = [sys.executable, "-c", DRIVER.format(silence_s), "run", str(plan), "--out", str(folder / "results")]
        begun_s = time.monotonic()
        with subprocess.Popen(
            on.on(1, [*command, "--fleet", "ray", "--yes"]),
            env={**environment, "ANTHROPIC_API_KEY": "no-key"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as run:  # fmt: skip
            run_folder = _folder(folder / "results", run)
            struck = Struck(on, run, run_folder / "records.jsonl", silence_s)
            struck.wait(lambda: _lines(struck.records) > 1, 60)
            ready_s = time.monotonic() - begun_s
            manifest = json.loads((run_folder / "manifest.json").read_text())
            struck.hosts.update(_hosts(manifest, on))
            struck.wait(lambda: _lines(struck.records) > BEGUN, 60)
            case.strike(struck)
            struck.wait(lambda: False, 120)
            said, _ = run.communicate(timeout=60)
        struck.look()
        ended = f"the run ended with exit code {run.returncode}: {said[-2000:]}"
        rows = _truth(folder)
        return proved(case, read_run(run_folder), rows, struck, ready_s, ended if run.returncode not in (0, 1) else "")


def proved(
    case: Case, run: RunFolder, rows: Sequence[dict[str, Any]], struck: Struck, ready_s: float, ended: str
) -> Proof:
    """The run's records against what the target was sent."""
    outcomes = Counter(record.outcome for record in run.records)
    lost = [record for record in run.records if record.reason == "lost"]
    heard = {record.trial for record in run.records if record.reason not in ("lost", "cancelled")}
    sent = Counter(row["attempt"] for row in rows)
    finished = {row["attempt"].split(".")[0] for row in rows if row["status"] == 200 and not row["disconnected"]}
    twice = [attempt for attempt, count in sent.items() if count > 1]
    retold = [trial for trial, count in Counter(record.trial for record in run.records).items() if count > 1]
    late = {host: at_s - struck.at_s[host] for host, at_s in struck.noticed_s.items()}
    losers = {struck.hosts.get(record.worker or "") for record in lost}
    untold = finished - heard - {record.trial for record in lost}
    problems = [
        *([ended] if ended else []),
        *([f"planned {len(run.trials)}, on file {len(run.records)}"] * (len(run.trials) != len(run.records))),
        *([f"sent twice: {twice[:3]}"] * bool(twice)),
        *([f"on file twice: {retold[:3]}"] * bool(retold)),
        *([f"finished by the target and lost silently: {sorted(untold)[:3]}"] * bool(untold)),
        *([f"lost by hosts {losers}, struck were {set(case.struck)}"] * (not losers <= case.struck)),
        *([f"{len(lost)} lost in a case that loses nothing"] * (case.lossless and bool(lost))),
        *([f"noticed {set(late)}, struck {set(case.struck)}"] * (not case.lossless and set(late) != case.struck)),
        *(f"noticed after {after_s:.1f} s" for after_s in late.values() if after_s > struck.silence_s + 3),
    ]
    known_ms = max(
        (row["error_ns"] / 1e6 for row in run.manifest["clocks"] if row["error_ns"] is not None), default=None
    )
    apart_ms = _apart_ms(run, rows, struck.on)
    if apart_ms is not None and apart_ms > (known_ms or 0) + BUSY_MS:
        problems.append(f"due times kept {apart_ms:.1f} ms apart, clocks known to {known_ms} ms")
    return Proof(
        case=case.name,
        planned=len(run.trials),
        outcomes=outcomes,
        lost=len(lost),
        doubled=len(twice) + len(retold),
        gone=len(finished & {record.trial for record in lost}),
        untold=len(untold),
        noticed_s=late,
        by_host=dict(Counter(_host(row["peer"], struck.on) for row in rows)),
        clock_error_ms=known_ms,
        apart_ms=apart_ms,
        ready_s=ready_s,
        problems=tuple(problems),
    )


def _apart_ms(run: RunFolder, rows: Sequence[dict[str, Any]], on: Hosts) -> float | None:
    """In open loop: how far the hosts are apart in keeping to the due times, by the target's one clock: the largest
    difference between their medians of arrival less due time."""
    due_ns = {trial.id: trial.due_ns for trial in run.trials}
    after: dict[int, list[float]] = {}
    for row in rows:
        due = due_ns.get(row["attempt"].split(".")[0])
        if due is not None:
            after.setdefault(_host(row["peer"], on), []).append((row["received_ns"] - due) / 1e6)
    medians = [statistics.median(values) for values in after.values()]
    return max(medians) - min(medians) if len(medians) > 1 else None


def table(proofs: Sequence[Proof]) -> Iterator[str]:
    """A line a case."""
    yield (
        "case    planned answered unanswered failed (lost) not_run doubled gone untold  noticed after      "
        "requests by host           clocks known to  hosts apart  first record"
    )
    for one in proofs:
        noticed = ", ".join(f"host {host} {after_s:.1f} s" for host, after_s in sorted(one.noticed_s.items())) or "-"
        by_host = ", ".join(f"{host}: {count}" for host, count in sorted(one.by_host.items()))
        known = "-" if one.clock_error_ms is None else f"{one.clock_error_ms:.2f} ms"
        apart = "-" if one.apart_ms is None else f"{one.apart_ms:.2f} ms"
        counts = [one.outcomes[name] for name in ("answered", "unanswered", "failed")]
        yield (
            f"{one.case:<8}{one.planned:>7}{counts[0]:>9}{counts[1]:>11}{counts[2]:>7} ({one.lost:>4})"
            f"{one.outcomes['not_run']:>8}{one.doubled:>8}{one.gone:>5}{one.untold:>7}  {noticed:<18} {by_host:<26} "
            f"{known:<16} {apart:<12} {one.ready_s:.1f} s"
        )


@contextmanager
def target(on: Hosts, folder: Path) -> Iterator[str]:
    """The simulator on the switch; its URL for all hosts."""
    (folder / "scenario.toml").write_text(SCENARIO)
    command = [sys.executable, "-m", "loadrig.simulator", "--host", SWITCH, "--port", "0", "--exit-with-parent"]
    command += ["--scenario", str(folder / "scenario.toml"), "--truth-log", str(folder / "truth.jsonl")]
    with subprocess.Popen(
        on.on(0, command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.stdin.close()
            process.wait(20)


def _truth(folder: Path) -> list[dict[str, Any]]:
    """The target's rows of trials' requests. It writes them each second: waits for those of what is in flight."""
    time.sleep(1.5)
    rows = [json.loads(line) for line in (folder / "truth.jsonl").read_bytes().splitlines()]
    return [row for row in rows if row["path"] == "/v1/messages" and row["attempt"]]


def _folder(results: Path, run: subprocess.Popen[str]) -> Path:
    while not (found := list(results.glob("*/manifest.json"))):
        if run.poll() is not None:
            raise RuntimeError(f"the run did not begin: {run.communicate()[0]}")
        time.sleep(0.05)
    return found[0].parent


def _hosts(manifest: dict[str, Any], on: Hosts) -> dict[str, int]:
    """The host of each worker."""
    numbers = {on.address(number): number for number in range(1, on.count + 1)}
    return {worker["name"]: numbers[worker["host"] or on.address(1)] for worker in manifest["workers"]}


def _host(peer: str, on: Hosts) -> int:
    return next(number for number in range(1, on.count + 1) if peer.startswith(on.address(number)))


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


if __name__ == "__main__":
    sys.exit(main())
