"""Faults, seeded, played at a run of 160 trials over three workers until it is complete; then held to its promises.

    python benchmarks/chaos.py [--runs 20] [--minutes 60] [--seed 1] [--fleet process|ray] [--faults disk_full,...]

Each run: one to three faults, each when a drawn share of the trials is on file, in closed or in open loop; a driver
that ended is taken up again (`--resume`) until nothing is missing. The driver is the one of `loadrig run`; workers are
real processes, the target a socket. What is proved is said in `chaos_proof`. With `--fleet ray` all runs share a
cluster of three nodes on this machine, and a node may die too. A run whose target was down at start is taken up with
`--retry failed`. Over Ray, and without a C compiler, no clock is set. Exit code 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from chaos_clock import MISSING, Wall
from chaos_driver import DONE, INTERRUPTED
from chaos_faults import AT_START, FAULTS, NEEDS_WALL, SILENCE_LIMIT_S, Fault, Scene, children, command, is_running
from chaos_proof import Proof, is_complete, proved, sum_holds
from chaos_target import Target

HERE = Path(__file__).resolve().parent
PLAN = """\
name = "chaos"
seed = {seed}
repetitions = 20
[corpus]
path = "{root}/corpora/tiny"
[questions]
path = "{root}/questions/tiny.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "{url}"
[[arm]]
kind = "chaos_arm:Blocking"
flag = "{flag}"
[[arm]]
kind = "rag"
k = 1
[load]
{load}
warmup = 0
workers = 3
cpus_per_worker = 0.2
fleet = "{fleet}"
cycle = false
[limits]
total = 20
"""
LOADS = ("concurrency = [6]", 'rate = [60.0]\narrivals = "poisson"')
SESSIONS = 8
SESSION_LIMIT_S = 120.0
GONE_LIMIT_S = 75.0  # a Ray worker that hears nobody ends itself after a minute


@dataclass(frozen=True)
class Row:
    """A run as it stands in the table."""

    number: int
    seconds: float
    played: tuple[str, ...]
    sessions: int
    proof: Proof
    problems: tuple[str, ...]


class Run:
    """One run: its script, its target, its folder, and what came of it."""

    def __init__(self, number: int, options: argparse.Namespace, faults: dict[str, Fault], wall: Wall) -> None:
        self.number, self.faults, self.wall, self.keeps = number, faults, wall, options.keep
        self.rng = random.Random(f"{options.seed}/{number}")
        script = [self.rng.choice(sorted(faults)) for _ in range(self.rng.randint(1, 3))]
        self.left = sorted((0.0 if name == AT_START else self.rng.uniform(0.02, 0.9), name) for name in script)
        self.retries = AT_START in script
        self.environment = dict(os.environ)
        if NEEDS_WALL in script:
            self.environment |= wall.environment
        self.load, self.fleet = self.rng.choice(LOADS), options.fleet
        self.target = Target(f"{options.seed}/{number}")
        self.folder = Path(tempfile.mkdtemp(prefix="loadrig-chaos-"))
        self.played: list[str] = []
        self.struck: dict[int, tuple[str, int]] = {}
        self.processes: set[int] = set()
        self.problems: list[str] = []
        self.said = ""

    async def play(self) -> Row:
        """Goes on until nothing is missing, then holds the run to its promises."""
        began, sessions = time.perf_counter(), 0
        self.wall.true()
        await self.target.open()
        names = {"seed": self.number, "root": HERE.parent, "url": self.target.url, "flag": self.folder / "flag"}
        (self.folder / "plan.toml").write_text(PLAN.format(**names, load=self.load, fleet=self.fleet))
        if self.retries:
            await self.target.cut()
        while sessions == 0 or (sessions < SESSIONS and not self._is_complete):
            sessions += 1
            await self._session(sessions)
        if not self._is_complete:
            self.problems.append(f"not complete after {sessions} sessions: {self.said}")
        self.problems += [
            f"process {pid} is left over: {command(pid)[:200]}" for pid in await left_over(self.processes)
        ]
        await self.target.cut()
        proof = proved(self.results, self.folder / "witness", self.target, self.struck)
        problems = (*proof.problems, *self.problems)
        if problems and self.keeps:
            print(f"run {self.number} kept in {self.folder}")
        else:
            shutil.rmtree(self.folder)
        return Row(self.number, time.perf_counter() - began, tuple(self.played), sessions, proof, problems)

    @property
    def results(self) -> Path:
        """The run's own folder."""
        return next((self.folder / "results").iterdir())

    @property
    def _is_complete(self) -> bool:
        return is_complete(self.results, retry_failed=self.retries)

    async def _session(self, number: int) -> None:
        driving = [
            HERE / "chaos_driver.py",
            self.folder / "plan.toml",
            self.folder / "results",
            self.folder / "witness",
        ]
        driver = await asyncio.create_subprocess_exec(
            sys.executable, *driving, str(SILENCE_LIMIT_S), *(["--resume"] * (number > 1)),
            *(["--retry-failed"] * self.retries),
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, cwd=HERE.parent, env=self.environment,
        )  # fmt: skip
        playing = asyncio.create_task(self._faults(driver.pid))
        try:
            async with asyncio.timeout(SESSION_LIMIT_S):
                _, said = await driver.communicate()
        except TimeoutError:
            driver.kill()
            _, said = await driver.communicate()
            self.problems.append(f"session {number} did not end within {SESSION_LIMIT_S:g} s")
        await playing
        self.said = said.decode().strip().rpartition("\n")[2]
        if b"Traceback" in said:
            self.problems.append(f"session {number}: {self.said}")
        if driver.returncode in (DONE, INTERRUPTED) and (wrong := sum_holds(self.results)):
            self.problems.append(f"session {number}: {wrong}")

    async def _faults(self, pid: int) -> None:
        """Plays what is left of the script while the driver runs."""
        while is_running(pid):
            await asyncio.sleep(0.02)
            share = self._progress()
            if share is None:
                continue
            scene = Scene(pid, self.results, self.folder / "flag", self.target, self.wall, self.rng, self.struck)
            workers = scene.workers()
            self.processes |= {child for worker in workers for child in (worker, *children(worker))}
            if workers and self.left and share >= self.left[0][0]:
                _, name = self.left.pop(0)
                self.played.append(name)
                await self.faults[name](scene)

    def _progress(self) -> float | None:
        """The share of the trials that is on file; None when trials are not asked at present."""
        for manifest in self.folder.glob("results/*/manifest.json"):
            if json.loads(manifest.read_text())["status"] == "running":
                planned, on_file = (
                    (manifest.parent / name).read_bytes().count(b"\n") for name in ("plan.jsonl", "records.jsonl")
                )
                return on_file / planned
        return None


