"""Plants made-up and misplaced spans in a simulated model's citations and counts how many the audit finds.

    python benchmarks/citation_audit.py [QUESTIONS] [REPETITIONS]

Five arms that cite, over the corpus of our own, at concurrency 16; the simulator makes up 5 % of the spans it cites and
puts 5 % under another document's name. What it planted stands in its truth log, trial by trial; the audit reads the
run's records and prompts alone. Found, missed and falsely accused spans are counted by kind.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from loadrig.analysis.citations import Audit
from loadrig.analysis.summary import summarize
from loadrig.arms.agentic import Agentic
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.live.progress import Progress
from loadrig.log import read_prompts, read_run
from loadrig.reports.citations import rate
from loadrig.words.settings import CorpusSettings, LoadSettings, ModelSettings, Plan, QuestionSettings

SCENARIO = """\
slots = 256
base_ms = 2.0
decode_ms_per_token = 0.02
prefill_us_per_token = 0.0
fabricates_citations = 0.05
misplaces_citations = 0.05
"""
ARMS = (
    Rag(citations="asked"), Rag(citations="blocks"), FullContext(citations="asked"),
    Agentic(results="blocks"), Agentic(citations="asked"),
)  # fmt: skip
KINDS = ("spans", "fabricated", "misplaced")


def main(questions: int = 110, repetitions: int = 4) -> None:
    """Fires the run and prints the counts."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        scenario = folder / "loose.toml"
        scenario.write_text(SCENARIO)
        plan = Plan(
            name="audit", corpus=CorpusSettings(path="corpora/huskbook"), repetitions=repetitions,
            questions=QuestionSettings(path="questions/huskbook.jsonl", limit=questions),
            model=(ModelSettings(id="claude-haiku-5-5", base_url="simulator", scenario=str(scenario)),), arms=ARMS,
            load=LoadSettings(concurrency=(16,), warmup=0, cycle=False),
        )  # fmt: skip
        began = time.monotonic()
        with Progress(io.StringIO()) as progress:
            finished = execute(plan, Options(out=folder / "results", inline=True, confirmed=True), progress)
        fired_s = time.monotonic() - began
        _print(finished.folder, fired_s)


def _print(folder: Path, fired_s: float) -> None:
    run = read_run(folder)
    planted, found = _planted(folder), Counter[tuple[str, str]]()
    began, audit = time.monotonic(), Audit(read_prompts(folder))
    for record in run.records:
        for span in audit.spans(record):
            found[record.trial, "spans"] += 1
            found[record.trial, span.verdict] += 1
    audited_s = time.monotonic() - began
    print(f"{len(run.records)} trials in {fired_s:.1f} s, audited in {audited_s:.2f} s")
    for kind in KINDS:
        there, seen = (sum(n for key, n in of.items() if key[1] == kind) for of in (planted, found))
        both = sum(min(n, found[key]) for key, n in planted.items() if key[1] == kind)
        print(f"{kind}: {there} by the simulator's log, {both} found, {there - both} missed, {seen - both} too many")
    for arm in summarize(run).behaviour.citations:
        whole = arm.categories[0]
        print(f"{arm.arm}: {whole.answers} answers, {whole.spans} spans, {rate(whole.rate)} with a fabricated one")


def _planted(folder: Path) -> Counter[tuple[str, str]]:
    """Spans of each kind by trial, from every truth log of the run."""
    found: Counter[tuple[str, str]] = Counter()
    for path in folder.glob("truth*.jsonl"):
        for row in map(json.loads, path.read_text().splitlines()):
            for kind in KINDS:
                found[str(row["attempt"]).rsplit(".", maxsplit=2)[0], kind] += row[kind]
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
