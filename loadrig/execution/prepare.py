"""Everything that can be wrong is found here, before a folder is made or a request sent: corpus, questions, indexes,
prices, trials and the estimate of what they will cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

from loadrig import corpus as corpora
from loadrig import plan as planning
from loadrig import questions as question_files
from loadrig.arms.route import Route
from loadrig.arms.routing import by_rules
from loadrig.corpus import rights as access
from loadrig.corpus.facts import Facts, facts_of, of_both
from loadrig.corpus.ledger import read_ledger
from loadrig.cost import Prices
from loadrig.execution import changing
from loadrig.execution.calibration import calibrated
from loadrig.execution.estimate import TOKEN_RATIO, Estimate, estimated, seconds
from loadrig.execution.kept import told
from loadrig.execution.sampling import Sample, sampled
from loadrig.execution.screening import FullPlan, Screened, Screening, spread, too_wide
from loadrig.execution.steering import Steering
from loadrig.execution.unmet import unmet
from loadrig.retrievers import Retriever
from loadrig.wire.turn import Target
from loadrig.words.change import AFTER, BEFORE
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError
from loadrig.words.settings import Plan
from loadrig.words.trial import Stage, Trial
from loadrig.worker.library import Building, build_indexes


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan ready to be fired. `change`: of documents in mid-run; `version`: of the corpus, where there is one."""

    plan: Plan
    corpus: Corpus
    questions: Mapping[str, Question]
    left_out: tuple[str, ...]
    indexes: Mapping[str, Retriever]
    index_ns: Mapping[str, int]
    prices: Prices
    stages: tuple[Stage, ...]
    trials: tuple[Trial, ...]
    samples: tuple[Sample, ...]
    estimate: Estimate
    warnings: tuple[str, ...]
    facts: tuple[Facts, ...] = ()
    screened: Screened | None = None
    change: changing.Change | None = None
    version: int | None = None


def prepare(
    plan: Plan, *, build: bool = True, steering: Steering | None = None, building: Building | None = None
) -> Prepared:
    """Reads and builds all a run needs; `build=False` leaves indexes and facts out. Stages and trials are the plan's,
    or all that a steered run may come to. Raises `InputError`."""
    check_budget(plan)
    prices = Prices.load(plan.prices.path)
    corpus = corpora.load(plan.corpus)
    asked = question_files.select(plan.questions, corpus)
    questions = asked.questions
    rights = access.rights_of(corpus, questions)
    access.check(plan.arms, rights)
    change = changing.planned(plan, corpus, questions)
    if change is not None:
        access.check(plan.arms, access.rights_of(change.after, questions))
    names = {name for arm in plan.arms for name in arm.retrievers}
    indexes, index_ns = build_indexes(names, corpus, given=plan.retriever, building=building) if build else ({}, {})
    if steering is None:
        stages, trials = planning.stages(plan, questions), planning.trials(plan, questions)
    else:
        foreseen = steering.foreseen(questions)
        stages, trials = tuple(stage for stage, _ in foreseen), tuple(one for _, of in foreseen for one in of)
    samples = sampled(plan.arms, questions, corpus, indexes)
    return Prepared(
        plan=plan,
        corpus=corpus,
        questions={question.id: question for question in questions},
        left_out=asked.left_out,
        indexes=indexes,
        index_ns=index_ns,
        prices=prices,
        stages=stages,
        trials=trials,
        samples=samples,
        estimate=estimated(samples, planning.likely(stages, trials), prices, models=plan.model),
        warnings=(
            *_warnings(plan, corpus, asked.left_out, prices),
            *access.told(rights),
            *changing.warnings(change, corpus),
            *_of_caches(plan, samples, prices),
            *unmet(plan),
            *_of_rules(plan, questions),
        ),
        facts=_facts(plan, corpus, change) if build else (),
        change=change,
        version=None if change is None else BEFORE,
    )


def after_change(prepared: Prepared) -> Prepared:
    """The same, for a run in which documents have changed already: over the corpus as it is since."""
    assert prepared.change is not None, "without a change there is none to come after"
    corpus = prepared.change.after
    indexes, _ = build_indexes(set(prepared.indexes), corpus, given=prepared.plan.retriever)
    samples = sampled(prepared.plan.arms, tuple(prepared.questions.values()), corpus, indexes)
    return replace(prepared, corpus=corpus, indexes=indexes, samples=samples, version=AFTER)


def _facts(plan: Plan, corpus: Corpus, change: changing.Change | None) -> tuple[Facts, ...]:
    ledger = read_ledger(Path(plan.corpus.path))
    facts = facts_of(corpus, ledger)
    return facts if change is None else of_both(facts, facts_of(change.after, ledger))


