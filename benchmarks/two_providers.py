"""One simulator content over two dialects: the same answers, tokens and outcomes, and how far first tokens are apart.

    python benchmarks/two_providers.py [--plan plans/quickstart.toml] [--limit 20] [--concurrency 4] [--keep FOLDER]

The plan is run twice against the embedded simulator, with provider "anthropic" and with provider "openai". Trials have
the same names in both, and the simulator draws wording and jitter by name, so all that differs is the dialect. Paired
by trial and counted per arm: answers, outcomes, tool calls, prompt and output tokens that are the same; TTFT of each,
the median of its paired differences and how many of these lie within 2 ms. Exit code 1 when anything but time differs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadrig.cost import prompt_tokens
from loadrig.log import read_run
from loadrig.words.record import Record

MS = 1e6
NEAR_MS = 2.0
PROVIDERS = ("anthropic", "openai")


@dataclass(frozen=True)
class Pairs:
    """One arm's trials in both runs: how many are alike in what, and both TTFT in milliseconds, where both have one."""

    arm: str
    n: int
    answers: int
    outcomes: int
    calls: int
    tokens: int
    ttft_ms: tuple[tuple[float, float], ...]

    @property
    def alike(self) -> bool:
        return self.n == self.answers == self.outcomes == self.calls == self.tokens


def paired(one: Iterable[Record], other: Iterable[Record]) -> list[Pairs]:
    """By arm, of trials of every phase. Raises ValueError where the runs do not have the same trials."""
    first, second = ({record.trial: record for record in records} for records in (one, other))
    if first.keys() != second.keys():
        raise ValueError("the runs have different trials")
    arms = dict.fromkeys(record.arm for record in first.values())
    return [_pairs(arm, [(first[t], second[t]) for t in first if first[t].arm == arm]) for arm in arms]


def _pairs(arm: str, both: Sequence[tuple[Record, Record]]) -> Pairs:
    return Pairs(
        arm,
        len(both),
        answers=sum(a.answer == b.answer for a, b in both),
        outcomes=sum((a.outcome, a.reason) == (b.outcome, b.reason) for a, b in both),
        calls=sum(_calls(a) == _calls(b) for a, b in both),
        tokens=sum(_tokens(a) == _tokens(b) for a, b in both),
        ttft_ms=tuple(
            (a.trial_ttft_ns / MS, b.trial_ttft_ns / MS)
            for a, b in both
            if a.trial_ttft_ns is not None and b.trial_ttft_ns is not None
        ),
    )


def _calls(record: Record) -> list[tuple[str, str]]:
    return [(call.name, call.input) for turn in record.turns for call in turn.tool_calls]


def _tokens(record: Record) -> tuple[int, int | None, int | None]:
    """Prompt, however cached, output, and thinking, where any was told: the other dialect tells of none by silence."""
    usage = record.usage
    assert usage is not None
    return prompt_tokens(usage), usage.output, usage.thinking or None


def table(found: Iterable[Pairs]) -> str:
    """Lines for a terminal."""
    head = f"{'arm':22} {'n':>4} {'answers':>8} {'outcomes':>9} {'calls':>6} {'tokens':>7}"
    head += f" {'TTFT p50 ms, both':>20} {'difference':>11} {'within 2 ms':>12}"
    lines = [head]
    for one in found:
        line = f"{one.arm:22} {one.n:4} {one.answers:8} {one.outcomes:9} {one.calls:6} {one.tokens:7}"
        if one.ttft_ms:
            p50s = " ".join(f"{statistics.median(side):9.1f}" for side in zip(*one.ttft_ms, strict=True))
            apart = [b - a for a, b in one.ttft_ms]
            near = sum(abs(ms) <= NEAR_MS for ms in apart)
            line += f" {p50s:>20} {statistics.median(apart):11.2f} {f'{near}/{len(apart)}':>12}"
        lines.append(line)
    return "\n".join(lines)


def fire(plan: Path, provider: str, folder: Path, *flags: str) -> tuple[Record, ...]:
    """Runs the plan with every model of it behind `provider`; the records. Raises on a failed command."""
    text = plan.read_text().replace("[[model]]", f'[[model]]\nprovider = "{provider}"')
    named = folder / f"{provider}.toml"
    named.write_text(text)
    program = [sys.executable, "-c", "from loadrig.cli import main; main()"]
    command = [*program, "run", str(named), "--out", str(folder / provider), *flags]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (run,) = (path for path in (folder / provider).iterdir() if path.is_dir())
    return read_run(run).records


def main() -> int:
    """Prints one line an arm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, default=Path("plans/quickstart.toml"))
    parser.add_argument("--limit", default="20")
    parser.add_argument("--concurrency", default="4")
    parser.add_argument("--keep", type=Path, default=None, help="a folder for both runs")
    options = parser.parse_args()
    flags = ("--limit", options.limit, "--concurrency", options.concurrency, "--one-pass")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = paired(*(fire(options.plan, provider, folder, *flags) for provider in PROVIDERS))  # read as it goes
    print(f"{options.plan}, concurrency {options.concurrency}, providers {' and '.join(PROVIDERS)}, simulated")
    print(table(found))
    return int(not all(one.alike for one in found))


if __name__ == "__main__":
    sys.exit(main())
