"""How often a comparison of two real runs cries wolf, and how often it hears one: whole runs, not made-up records.

    python benchmarks/calibration_runs.py [--runs 20] [--comparisons 100] [--seed N] [--keep FOLDER]

Clean runs are one plan over the embedded simulator, 110 questions in one arm, each with another seed of the
simulator; the dials make answers and times vary by trial. They are compared with one another, each as often as any
other, and a comparison alarms when it calls anything higher or lower. Times of a client-bound stage are counted apart:
two runs on a machine that others use really are two occasions, and the comparison says of each such time that it is
partly the rig's own. As many runs have a dial turned that costs accuracy, and each is compared with a clean one; it is
found when accuracy is called lower. `--keep` keeps the runs, and takes those that are there. Everything is simulated:
dial settings, not evidence. Exit code 1 when more than one comparison in ten alarms, or fewer than four planted losses
in five are found.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from loadrig.analysis.compare.accuracy import Right
from loadrig.analysis.compare.figures import Figure, bounds
from loadrig.analysis.compare.marks import Marked
from loadrig.analysis.compare.whole import Comparison, Pair, compare
from loadrig.analysis.selection import asked
from loadrig.arms.rag import Rag
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.live.progress import Progress
from loadrig.log import RunFolder, read_run
from loadrig.reports.compare_tables import name_of
from loadrig.words.settings import CorpusSettings, LoadSettings, ModelSettings, Plan, QuestionSettings

ARM = "rag-bm25-k5"
CLEAN: Mapping[str, float] = {
    "base_ms": 150.0, "prefill_us_per_token": 0.0, "decode_ms_per_token": 2.0, "jitter": 0.5,
    "takes_first_value": 0.3, "refuse_share": 0.15,
}  # fmt: skip
PLANTED = {**CLEAN, "refuse_share": 0.6}  # of the third that are right: about 14 points
MOST_ALARMS, LEAST_FOUND = 0.10, 0.80
BOUND = ", client-bound"


def main() -> None:
    """Clean runs, comparisons of them, then planted runs against clean ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--comparisons", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder that keeps the runs")
    args = parser.parse_args()
    print(f"command: python {' '.join(sys.argv)}; load average {os.getloadavg()[0]:.2f} before", flush=True)
    with tempfile.TemporaryDirectory(prefix="loadrig-") as private:
        folder = args.keep or Path(private)
        began = time.monotonic()
        clean = [_fired(folder / f"clean{n}", CLEAN, args.seed * 1000 + n) for n in range(args.runs)]
        print(f"{len(clean)} clean runs: {_right(clean)}; {time.monotonic() - began:.0f} s", flush=True)
        alarmed = _alarms(clean, args.comparisons)
        planted = [_fired(folder / f"planted{n}", PLANTED, args.seed * 1000 + 500 + n) for n in range(args.runs)]
        print(f"{len(planted)} planted runs: {_right(planted)}", flush=True)
        found = _found(clean, planted)
    print(f"{time.monotonic() - began:.0f} s in all; load average {os.getloadavg()[0]:.2f} after")
    sys.exit(1 if alarmed > MOST_ALARMS or found < LEAST_FOUND else 0)


def _alarms(runs: Sequence[RunFolder], wanted: int) -> float:
    """The share of comparisons of clean runs that call anything higher or lower, but for client-bound times."""
    chosen = list(_pairs(len(runs)))[:wanted]
    heard: Counter[str] = Counter()
    alarmed = marked = 0
    for called in map(_called, _compared([(runs[first], runs[second]) for first, second in chosen])):
        own = [name.endswith(BOUND) for name in called]
        alarmed += not all(own)
        marked += bool(called) and all(own)
        heard.update(called)
    bound = sum(stage is not False for run in runs for stage in bounds(run).values())
    print(f"alarms: {alarmed} of {len(chosen)} comparisons of the same; {marked} more by client-bound times alone")
    print(f"client-bound, or not checked: {bound} of {len(runs)} stages", flush=True)
    for name, times in heard.most_common():
        print(f"  {times} x {name}")
    return alarmed / len(chosen)