def prepare_screening(screening: Screening, *, building: Building | None = None) -> Prepared:
    """Like `prepare`, for a screening: some of the plan's questions, and what the full plan would come to."""
    whole = prepare(screening.plan, building=building)
    wide = {} if screening.named else too_wide(screening.plan, whole.corpus)
    plan = replace(screening.plan, arms=tuple(arm for arm in screening.plan.arms if arm.name not in wide))
    everything = tuple(whole.questions.values())
    questions = spread(everything, screening.most)
    stages, trials = planning.stages(plan, questions), planning.trials(plan, questions)
    samples = sampled(plan.arms, questions, whole.corpus, whole.indexes)
    return replace(
        whole,
        plan=plan,
        questions={question.id: question for question in questions},
        stages=stages,
        trials=trials,
        samples=samples,
        estimate=estimated(samples, planning.likely(stages, trials), whole.prices, models=plan.model),
        warnings=(*whole.warnings, *wide.values()),
        screened=Screened(screening.most, tuple(wide.values()), _foreseen(screening.full, everything, whole)),
    )


def _foreseen(full: Plan, questions: Sequence[Question], whole: Prepared) -> FullPlan:
    stages, trials = planning.stages(full, questions), planning.trials(full, questions)
    samples = sampled(full.arms, questions, whole.corpus, whole.indexes)
    estimate = estimated(samples, planning.likely(stages, trials), whole.prices, models=full.model)
    return FullPlan(
        questions=len(questions),
        arms=tuple(arm.name for arm in full.arms),
        trials=len(trials),
        prompt_tokens=estimate.prompt_tokens,
        output_tokens=estimate.output_tokens,
        cost=None if estimate.cost is None else f"{estimate.cost:f}",
        seconds=seconds(stages, trials),
    )


def calibrate(prepared: Prepared, targets: Mapping[str, Target]) -> Prepared:
    """With the estimate that the endpoints' own counts give. Blocks; not for the event loop."""
    ratios = calibrated(prepared.samples, targets)
    trials = planning.likely(prepared.stages, prepared.trials)
    estimate = estimated(prepared.samples, trials, prepared.prices, models=prepared.plan.model, ratios=ratios)
    return replace(prepared, estimate=estimate)


def check_budget(plan: Plan) -> None:
    """Raises `InputError` for a budget that is no amount of money."""
    money = plan.budget.money
    if money is None:
        return
    try:
        amount = float(Decimal(money))
    except InvalidOperation:
        amount = math.nan
    if not amount > 0:
        raise InputError(f"the budget {money!r} is no amount of money", remedy='a decimal above 0, such as "5.00"')


def _of_caches(plan: Plan, samples: Sequence[Sample], prices: Prices) -> tuple[str, ...]:
    """What will not come of what arms ask an endpoint to keep."""
    day = datetime.now(UTC).date()
    rows = [(model.id, prices.price(model.id, day)) for model in plan.model]
    minima = [(model, round(row.cache_minimum / TOKEN_RATIO)) for model, row in rows if row and row.cache_minimum]
    wanted = {arm.name for arm in plan.arms if getattr(arm, "cache", "off") != "off"}
    tried = [sample for sample in samples if sample.prompt is not None and not sample.prompt.tools]
    return tuple(said for one in tried for said in told(one.arm, one.kept, wanted=one.arm in wanted, minima=minima))


def _of_rules(plan: Plan, questions: Sequence[Question]) -> tuple[str, ...]:
    """Where the rules of routers tell nothing of any question, as of questions in another language."""
    arms = [arm.name for arm in plan.arms if isinstance(arm, Route) and arm.by == "rules"]
    if not arms or any(by_rules(question.question) != "unsure" for question in questions):
        return ()
    return (
        f"{', '.join(arms)}: the rules, which are of English, cannot tell the kind of any of the {len(questions)} "
        "questions: all go one way, as unsure; by = 'classifier' knows other languages",
    )


def _warnings(plan: Plan, corpus: Corpus, left_out: Sequence[str], prices: Prices) -> tuple[str, ...]:
    day = datetime.now(UTC).date()
    found = [
        f"no price for model {model.id}: its cost is unknown and totals are partial"
        for model in plan.model
        if prices.price(model.id, day) is None
    ]
    if plan.budget.money is not None and found:
        found.append("the budget in money cannot be kept for a model without a price")
    unread = [file for file in corpus.skipped if file.reason != "not in the manifest"]
    if unread:
        found.append(
            f"{len(unread)} files of the corpus folder were not read, such as {unread[0].path}: {unread[0].reason}"
        )
    if left_out:
        found.append(f"{len(left_out)} questions cannot be answered from this slice and were left out")
    if corpus.estimator != "o200k_base":
        found.append(f"token estimates are {corpus.estimator}: chunks differ from those of o200k_base")
    chunks = len(corpus.chunks)
    wide = [arm.name for arm in plan.arms if (getattr(arm, "k", 0) or 0) > chunks]
    if wide:
        found.append(f"{', '.join(wide)}: the corpus has only {chunks} chunks")
    levels = plan.load.rate or plan.load.levels
    if len(set(levels)) < len(levels):
        found.append("a level of load listed twice is run once")
    return tuple(found)
