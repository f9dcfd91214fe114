"""Everything that can be wrong is found here, before a folder is made or a request sent: corpus, questions, indexes,
prices, trials and the estimate of what they will cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from loadrig import corpus as corpora
from loadrig import plan as planning
from loadrig import questions as question_files
from loadrig.cost import Prices
from loadrig.retrievers import Retriever
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError
from loadrig.words.record import Usage
from loadrig.words.settings import Plan
from loadrig.words.trial import Stage, Trial
from loadrig.worker.library import build_indexes

OUTPUT_TOKENS = 300  # of a trial, thinking included: an estimate used before a run only
TOKEN_RATIO = Decimal("1.3")  # provider's count over o200k_base: 1.13 and 1.54 were seen, by model


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the trials would use. `cost` is None when a model has no price; `dearest` is one trial's."""

    prompt_tokens: int
    output_tokens: int
    cost: Decimal | None
    dearest: Decimal
    largest: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan ready to be fired."""

    plan: Plan
    corpus: Corpus
    questions: Mapping[str, Question]
    left_out: tuple[str, ...]
    indexes: Mapping[str, Retriever]
    index_ns: Mapping[str, int]
    prices: Prices
    stages: tuple[Stage, ...]
    trials: tuple[Trial, ...]
    estimate: Estimate
    warnings: tuple[str, ...]


def prepare(plan: Plan, *, build: bool = True) -> Prepared:
    """Reads and builds all a run needs; `build=False` leaves the indexes out. Raises `InputError`."""
    _check_budget(plan)
    prices = Prices.load(plan.prices.path)
    corpus = corpora.load(plan.corpus)
    asked = question_files.select(plan.questions, corpus)
    questions = asked.questions
    names = {name for arm in plan.arms for name in arm.retrievers}
    indexes, index_ns = build_indexes(names, corpus) if build else ({}, {})
    trials = planning.trials(plan, questions)
    estimate = estimated(plan, corpus, trials, prices)
    return Prepared(
        plan=plan,
        corpus=corpus,
        questions={question.id: question for question in questions},
        left_out=asked.left_out,
        indexes=indexes,
        index_ns=index_ns,
        prices=prices,
        stages=planning.stages(plan),
        trials=trials,
        estimate=estimate,
        warnings=_warnings(plan, corpus, asked.left_out, prices),
    )


def estimated(plan: Plan, corpus: Corpus, trials: Sequence[Trial], prices: Prices) -> Estimate:
    """Tokens and money of the trials, from each arm's own estimate and today's prices."""
    day = datetime.now(UTC).date()
    arms = {arm.name: round(arm.prompt_tokens(corpus) * TOKEN_RATIO) for arm in plan.arms}
    costs = {
        (arm, model.id): prices.cost(model.id, Usage(input=tokens, output=OUTPUT_TOKENS), day)
        for arm, tokens in arms.items()
        for model in plan.model
    }
    amounts = [found.amount for trial in trials if (found := costs[trial.arm, trial.model]) is not None]
    return Estimate(
        prompt_tokens=sum(arms[trial.arm] for trial in trials),
        output_tokens=OUTPUT_TOKENS * len(trials),
        cost=sum(amounts, Decimal(0)) if len(amounts) == len(trials) else None,
        dearest=max(amounts, default=Decimal(0)),
        largest=max(arms.values()) + OUTPUT_TOKENS,
    )


def _check_budget(plan: Plan) -> None:
    money = plan.budget.money
    if money is None:
        return
    try:
        amount = float(Decimal(money))
    except InvalidOperation:
        amount = math.nan
    if not amount > 0:
        raise InputError(f"the budget {money!r} is no amount of money", remedy='a decimal above 0, such as "5.00"')


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
    levels = plan.load.concurrency
    if len(set(levels)) < len(levels):
        found.append("a concurrency listed twice is run once")
    return tuple(found)
