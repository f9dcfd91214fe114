"""The knee that a sweep finds, beside the one the target was built with and did not tell.

    python benchmarks/find_knee.py [--seeds 5] [--seconds 3] [--search]

Each seed draws a simulator: 3 to 24 slots, 50 to 120 ms of service, jitter 0.05 to 0.3. The sweep sees a socket.
Theory: with N in flight before m slots throughput is min(N, m) / S, so the knee is at m, and a little above it by what
a trial spends outside of a slot. The search is for the highest N that keeps two objectives, a p95 drawn between 1.3
and 3 services and 1 % of errors; its theory is a simulation of the queue alone, without rig or socket.
"""

from __future__ import annotations

import argparse
import heapq
import os
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from loadrig.analysis.summary import Summary, summarize
from loadrig.analysis.sweep import Sweep
from loadrig.arms.control import Control
from loadrig.commands.steering import Levels, Searching
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.execution.steering import Steering
from loadrig.live.progress import Progress
from loadrig.log import read_run
from loadrig.objectives import objective
from loadrig.search import Bounds
from loadrig.words.settings import CorpusSettings, LoadSettings, ModelSettings, Objective, Plan, QuestionSettings

LEVELS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Hidden:
    """What the finder is not told."""

    slots: int
    service_s: float
    jitter: float
    limit_s: float

    @classmethod
    def drawn(cls, seed: int) -> Hidden:
        chance = random.Random(f"find_knee/{seed}")
        service_s = chance.uniform(0.05, 0.12)
        return cls(chance.randint(3, 24), service_s, chance.uniform(0.05, 0.3), service_s * chance.uniform(1.3, 3.0))

    def scenario(self) -> str:
        return (
            f"slots = {self.slots}\nbase_ms = {self.service_s * 1e3}\njitter = {self.jitter}\nfixed_answer_tokens = 1\n"
            "decode_ms_per_token = 0.0\nprefill_us_per_token = 0.0\n"
        )


def main() -> int:
    """Runs and prints one line a seed; 1 when a knee is farther than a step from its theory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--search", action="store_true")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f}")
    missed = 0
    for seed in range(options.first, options.first + options.seeds):
        hidden = Hidden.drawn(seed)
        missed += not (_search(seed, hidden) if options.search else _knee(seed, hidden, options.seconds))
    return min(1, missed)


def _knee(seed: int, hidden: Hidden, seconds: float) -> bool:
    plan = _plan(LoadSettings(concurrency=LEVELS, duration_s=seconds, warmup=0))
    found = swept(plan, hidden.scenario(), Levels(plan, stop=True, say=_silent))
    knee = found.knee
    if knee is None:
        print(f"seed {seed}: no knee")
        return False
    near = within_a_step(knee.at, hidden.slots)
    print(
        f"seed {seed}: slots {hidden.slots:2}, service {hidden.service_s * 1e3:5.1f} ms; knee {knee.at:5.2f} "
        f"({knee.low:.2f} to {knee.high:.2f}), {knee.at / hidden.slots - 1:+.1%}; {len(found.steps)} stages; "
        f"cause {found.knee_cause}; client-bound {sum(bool(step.client_bound) for step in found.steps)}; "
        f"{'within a step' if near else 'MISSED'}",
        flush=True,
    )
    return near


def _search(seed: int, hidden: Hidden) -> bool:
    objectives = (objective("latency_p95", hidden.limit_s), objective("error_share", "1%"))
    plan = _plan(LoadSettings(concurrency=(1,), warmup=0), objectives)
    found = swept(plan, hidden.scenario(), Searching(plan, Bounds(1, 128, whole=True), stop=False, say=_silent))
    bracket, theory = found.bracket, highest(hidden)
    assert bracket is not None
    near = (bracket.kept or 0) * 0.9 - 1 <= theory <= (bracket.not_kept or 128) * 1.1 + 1
    trials = sum(step.met.n for step in found.steps)
    print(
        f"seed {seed}: slots {hidden.slots:2}, p95 limit {hidden.limit_s / hidden.service_s:.2f} services; kept "
        f"{bracket.kept}, {'broken' if bracket.broken else 'undecided'} at {bracket.not_kept}, theory {theory}; "
        f"{len(found.steps)} stages, {trials:,} trials; knee {found.knee.at if found.knee else 0:.2f}; "
        f"{'within a step' if near else 'MISSED'}",
        flush=True,
    )
    return near


def swept(plan: Plan, scenario: str, steering: Steering) -> Sweep:
    """The sweep of a run of the plan against a simulator of that scenario, steered."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hidden.toml").write_text(scenario)
        with Path(os.devnull).open("w") as silent, Progress(silent) as progress:
            done = execute(plan_at(plan, folder), Options(out=Path(folder), inline=True), progress, steering=steering)
        summary: Summary = summarize(read_run(done.folder))
    assert summary.sweep is not None
    return summary.sweep


def plan_at(plan: Plan, folder: str) -> Plan:
    """The plan with its model at the scenario in `folder`."""
    model = ModelSettings(id=plan.model[0].id, base_url="simulator", scenario=str(Path(folder, "hidden.toml")))
    return Plan(
        name=plan.name, corpus=plan.corpus, questions=plan.questions, model=(model,), load=plan.load, arms=plan.arms,
        objectives=plan.objectives,
    )  # fmt: skip


def within_a_step(found: float, theory: float, levels: tuple[int, ...] = LEVELS) -> bool:
    """Not farther from the theory than the levels around it."""
    below = max(level for level in levels if level <= theory)
    above = min((level for level in levels if level >= theory), default=levels[-1])
    return below <= found <= above or abs(found - theory) <= 1


def highest(hidden: Hidden) -> int:
    """The highest N whose p95 in a queue of N circulating trials before the slots is within the limit."""
    n = 1
    while _p95_s(hidden, n + 1) <= hidden.limit_s:
        n += 1
    return n


def _p95_s(hidden: Hidden, n: int, trials: int = 20_000) -> float:
    chance = random.Random(n)
    free = [0.0] * hidden.slots
    arrivals = [(0.0, number) for number in range(n)]
    took = []
    for _ in range(trials):
        arrived, number = heapq.heappop(arrivals)
        begun = max(arrived, heapq.heappop(free))
        ended = begun + hidden.service_s * chance.uniform(1 - hidden.jitter, 1 + hidden.jitter)
        heapq.heappush(free, ended)
        heapq.heappush(arrivals, (ended, number))
        took.append(ended - arrived)
    return sorted(took[n:])[round(0.95 * (trials - n))]


def _plan(load: LoadSettings, objectives: tuple[Objective, ...] = ()) -> Plan:
    return Plan(
        name="knee",
        corpus=CorpusSettings(path="corpora/tiny"),
        questions=QuestionSettings(path="questions/tiny.jsonl"),
        model=(ModelSettings(id="claude-haiku-5-5"),),
        load=load,
        arms=(Control(),),
        objectives=objectives,
    )


def _silent(_: str) -> None: ...


if __name__ == "__main__":
    sys.exit(main())
