"""The whole advice: reads a corpus and its questions, makes the prompts of a few arms, and weighs what is known.

Nothing is sent. What nobody can know before a run is said, with the run that would tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from loadrig import context
from loadrig import corpus as corpora
from loadrig import questions as question_files
from loadrig.advice.costing import ArmCost, Market, costed, crossover_per_day, keeps
from loadrig.advice.deciding import Decision, decided
from loadrig.advice.factors import Factor, Index, factors
from loadrig.advice.kinds import kinds_of
from loadrig.advice.mistakes import Mistake, Planned, mistakes
from loadrig.advice.situation import Changes, Situation
from loadrig.arms.agentic import Agentic
from loadrig.arms.cached_core import CachedCore
from loadrig.arms.decompose import Decompose
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.arms.route import Route
from loadrig.arms.summaries import Summaries
from loadrig.corpus.rights import Rights, rights_of
from loadrig.corpus.rights import told as odd_rights
from loadrig.cost import Prices
from loadrig.execution.estimate import OUTPUT_TOKENS, TOKEN_RATIO
from loadrig.execution.sampling import few_of, sampled
from loadrig.retrievers import needed
from loadrig.words.arm import Arm
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings, NamedRetriever, Plan, QuestionSettings
from loadrig.worker.library import build_indexes

WORDS = "bm25"
OURS: tuple[Arm, ...] = (
    FullContext(cache="5m", mixed_rights=True),  # priced whatever the rights: the record says whether it may be built
    Rag(k=context.RAG_TOP_K),
    Agentic(),
    CachedCore(mixed_rights=True),
    Summaries(mixed_rights=True),
    Decompose(),
    Route(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the user says. `window`: of the model, where loadrig does not know it. `mixed_rights`: callers may see
    different parts, though no label says so. `money_per_month`: what the answers may cost, in the table's currency."""

    corpus: CorpusSettings
    questions: QuestionSettings
    model: str
    changes: Changes = "never"
    per_day: float | None = None
    mixed_rights: bool = False
    interactive: bool = False
    window: int | None = None
    prices: str | None = None
    money_per_month: Decimal | None = None
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """What nobody knows before a run, and what tells it."""

    what: str
    told_by: str


@dataclass(frozen=True, slots=True)
class Advice:
    """All of it. `tokens_by_model`: the corpus as the model counts it, by an assumed ratio. `tried`: questions whose
    prompts were made for the costs."""

    corpus: str
    model: str
    estimator: str
    tokens_by_model: int
    questions: int
    tried: int
    situation: Situation
    record: tuple[Decision, ...]
    factors: tuple[Factor, ...]
    costs: tuple[ArmCost, ...]
    currency: str
    mistakes: tuple[Mistake, ...]
    unknown: tuple[Unknown, ...]
    assumed: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    corpus: Corpus
    questions: tuple[Question, ...]
    rights: Rights


def advise(asked: Asked) -> Advice:
    """The advice. Raises `InputError` for what cannot be read, and for a model whose window nobody said."""
    window = _window(asked)
    corpus = corpora.load(asked.corpus)
    questions = question_files.load(asked.questions, corpus)
    read = _Read(corpus, questions, rights_of(corpus, questions))
    market = Market(asked.model, Prices.load(asked.prices), datetime.now(UTC).date(), window, asked.per_day)
    planned = () if asked.plan is None else asked.plan.arms
    named = () if asked.plan is None else asked.plan.retriever
    names = _by_words((name for arm in (*OURS, *planned) for name in arm.retrievers), named)
    indexes, took_ns = build_indexes(names, corpus, given=named)
    index = Index(len(corpus.chunks), took_ns[WORDS] / 1e9)
    samples, theirs = (sampled(arms, questions, corpus, indexes) for arms in (OURS, planned))
    costs = costed(samples, market)
    by_kind = {cost.kind: cost for cost in costs}
    situation = _situation(asked, read, by_kind["FullContext"], by_kind["Rag"], market=market)
    mine = {cost.arm for cost in costs}
    return Advice(
        corpus=corpus.name,
        model=asked.model,
        estimator=corpus.estimator,
        tokens_by_model=round(corpus.tokens * TOKEN_RATIO),
        questions=len(questions),
        tried=len(few_of(questions)),
        situation=situation,
        record=decided(situation),
        factors=factors(situation, by_kind, index),
        costs=(*costs, *(cost for cost in costed(theirs, market) if cost.arm not in mine)),
        currency=market.prices.currency,
        mistakes=mistakes(situation, None if asked.plan is None else Planned(planned, theirs)),
        unknown=UNKNOWN,
        assumed=_assumed(),
        warnings=tuple(_warnings(read, situation, asked, priced=market.price is not None)),
    )


