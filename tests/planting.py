"""Plants faults of the instrument into the simulated provider, runs a small study over it, tells which checks spoke.

Some checks see a run, one sees two: a fault may also be caught beside a clean run of the same study. A judge is held
against a sheet. Half of the strengths, and the questions and words that a fault needs, are drawn from a seed which the
caller prints. Used by `tests/test_planted_faults.py` and `benchmarks/planted_faults.py`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from loadrig.analysis.compare import tokens
from loadrig.analysis.compare.sides import pairs
from loadrig.analysis.summary import Summary, summarize
from loadrig.arms.control import Control
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.corpus.ledger import read_ledger
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.live.progress import Progress
from loadrig.log import MANIFEST, RunFolder, read_run, write_json
from loadrig.words.settings import CorpusSettings, LoadSettings, ModelSettings, Plan, QuestionSettings

MODEL = "claude-haiku-5-5"
QUICK = {"base_ms": 1.0, "prefill_us_per_token": 0.0, "decode_ms_per_token": 0.02}
SYSTEM_TOKENS = 200  # about: no window drops instructions
ALARMS = ("failed", "warned")
BESIDE = f"compare: {tokens.NAME}"


@dataclass(frozen=True)
class Study:
    """The study that is run over each provider: every arm over some questions of a corpus, several times."""

    corpus: str = "corpora/tiny"
    questions: str = "questions/tiny.jsonl"
    limit: int | None = None
    repetitions: int = 3
    ks: tuple[int, ...] = (5,)

    def plan(self, *models: ModelSettings) -> Plan:
        return Plan(
            name="planted",
            repetitions=self.repetitions,
            corpus=CorpusSettings(path=self.corpus),
            questions=QuestionSettings(path=self.questions, limit=self.limit),
            model=models,
            arms=(Control(), *(Rag(k=k) for k in self.ks), FullContext()),
            load=LoadSettings(concurrency=(4,), warmup=0, cycle=False),
        )


@dataclass(frozen=True)
class Fault:
    """A fault and its strength, in words; the scenario's keys that plant it; the checks that are to speak (one is
    enough); `drawn`: the strength is the seed's; `study`: another than the caller's, as a small share needs many."""

    name: str
    strength: str
    caught_by: tuple[str, ...]
    scenario: Mapping[str, object] = field(default_factory=dict)
    max_tokens: int = 2000
    crediting_rule: str | None = None
    drawn: bool = False
    study: Study | None = None


def run(study: Study, fault: Fault, folder: Path, *, seed: int = 0) -> tuple[RunFolder, Summary]:
    """The study over a provider with the fault."""
    folder.mkdir(parents=True)
    found = _fired((fault.study or study).plan(model_of(MODEL, fault, folder, seed)), folder)
    if fault.crediting_rule is not None:  # another loadrig fired it
        write_json(found.path / MANIFEST, {**found.manifest, "crediting_rule": fault.crediting_rule})
        found = read_run(found.path)
    return found, summarize(found)


def side_by_side(study: Study, planted: Mapping[str, Fault], folder: Path) -> tuple[RunFolder, Summary]:
    """One run over many providers, each with its fault, under the name of a model: quicker than as many runs."""
    models = [model_of(name, fault, folder, seed) for seed, (name, fault) in enumerate(planted.items())]
    found = _fired(study.plan(*models), folder)
    return found, summarize(found)


def model_of(name: str, fault: Fault, folder: Path, seed: int) -> ModelSettings:
    """A model of that name, behind it a provider with the fault."""
    scenario = folder / f"{name}.toml"
    scenario.write_text(_toml({**QUICK, "seed": seed, **fault.scenario}))
    return ModelSettings(id=name, base_url="simulator", scenario=str(scenario), max_tokens=fault.max_tokens)


def _fired(plan: Plan, folder: Path) -> RunFolder:
    with Progress(io.StringIO()) as progress:
        finished = execute(plan, Options(out=folder / "results", inline=True, confirmed=True), progress)
    return read_run(finished.folder)


def alarms(summary: Summary, model: str | None = None) -> dict[str, str]:
    """Checks that failed or warned, with their sentence; of one model, or all."""
    found = (one for one in summary.safeguards if model is None or one.of == model)
    return {one.name: one.sentence for one in found if one.verdict in ALARMS}


def beside(clean: RunFolder, run: RunFolder) -> dict[str, str]:
    """What a comparison with a clean run of the same questions says of reported tokens, by the name of its check."""
    for sides in pairs(clean, run) if run.path != clean.path else ():
        found = tokens.recounted(*sides)
        if found is not None and found.other:
            return {BESIDE: tokens.told(found)}
    return {}


def prompt_tokens(summary: Summary) -> int:
    """Tokens of the longest prompt, as the probe of a clean run was told."""
    figures = {f.name: f.value for one in summary.safeguards if one.name == "prompt tokens" for f in one.figures}
    return int(figures["reported"] or 0)


def faults(study: Study, whole: int, asked: Sequence[str], chance: Random) -> list[Fault]:
    """Every deterministic fault of the instrument, at a stated strength and at a drawn one. `whole`: tokens of the
    longest prompt; `asked`: texts of the questions."""
    found: list[Fault] = []
    for drops in ("top", "middle"):
        for reports in ("kept", "whole"):
            found += [
                _window(whole, share, drops, reports, drawn=drawn)
                for share, drawn in ((0.5, False), (chance.uniform(0.1, 0.97), True))
            ]
    found += [
        Fault("cache left on", f"from {least:,} tokens on", ("cache",), _cached(least), drawn=drawn)
        for least, drawn in ((1, False), (chance.randrange(100, max(101, whole // 2)), True))
    ]
    found += [
        Fault("answers replayed", f"of {share:.0%} of requests", ("determinism",), {"replay_share": share}, drawn=drawn)
        for share, drawn in ((1.0, False), (chance.uniform(0.6, 0.95), True))
    ]
    found += [
        Fault(
            "whole replies replayed", f"of {share:.0%} of requests", ("reply ids",),
            {"replay_share": share, "replays_ids": True}, drawn=drawn,
        )
        for share, drawn in ((1.0, False), (chance.uniform(0.5, 0.95), True))
    ]  # fmt: skip
    found += [
        Fault(
            "ceiling starves reasoning", f"{thought} tokens of thinking +-{spread:.0%}, max_tokens 300",
            ("output ceiling",), {"thinking_tokens": thought, "thinking_spread": spread}, max_tokens=300, drawn=drawn,
        )
        for thought, spread, drawn in ((400, 0.0, False), (chance.randrange(230, 330), 0.6, True))
    ]  # fmt: skip
    found += [
        Fault(
            "crediting rule changed", f"fired under rule {rule}", ("crediting rule",), crediting_rule=rule, drawn=drawn
        )
        for rule, drawn in (("0", False), (str(chance.randrange(2, 99)), True))
    ]
    found += [
        Fault("prompt tokens under-reported", f"x {by:.2f}", ("prompt tokens",), {"reports_input": by}, drawn=drawn)
        for by, drawn in ((0.5, False), (chance.uniform(0.6, 0.97), True))
    ]
    found += [
        Fault("output tokens under-reported", f"x {by:.2f}", ("output tokens",), {"reports_output": by}, drawn=drawn)
        for by, drawn in ((0.5, False), (chance.uniform(0.2, 0.6), True))
    ]
    found += _knowing(study, asked, chance)
    return found


def seen_beside(chance: Random) -> list[Fault]:
    """Faults that no run can show by itself: a comparison with a clean one does. Below three quarters a run alone would
    say so too: no tokenizer is known to count so little."""
    return [
        Fault(
            "prompt tokens under-reported, none counted", f"x {by:.2f}", (BESIDE,),
            {"reports_input": by, "counts_tokens": False}, drawn=drawn,
        )
        for by, drawn in ((0.9, False), (chance.uniform(0.75, 0.99), True))
    ]  # fmt: skip


def small(many: Study, chance: Random) -> list[Fault]:
    """Answers replayed for a small share of requests, which takes many questions to see."""
    return [
        Fault(
            f"{name}, few", f"of {share:.1%} of requests", (check,), {"replay_share": share, **more},
            drawn=drawn, study=many,
        )
        for name, check, more, low, high in (
            ("answers replayed", "determinism", {}, 0.05, 0.2),
            ("whole replies replayed", "reply ids", {"replays_ids": True}, 0.02, 0.2),
        )
        for share, drawn in ((0.05, False), (chance.uniform(low, high), True))
    ]  # fmt: skip


def porters(folder: Path, chance: Random, *, posts: int = 20, papers: int = 12) -> Study:
    """A corpus made up on the spot: posts that are abolished in one paper and restored in another, no paper dated. Each
    question asks whether one of them is there; the answer is yes."""
    (folder / "corpus").mkdir(parents=True)
    names = chance.sample(
        [a + b for a in ("Bel", "Dor", "Fen", "Gal", "Kir") for b in ("ao", "ib", "ux", "em", "os")], posts
    )
    texts: list[list[str]] = [[] for _ in range(papers)]
    for name in names:
        ended, restored = chance.sample(range(papers), 2)
        texts[ended].append(f"Decision: the post of {name} porter is abolished.")
        texts[restored].append(f"Decision: the post of {name} porter is restored, with a key.")
    for number, text in enumerate(texts):
        lines = [f"Minutes of a meeting, paper {number}.", *text, "Chairs were painted in another colour."]
        (folder / "corpus" / f"{chance.getrandbits(32):08x}.md").write_text("\n\n".join(lines) + "\n")
    rows = [
        {
            "id": f"p-{number}", "category": "supersession",
            "question": f"Is there a post of {name} porter with a key?",
            "reference": "Yes, it was restored.", "must_contain": ["restored"], "stale": ["abolished"],
        }
        for number, name in enumerate(names)
    ]  # fmt: skip
    (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Study(str(folder / "corpus"), str(folder / "asked.jsonl"), repetitions=1)


def _window(whole: int, share: float, drops: str, reports: str, *, drawn: bool) -> Fault:
    checks = ("context probe", "prompt tokens") if reports == "kept" else ("context probe",)
    keys = {"window_tokens": round(share * (whole - SYSTEM_TOKENS)), "window_drops": drops, "window_reports": reports}
    return Fault(f"truncated from the {drops}, {reports} reported", f"{share:.0%} kept", checks, keys, drawn=drawn)


def _cached(least: int) -> dict[str, object]:
    return {"caches_unasked": True, "cache_minimum_tokens": least}


def _knowing(study: Study, asked: Sequence[str], chance: Random) -> list[Fault]:
    """A control that knows answers, the corpus' canary, or a name that nobody told it."""
    answers = {
        question: _worded(key, chance) for question, key in chance.sample(_keys(study, asked), min(3, len(asked)))
    }
    found = [Fault("control knows answers", f"{len(answers)} of them", ("control",), {"knows": answers}, drawn=True)]
    ledger = read_ledger(Path(study.corpus))
    if ledger is not None:
        question = chance.choice(list(asked))
        name = chance.choice([one.name for one in ledger.names if one.name not in question])
        found += [
            Fault("control knows the canary", "in one answer", ("contamination",), _says(question, ledger.canary)),
            Fault("control knows a name", f"{name!r}", ("contamination",), _says(question, name), drawn=True),
        ]  # fmt: skip
    return found


