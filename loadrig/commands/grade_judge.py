"""`loadrig grade RUN judge`: a model's verdicts, asked as a run of their own, taken as scores, held against a sheet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadrig import plan as planning
from loadrig.commands.firing import DONE, FAILED, INTERRUPTED
from loadrig.commands.grade import check_name, say, show_agreement
from loadrig.cost import Prices
from loadrig.execution.estimate import estimated
from loadrig.execution.execute import Finished, execute
from loadrig.execution.options import Options
from loadrig.execution.prepare import Prepared, check_budget
from loadrig.execution.sampling import sampled
from loadrig.graders import cases as making
from loadrig.graders import scores
from loadrig.graders.judge import FOLDER, RUBRIC, Case, Judge, Judged, judged
from loadrig.live.progress import Progress
from loadrig.log import RunFolder, read_run
from loadrig.words.clock import SystemClock
from loadrig.words.corpus import Corpus
from loadrig.words.errors import InputError
from loadrig.words.score import Grader
from loadrig.words.settings import (
    BudgetSettings,
    CorpusSettings,
    LoadSettings,
    ModelSettings,
    Plan,
    PriceSettings,
    QuestionSettings,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the user asked for. `floor` and `least`: agreement, and answers marked by both, from which a judge counts;
    `gate`: faithfulness below its floor is a failure."""

    model: ModelSettings
    load: LoadSettings
    budget: BudgetSettings
    name: str
    seed: int
    all_repetitions: bool
    faithfulness: bool
    floor: float
    least: int
    gate: bool
    confirmed: bool
    command_line: str


def judge(folder: Path, asked: Asked) -> int:
    """Asks, scores and reports; 1 with `gate` when an arm's faithfulness is below the floor."""
    check_name(asked.name)
    run = read_run(folder)
    cases = _cases(run, asked)
    plan = _plan(run, asked)
    options = Options(out=folder / FOLDER, inline=True, confirmed=asked.confirmed, command_line=asked.command_line)
    with Progress() as progress:
        finished = execute(plan, options, progress, preparing=lambda plan, _: _prepared(plan, cases))
    found = _take(folder, finished, cases, asked)
    _say(asked, finished, found)
    faithful = show_agreement(folder).grading.faithfulness
    if finished.interrupted:
        return INTERRUPTED
    missed = any(not one.kept for one in faithful if one.judge == asked.name)
    return FAILED if asked.gate and missed else DONE


def _cases(run: RunFolder, asked: Asked) -> list[Case]:
    cases = making.grading(run, seed=asked.seed, all_repetitions=asked.all_repetitions)
    if asked.faithfulness:
        cases += making.faithfulness(run, seed=asked.seed, all_repetitions=asked.all_repetitions)
    if not cases:
        raise InputError("no answer to judge in this run", path=run.path, remedy="judge a run with answered trials")
    return cases


def _plan(run: RunFolder, asked: Asked) -> Plan:
    """A plan like any other, of the one arm `judge`; corpus and questions are the cases, and on no file."""
    judged_plan: dict[str, Any] = run.manifest.get("plan") or {}
    prices = (judged_plan.get("prices") or {}).get("path")
    return Plan(
        name="judge",
        seed=asked.seed,
        timezone=str(judged_plan.get("timezone", "UTC")),
        corpus=CorpusSettings(path=str(run.path)),
        questions=QuestionSettings(path=str(run.path)),
        model=(asked.model,),
        load=asked.load,
        budget=asked.budget,
        prices=PriceSettings(path=prices),
        arms=(Judge(),),
    )


def _prepared(plan: Plan, cases: list[Case]) -> Prepared:
    check_budget(plan)
    prices = Prices.load(plan.prices.path)
    corpus = Corpus("cases", (), (), (), "", "none", ())
    questions = [case.question() for case in cases]
    stages, trials = planning.stages(plan, questions), planning.trials(plan, questions)
    samples = sampled(plan.arms, questions, corpus, {})
    return Prepared(
        plan=plan,
        corpus=corpus,
        questions={question.id: question for question in questions},
        left_out=(),
        indexes={},
        index_ns={},
        prices=prices,
        stages=stages,
        trials=trials,
        samples=samples,
        estimate=estimated(samples, trials, prices, models=plan.model),
        warnings=(),
    )


def _take(folder: Path, finished: Finished, cases: list[Case], asked: Asked) -> Judged:
    run = read_run(finished.folder)
    found = judged(cases, run.records, asked.name)
    who = Grader(
        asked.name,
        "judge",
        SystemClock().label(),
        f"{asked.model.id}, rubric {RUBRIC}",
        folder=f"{FOLDER}/{finished.folder.name}",
        floor=asked.floor,
        least=asked.least,
        simulated=bool(run.manifest.get("simulated")),
    )
    scores.replace(folder, who, found.scores)
    return found


def _say(asked: Asked, finished: Finished, found: Judged) -> None:
    read = found.cases - len(found.unread) - len(found.unasked)
    say(
        f"{asked.name}: {read} of {found.cases} cases judged, {len(found.scores)} trials; not judged: "
        f"{len(found.unread)} replies without a verdict, {len(found.unasked)} without a reply",
        f"Its calls: {finished.folder}",
    )