def _found(clean: Sequence[RunFolder], planted: Sequence[RunFolder]) -> float:
    """The share of planted losses of accuracy that are called lower."""
    rows = list(map(_row, _compared(list(zip(clean, planted, strict=True)))))
    lost = [100 * row.difference.value for row in rows]
    words = Counter(row.word for row in rows)
    print(
        f"planted: accuracy {sum(lost) / len(lost):+.1f} points on average ({min(lost):+.1f} to {max(lost):+.1f}) at "
        f"{rows[0].n} questions; called lower in {words['lower']} of {len(rows)}, higher in {words['higher']}"
    )
    return words["lower"] / len(rows)


def _compared(pairs: Sequence[tuple[RunFolder, RunFolder]]) -> Iterator[Comparison]:
    """Each pair compared, two at a time."""
    folders = [(a.path, b.path) for a, b in pairs]
    with ProcessPoolExecutor(2) as pool:
        yield from pool.map(_compared_at, *zip(*folders, strict=True))


def _compared_at(a: Path, b: Path) -> Comparison:
    return compare(read_run(a), read_run(b))


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    """Every pair of n once; of any first part of them each run is in about as many."""
    seen = set()
    for step in range(1, n):
        for first in range(n):
            pair = (min(first, (first + step) % n), max(first, (first + step) % n))
            if pair not in seen:
                seen.add(pair)
                yield pair


def _called(found: Comparison) -> list[str]:
    """What was called higher or lower, with its arm."""
    return [f"{pair.arm_b}: {name}, {word}" for pair in found.pairs for name, word in _words(pair)]


def _words(pair: Pair) -> Iterator[tuple[str, str]]:
    if pair.accuracy is not None and pair.accuracy.word != "inside noise":
        yield "accuracy", pair.accuracy.word
    rest: tuple[Right | Marked | Figure, ...] = (*pair.categories, *pair.marks, *pair.figures)
    for one in rest:
        if one.word != "inside noise":
            yield name_of(one), one.word + (BOUND if isinstance(one, Figure) and one.client_bound else "")


def _row(found: Comparison) -> Right:
    row = next(pair.accuracy for pair in found.pairs if pair.arm_b == ARM)
    assert row is not None, "the questions have keys"
    return row


def _right(runs: Sequence[RunFolder]) -> str:
    """Outcomes of the grounded arm over all runs."""
    counts = Counter(record.outcome for run in runs for record in asked(run) if record.arm == ARM)
    return ", ".join(f"{n} {outcome}" for outcome, n in counts.items())


def _fired(folder: Path, dials: Mapping[str, float], seed: int) -> RunFolder:
    """One run over a simulator of its own, or the one that is there."""
    if (done := next(iter(folder.glob("results/*/manifest.json")), None)) is not None:
        return read_run(done.parent)
    folder.mkdir(parents=True)
    scenario = folder / "scenario.toml"
    scenario.write_text("".join(f"{key} = {value}\n" for key, value in {**dials, "seed": seed}.items()))
    with Progress(io.StringIO()) as progress:
        options = Options(out=folder / "results", inline=True, confirmed=True)
        return read_run(execute(_plan(scenario), options, progress).folder)


def _plan(scenario: Path) -> Plan:
    return Plan(
        name="calibration",
        probe=False,
        corpus=CorpusSettings(path="corpora/huskbook"),
        questions=QuestionSettings(path="questions/huskbook.jsonl"),
        model=(ModelSettings(id="claude-haiku-5-5", base_url="simulator", scenario=str(scenario)),),
        arms=(Rag(k=5),),
        load=LoadSettings(concurrency=(16,), warmup=16, cycle=False),
    )


if __name__ == "__main__":
    main()
