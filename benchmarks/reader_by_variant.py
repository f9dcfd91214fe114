"""What the simulator's reader gets right on each variant of a corpus, by arm.

    python benchmarks/reader_by_variant.py CORPUS QUESTIONS [--also CORPUS QUESTIONS ...] [--enlarge 500]

For the corpus as it is, renamed, hardened and enlarged (made here, in a temporary folder), and for further pairs of
corpus and questions. One run of one pass each: control, rag at 3, 5, 10 and 20, full context (where the corpus has at
most 64,000 tokens) and agentic. `--also` with a few questions of the same ids (reworded ones) is compared with those
ids on the original. Numbers of right answers are by pre-check: dial settings of the simulator, not evidence.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from loadrig import corpus as corpora
from loadrig.words.settings import CorpusSettings

CEILING = 64_000  # tokens; above them full context is no option
SEED = "7"
Marks = dict[str, dict[str, bool]]  # arm -> question -> right


def main() -> None:
    """Makes the variants, fires a run on each and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("questions")
    parser.add_argument("--also", nargs=2, action="append", default=[], metavar=("CORPUS", "QUESTIONS"))
    parser.add_argument("--enlarge", type=int, default=500)
    args = parser.parse_args()
    print(f"load average before the start: {', '.join(f'{load:.2f}' for load in os.getloadavg())}")
    print(f"command: python {' '.join(sys.argv)}\n")
    with tempfile.TemporaryDirectory(prefix="loadrig-") as folder:
        pairs = [("original", args.corpus, args.questions)]
        for variant, further in (("rename", ()), ("harden", ()), ("enlarge", ("--documents", str(args.enlarge)))):
            out, asked = Path(folder, variant), Path(folder, f"{variant}.jsonl")
            _loadrig(
                "corpus", variant, args.corpus, str(out), "--questions", args.questions,
                "--questions-out", str(asked), "--seed", SEED, *further,
            )  # fmt: skip
            pairs.append((variant, str(out), str(asked)))
        pairs += [(Path(questions).stem, corpus, questions) for corpus, questions in args.also]
        found = {name: _marks(Path(folder, f"run-{name}"), corpus, asked) for name, corpus, asked in pairs}
    _print(found)


def _marks(out: Path, corpus: str, asked: str) -> Marks:
    """Which question each arm had right, by the first answer to each."""
    plan = out.with_suffix(".toml")
    fits = corpora.load(CorpusSettings(path=corpus)).tokens <= CEILING
    arms = ["kind = 'control'", "kind = 'rag'\nk = [3, 5, 10, 20]", "kind = 'agentic'"]
    arms += ["kind = 'full_context'"] if fits else []
    plan.write_text(
        f"[corpus]\npath = {json.dumps(corpus)}\n[questions]\npath = {json.dumps(asked)}\n"
        "[[model]]\nid = 'claude-haiku-5-5'\nbase_url = 'simulator'\n"
        + "".join(f"[[arm]]\n{arm}\n" for arm in arms)
        + "[load]\nconcurrency = [8]\nwarmup = 0\ncycle = false\n"
    )
    _loadrig("run", str(plan), "--inline", "--out", str(out))
    marks: Marks = defaultdict(dict)
    with next(out.glob("*/answers.csv")).open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            marks[row["arm"]].setdefault(row["question_id"], row["precheck"] == "1")
    return marks


def _print(found: Mapping[str, Marks]) -> None:
    """A row a variant; where a variant asks only some of the questions, those on the original in a row above it."""
    arms = list(dict.fromkeys(arm for marks in found.values() for arm in marks))
    print(f"| variant | questions | {' | '.join(arms)} |")
    print(f"|---|---|{'---|' * len(arms)}")
    original = found["original"]
    for name, marks in found.items():
        ids = set(marks["control"])
        if ids < set(original["control"]):
            few = {arm: {one: right for one, right in mine.items() if one in ids} for arm, mine in original.items()}
            print(_row(f"original, those of {name}", few, arms))
        print(_row(name, marks, arms))


def _row(name: str, marks: Marks, arms: Sequence[str]) -> str:
    cells = [str(sum(marks[arm].values())) if arm in marks else "-" for arm in arms]
    return f"| {name} | {len(marks['control'])} | {' | '.join(cells)} |"


def _loadrig(*words: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("loadrig")), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"loadrig {' '.join(words)}: exit code {done.returncode}\n{done.stderr[-2000:]}")


if __name__ == "__main__":
    main()
