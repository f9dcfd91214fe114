"""Ten thousand trials of callers with unlike rights at the same load, and whether one ever sees what is another's.

    python benchmarks/access_proof.py [--trials 10000] [--concurrency 16] [--seed 7]

Every arm of the table with every retriever that can be had here, over a corpus made on the spot in which each id, each
title and each paragraph holds a secret of its own. Five callers ask the same questions in the same words. The agents
look up documents of others besides, by id, by path and in other letters and encodings, and documents tell them to. What
is judged are the bytes that the simulated endpoint received. Then faults are planted that the judge must see.
Everything is simulated. Exit code 1 when something leaked, or a planted leak was not seen.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from leaky import Shared
from tenants import CALLERS, Judged, arms, bodies_of, endpoint, fired, judged, made

from loadrig import corpus
from loadrig.arms.full_context import FullContext
from loadrig.corpus import view
from loadrig.log import RunFolder
from loadrig.words.arm import Arm


def main() -> None:
    """The proof, then what it must see."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    print(f"command: python {' '.join(sys.argv)}; load average {os.getloadavg()[0]:.2f} before\n")
    with tempfile.TemporaryDirectory(prefix="loadrig-") as private:
        folder = Path(private)
        found, verdict, seconds = _run(folder / "proof", None, args)
        _told(found, verdict, seconds)
        seen = [_planted(folder / "view", "a view that filters nothing", [FullContext(mixed_rights=True)], args)]
        seen += [_planted(folder / "shared", "an arm that remembers one caller's text", [Shared()], args)]
    is_clean = not verdict.leaks and not verdict.shared and len(verdict.answers) <= 1
    sys.exit(0 if is_clean and all(seen) else 1)


def _run(folder: Path, of: Sequence[Arm] | None, args: argparse.Namespace) -> tuple[RunFolder, Judged, float]:
    world = made(folder, args.seed, questions=4)
    chosen = of
    if chosen is None:
        chosen, missing = arms(corpus.load(world.plan([], "").corpus))
        print(f"{len(chosen)} arms: {', '.join(arm.name for arm in chosen)}")
        print("".join(f"not had here: {one}\n" for one in missing))
    begin = time.perf_counter()
    with endpoint(folder, world) as (url, bodies):
        trials = args.trials if of is None else None
        found = fired(world.plan(chosen, url, trials=trials, concurrency=args.concurrency), folder)
    return found, judged(world, found, bodies_of(bodies)), time.perf_counter() - begin


def _told(found: RunFolder, verdict: Judged, seconds: float) -> None:
    ended = {outcome: sum(one.outcome == outcome for one in found.records) for outcome in ("answered", "failed")}
    print(f"{len(found.records):,} trials of {len(CALLERS)} callers in {seconds:.0f} s, {ended}")
    print(f"{verdict.bodies:,} request bodies, {verdict.bytes / 1e6:,.0f} MB; by arm: {dict(verdict.by_arm)}")
    print(f"leaks: {len(verdict.leaks)}")
    for leak in verdict.leaks[:10]:
        print(f"  LEAK {leak}")
    print(f"prefixes kept by the endpoint: {verdict.prefixes}; shared by two callers: {len(verdict.shared)}")
    others, asked = verdict.refused.get(True, 0), sum(verdict.refused.values())
    print(f"documents asked for that are not there for the caller: {asked:,}, of which there for others {others:,}")
    print(f"answered in {len(verdict.answers)} way(s): {sorted(verdict.answers)}\n")


def _planted(folder: Path, what: str, of: Sequence[Arm], args: argparse.Namespace) -> bool:
    """Whether a planted leak is seen."""
    honest = view.sees
    if not isinstance(of[0], Shared):
        view.sees = _everything
    try:
        _, verdict, _ = _run(folder, of, args)
    finally:
        view.sees = honest
    print(f"planted: {what}: {len(verdict.leaks)} leaks seen in {verdict.bodies} bodies")
    return bool(verdict.leaks)


def _everything(_caller: tuple[str, ...], _access: tuple[str, ...]) -> bool:
    return True


if __name__ == "__main__":
    main()
