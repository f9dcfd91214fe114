"""Plants every fault of the instrument, one at a time, and shows which check caught it; clean runs beside them.

    python benchmarks/planted_faults.py [--clean 20] [--seed N] [--effects]

Half of the strengths, positions and phrasings are drawn from a seed that is printed; `--seed` runs the same again. A
clean run in which a check fails or warns is a false alarm, and so is a fair judge that seems to prefer an arm. A small
share of replays is planted into a larger study; a fault that no run shows by itself is looked for beside a clean run.
`--effects` plants weaknesses of the model, too, and pairs the answers of full context with those of a clean run,
question by question (McNemar's exact test, Holm over effects).
Everything is simulated: dial settings, not evidence. Exit code 1 when a fault was missed or a clean run alarmed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from partial_judges import BY_ARM, fair, held, leaning, mannered, partial, sheet
from planting import Fault, Study, alarms, beside, faults, porters, prompt_tokens, run, seen_beside, small

from loadrig.analysis.accuracy import verdict
from loadrig.analysis.contexts import looked_at
from loadrig.analysis.selection import asked
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder, read_prompts
from loadrig.statistics.paired import mcnemar
from loadrig.statistics.several import holm

STUDY = Study("corpora/huskbook", "questions/huskbook.jsonl", limit=20, repetitions=2)
WHOLE = Study("corpora/huskbook", "questions/huskbook.jsonl", repetitions=1)
MANY = Study("corpora/huskbook", "questions/huskbook.jsonl", repetitions=2, ks=(5, 10))
FAIR = 5
WIDE = "full_context"
ALPHA = 0.05
Marks = dict[str, bool]


def main() -> None:
    """Clean runs, then faults, then judges, then effects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clean", type=int, default=20)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--effects", action="store_true")
    args = parser.parse_args()
    print(f"command: python {' '.join(sys.argv)}; seed {args.seed}; load average {os.getloadavg()[0]:.2f} before\n")
    with tempfile.TemporaryDirectory(prefix="loadrig-") as private:
        folder = Path(private)
        raised, first = _clean(folder, args.clean, args.seed)
        chance = Random(args.seed)
        texts = [question.question for question in first[0].questions.values()]
        planted = [*faults(STUDY, prompt_tokens(first[1]), texts, chance), *seen_beside(chance), *small(MANY, chance)]
        missed = _faults(folder, planted, first[0])
        missed += _judges(folder / "judges", chance)
        if args.effects:
            _effects(folder, chance)
    sys.exit(1 if missed or raised else 0)


def _clean(folder: Path, times: int, seed: int) -> tuple[int, tuple[RunFolder, Summary]]:
    """False alarms in clean runs, each over another seed of the simulator; and the first run."""
    found = [run(STUDY, Fault("clean", "", ()), folder / f"clean{n}", seed=seed + n) for n in range(max(1, times))]
    raised = [{**alarms(summary), **beside(found[0][0], one)} for one, summary in found]
    checks = [one for _, summary in found for one in summary.safeguards]
    counts = {verdict: sum(one.verdict == verdict for one in checks) for verdict in ("passed", "not checked")}
    print(f"clean runs: {len(found)}; checks {len(checks)}, of which {counts}; false alarms: {sum(map(len, raised))}")
    for number, alarm in enumerate(raised):
        for name, sentence in alarm.items():
            print(f"  FALSE ALARM in clean run {number}: {name}: {sentence}")
    print()
    return sum(map(len, raised)), found[0]


def _faults(folder: Path, planted: Sequence[Fault], clean: RunFolder) -> int:
    """A row a fault; the number missed."""
    _head()
    missed = 0
    for number, fault in enumerate(planted):
        one, summary = run(STUDY, fault, folder / f"fault{number}", seed=1000 + number)
        missed += _row(fault, {**alarms(summary), **beside(clean, one)})
    print()
    return missed


def _judges(folder: Path, chance: Random) -> int:
    """A row a judge that prefers an arm, held against a sheet; the number missed, and of fair judges that seem to."""
    _head()
    missed = 0
    for number, (share, drawn) in enumerate(((1.0, False), (chance.uniform(0.3, 0.9), True))):
        judged, _ = run(WHOLE, mannered(share), folder / f"judged{number}", seed=50 + number)
        sheet(judged)
        fault = partial(share, drawn=drawn)
        found = leaning(held(judged, fault, folder / f"partial{number}"))
        missed += _row(fault, {BY_ARM: found[WIDE]} if WIDE in found else {})
    unfair = [leaning(held(judged, fair(), folder / f"fair{n}", seed=1 + n)) for n in range(FAIR)]
    false = [told for one in unfair for told in one.values()]
    print(f"\nfair judges, {fair().strength}: {FAIR}; false alarms: {len(false)} {'; '.join(false)}\n")
    return missed + len(false)