def _by_words(names: Iterable[str], given: Sequence[NamedRetriever]) -> set[str]:
    """Those that search by words alone: others may ask an endpoint, or take long to build. Arms with those are known by
    their own guess."""
    kinds = {one.name: one.options for one in given}
    return {
        name
        for name in names
        if all(
            type(kind).__module__.startswith(f"loadrig.retrievers.{WORDS}") for kind in needed([name], kinds).values()
        )
    }


def _window(asked: Asked) -> int:
    window = asked.window or context.window_of(asked.model)
    if window is None:
        raise InputError(f"the window of {asked.model!r} is not known", remedy="say it in tokens: --window 200000")
    return window


def _situation(asked: Asked, read: _Read, full: ArmCost, narrow: ArmCost, *, market: Market) -> Situation:
    affordable = None
    if asked.money_per_month is not None and asked.per_day is not None and full.expected is not None:
        affordable = keeps(full.expected, asked.per_day, asked.money_per_month)
    return Situation(
        tokens=read.corpus.tokens,
        window=market.window,
        uniform=not (read.rights.mixed or asked.mixed_rights),
        changes=asked.changes,
        kinds=kinds_of(read.questions, len(read.corpus.documents)),
        documents=read.rights.documents,
        restricted=read.rights.labelled,
        per_day=asked.per_day,
        crossover_per_day=crossover_per_day(full, market),
        affordable=affordable,
        premium=full.prompt_tokens / narrow.prompt_tokens,
        dearer=float(full.expected / narrow.expected) if full.expected and narrow.expected else None,
        interactive=asked.interactive,
    )


UNKNOWN = (
    Unknown("accuracy of each arm on these questions, and whether they differ beyond noise", "run --screen"),
    Unknown("whether a category has recall below 1 at every k: then retrieval alone will not do", "run --screen"),
    Unknown("whether this model is safer with less before it: wider is not always better", "run, with several k"),
    Unknown("time to first token at these sizes under your load, and an agent's number of turns", "run, sweep"),
    Unknown("the model's own count of tokens, and the share of hits as your questions come", "plan --calibrate, run"),
    Unknown("differences inside noise: there cost, latency and effort decide, not accuracy", "compare"),
)


def _assumed() -> tuple[str, ...]:
    return (
        f"{TOKEN_RATIO} tokens of the model for one of ours",
        f"{OUTPUT_TOKENS} output tokens a question",
        "questions come independently, evenly over day and night",
        "an agent's turns: its arm's guess",
    )


def _warnings(read: _Read, situation: Situation, asked: Asked, *, priced: bool) -> Iterator[str]:
    if not priced:
        yield f"no price for model {asked.model}: costs, and from how many questions a cache pays, are unknown"
    if situation.kinds.guessed:
        yield f"the kind of {situation.kinds.guessed} of {situation.kinds.n} questions is told by their wording alone"
    if asked.per_day is None:
        yield "volume was not told: say how many questions a day with --per-day"
    if read.corpus.estimator != "o200k_base":
        yield f"token estimates are {read.corpus.estimator}"
    unread = [file.path for file in read.corpus.skipped if file.reason != "not in the manifest"]
    if unread:
        yield f"files of the corpus folder that were not read: {len(unread)}, such as {unread[0]}"
    yield from odd_rights(read.rights)