async def left_over(workers: set[int]) -> list[int]:
    """Of the workers and their search processes, those that outlive the run."""
    deadline = time.monotonic() + GONE_LIMIT_S
    while (found := [pid for pid in workers if is_running(pid)]) and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    return found


def main() -> int:
    """Runs and prints a line a run, then the table by fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--minutes", type=float, help="after these, no further run is begun")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fleet", choices=("process", "ray"), default="process")
    parser.add_argument("--faults", help="only these, with commas between")
    parser.add_argument("--first", type=int, default=1, help="number of the first run")
    parser.add_argument("--keep", action="store_true", help="keep the folders of runs that broke a promise")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ.setdefault("ANTHROPIC_API_KEY", "none")
    os.environ.pop("RAY_ADDRESS", None)
    faults = dict(FAULTS)
    restore: Callable[[], None] = lambda: None  # noqa: E731 - nothing of a fleet of processes is shared
    rows = []
    with ExitStack() as stack:
        wall = Wall(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loadrig-chaos-"))))
        if options.fleet == "ray":
            from chaos_cluster import cluster  # noqa: PLC0415 - Ray is imported only where it is used

            further, restore = stack.enter_context(cluster())
            faults |= further
            del faults[NEEDS_WALL]  # a clock that only some of Ray's waits go by is no machine's
        if options.faults:
            faults = {name: faults[name] for name in options.faults.split(",")}
        if NEEDS_WALL in faults and not wall.environment:
            print(f"{NEEDS_WALL} sets no clock: {MISSING}")
        print(f"{options.runs} runs, seed {options.seed}, fleet {options.fleet}, load average {os.getloadavg()[0]:.1f}")
        until = math.inf if options.minutes is None else time.monotonic() + options.minutes * 60
        for number in range(options.first, options.first + options.runs):
            if time.monotonic() > until:
                break
            restore()
            row = asyncio.run(Run(number, options, faults, wall).play())
            rows.append(row)
            print(line_of(row), flush=True)
    print(*table(rows), sep="\n")
    return int(any(row.problems for row in rows))


def line_of(row: Row) -> str:
    """A run in a line, and a line for each promise that was broken."""
    proof = row.proof
    counts = "/".join(str(proof.outcomes.get(one, 0)) for one in ("answered", "unanswered", "failed", "not_run"))
    return (
        f"{row.number:4} {row.seconds:6.1f} s  {row.sessions} sessions  {proof.planned} = {counts}  lost {proof.lost}  "
        f"gone {proof.gone}  untold {proof.untold}  doubled {proof.doubled}  moved {proof.moved}  "
        f"unprovoked {proof.unprovoked}  {', '.join(row.played)}"
        + f"  (clock off by {proof.hours:.1f} h)" * (proof.hours > 0.1)
        + "".join(f"\n     BROKEN: {problem}" for problem in row.problems)
    )


def table(rows: list[Row]) -> Iterator[str]:
    """Sums by fault; a run of several faults stands in the row of each."""
    heads = [
        "fault",
        "times",
        "planned",
        "answered",
        "unanswered",
        "failed",
        "not run",
        "lost tries",
        "gone",
        "untold",
        "doubled",
        "moved",
        "noticed after: median, longest",
    ]
    yield f"\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|"
    names = sorted({name for row in rows for name in row.played})
    for name in [*names, "all runs"]:
        mine = [row for row in rows if name in row.played or name == "all runs"]
        times = sum(row.played.count(name) for row in mine) if name != "all runs" else len(mine)
        outcomes: Counter[str] = Counter()
        for row in mine:
            outcomes.update(row.proof.outcomes)
        cells = [times, sum(row.proof.planned for row in mine)]
        cells += [outcomes[one] for one in ("answered", "unanswered", "failed", "not_run")]
        counts = ("lost", "gone", "untold", "doubled", "moved")
        cells += [sum(getattr(row.proof, one) for row in mine) for one in counts]
        took = sorted(s for row in mine for why, s in row.proof.noticed_s if name in (why, "all runs"))
        noticed = f"{took[len(took) // 2]:.2f} s, {took[-1]:.2f} s (n = {len(took)})" if took else "-"
        yield f"| {name} | {' | '.join(map(str, cells))} | {noticed} |"
    yield f"\nworkers given up unprovoked: {sum(row.proof.unprovoked for row in rows)}"
    yield f"broken promises: {sum(len(row.problems) for row in rows)} in {len(rows)} runs"


if __name__ == "__main__":
    sys.exit(main())