def _head() -> None:
    print("| fault | strength | drawn | caught by | what it said |\n|---|---|---|---|---|")


def _row(fault: Fault, found: Mapping[str, str]) -> int:
    """One row; 1 when none of the checks that are to speak did."""
    caught = [name for name in found if name in fault.caught_by]
    by = ", ".join(caught) or "MISSED"
    said = found[caught[0]] if caught else "; ".join(found)
    print(f"| {fault.name} | {fault.strength} | {'yes' if fault.drawn else 'no'} | {by} | {said} |", flush=True)
    return int(not caught)


def _effects(folder: Path, chance: Random) -> None:
    """Weaknesses of the model, by what the rules find in the answers of full context."""
    planned: list[tuple[str, Study, dict[str, object], str, Callable[[RunFolder], Marks]]] = []
    made = porters(folder / "porters", chance)
    for share in (1.0, round(chance.uniform(0.5, 0.9), 2)):
        planned += [
            (f"takes the first value, {share:.0%}", WHOLE, {"takes_first_value": share}, "right", _right),
            (f"opens with no, {share:.0%}", made, {"opens_with_no": share}, "opening", _measured("opening")),
            (f"denies when wide, {share:.0%}", made, {"denies_when_wide": share}, "right", _right),
        ]
    for share in (0.18, round(chance.uniform(0.1, 0.4), 2)):
        keys: dict[str, object] = {"cites_dates": True, "invents_dates": share}
        fabricated = _measured("dates_fabricated")
        planned.append((f"invents dates, {share:.0%}", WHOLE, keys, "dates_fabricated", fabricated))
    for share in (2.0, round(chance.uniform(0.5, 3.0), 2)):
        keys = {"refuse_per_100k": share}
        planned.append((f"refuses, {share:.2f} a 100,000 tokens", WHOLE, keys, "refused", _refused))
    clean = {
        study: run(study, Fault("clean", "", (), {"cites_dates": True}), folder / f"effects{n}", seed=77)[0]
        for n, study in enumerate((WHOLE, made))
    }
    rows: list[tuple[str, str, Marks, Marks]] = []
    for number, (name, study, scenario, what, marks) in enumerate(planned):
        fault = Fault(name, "", (), {"cites_dates": True, **scenario})
        found, _ = run(study, fault, folder / f"effect{number}", seed=78 + number)
        rows.append((name, what, marks(clean[study]), marks(found)))
    ps = [_p(before, after) for _, _, before, after in rows]
    print("denies and opens: 20 posts abolished in one undated paper, restored in another; else the 110 questions\n")
    print("| effect | measure | clean | planted | p, Holm | found |\n|---|---|---|---|---|---|")
    for (name, what, before, after), p in zip(rows, holm(ps), strict=True):
        counts = (f"{sum(marks.values())} of {len(marks)}" for marks in (before, after))
        print(f"| {name} | {what} | {' | '.join(counts)} | {p:.2g} | {'yes' if p <= ALPHA else 'inside noise'} |")


def _p(before: Mapping[str, bool], after: Mapping[str, bool]) -> float:
    paired = mcnemar(before, after)
    return 1.0 if paired is None else paired.p


def _right(found: RunFolder) -> Marks:
    """Whether full context answered a question rightly; a refusal is not right."""
    records = [record for record in asked(found) if record.arm == WIDE]
    return {record.question: bool(verdict(found, record)) for record in records}


def _refused(found: RunFolder) -> Marks:
    return {record.question: record.reason == "refused" for record in asked(found) if record.arm == WIDE}


def _measured(name: str) -> Callable[[RunFolder], Marks]:
    """Whether a measure finds anything in full context's answer to a question."""

    def marks(found: RunFolder) -> Marks:
        looked = [one for one in looked_at(found, read_prompts(found.path)) if one.record.arm == WIDE]
        return {one.record.question: bool(one.values[name]) for one in looked}

    return marks


if __name__ == "__main__":
    main()