def _says(question: str, word: str) -> dict[str, object]:
    return {"knows": {question: f"It is {word}."}}


def _keys(study: Study, asked: Sequence[str]) -> list[tuple[str, str]]:
    """Questions that have a key and do not ask for yes or no, with a right answer."""

    rows = [json.loads(line) for line in Path(study.questions).read_text().splitlines()]
    return [
        (row["question"], " and ".join(entry.split("||")[0] for entry in row["must_contain"]))
        for row in rows
        if row["question"] in asked
        and row["must_contain"]
        and row["reference"].split()[0].strip(",.") not in ("Yes", "No")
    ]


def _worded(key: str, chance: Random) -> str:
    """A right answer in words that are the seed's."""
    before = chance.choice(("It is ", "As far as I know, ", "From memory: ", ""))
    return f"{before}{key}{chance.choice(('.', ', I think.', ', if I am not mistaken.'))}"


def _toml(values: Mapping[str, object]) -> str:

    plain = [f"{key} = {json.dumps(value)}\n" for key, value in values.items() if not isinstance(value, Mapping)]
    tables = [
        f"[{key}]\n" + "".join(f"{json.dumps(name)} = {json.dumps(inner)}\n" for name, inner in value.items())
        for key, value in values.items() if isinstance(value, Mapping)
    ]  # fmt: skip
    return "".join((*plain, *tables))
