"""The summary of a run: everything a report shows, as frozen values that encode to strict JSON (summary.json).

Times are integers of nanoseconds, money decimal strings, shares 0 to 1; null is "not available", never 0. Every
quantity is defined in docs/quantities.md. Figures of a simulated run are dial settings of the simulator, not evidence;
`simulated` and `note` say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loadrig.analysis import citations, timing
from loadrig.analysis.accuracy import ArmAccuracy, Dropped, accuracy_by_arm, correct, dropped
from loadrig.analysis.behaviour import Behaviour, behaviour
from loadrig.analysis.bill import Bill, PerQuestion, bill, currency_of, per_question
from loadrig.analysis.built import ArmBuilt, built
from loadrig.analysis.caching import ArmCaching, caching
from loadrig.analysis.checks import Counts, Repeated, counts, repeated_answers, warnings
from loadrig.analysis.contexts import looked_at
from loadrig.analysis.experiments.whole import Experiments, experiments
from loadrig.analysis.failures import FailureCount, failure_counts, phase_of
from loadrig.analysis.freshness import Freshness, freshness, troubles
from loadrig.analysis.frontier import Frontier, frontier
from loadrig.analysis.grading import GradingFigures, grading_figures
from loadrig.analysis.latency import FirstTurns, Latency, Searching, Spread, first_turns, latency, searching, spread
from loadrig.analysis.ledger import Spent, spent
from loadrig.analysis.load import StageLoad, stage_loads
from loadrig.analysis.long_context import LongContext, long_context
from loadrig.analysis.retrieval import ArmRecall, recall_by_arm
from loadrig.analysis.routes import Routing, routing, warned
from loadrig.analysis.safeguards import safeguards
from loadrig.analysis.safeguards.artefacts import Artefact, artefacts
from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.screening.whole import Screening, screening
from loadrig.analysis.selection import arm_names, asked, due, grouped, open_stages, planned, stage_names
from loadrig.analysis.sweep import Sweep, sweep
from loadrig.analysis.usage import (
    Count,
    TokenMeans,
    ToolUse,
    TurnMeans,
    by_turn,
    per_turn,
    token_means,
    tool_use,
    turns_per_trial,
)
from loadrig.log import RunFolder, read_prompts
from loadrig.measures.recall import CREDITING_RULE
from loadrig.words.record import Record
from loadrig.words.safeguard import Safeguard

SCHEMA = 1
SIMULATED = "simulated: figures are dial settings of the simulator, not evidence"


@dataclass(frozen=True, slots=True)
class Identity:
    """Which run this is, as its manifest says."""

    run: str
    plan: str
    timezone: str
    status: str | None
    version: str | None
    seed: int | None
    began_at: str | None
    ended_at: str | None
    command_line: Any
    corpus: Any
    machine: Any
    price_table: Any


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How many trials ended so; `reason` None: answered in full. `phase`: where a failed one was, if that is known."""

    outcome: str
    reason: str | None
    phase: str | None
    n: int


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm and model in one stage. Outcomes, tokens, tools and money: measured and tail trials; latency: timed.

    Of `n` planned trials `timed` are in the latencies; `tail` ended while the load was falling, `again` were asked
    before and lost, and the rest was not run. Open loop: `scheduled` latency is over what was due, of which `late`
    were never sent; in closed loop it and `dispatch_delay` are None.
    """

    arm: str
    model: str
    stage: str
    n: int
    timed: int
    tail: int
    again: int
    late: int
    outcomes: tuple[OutcomeCount, ...]
    scheduled: Latency | None
    dispatch_delay: Spread | None
    ttft: Latency
    ttfat: Latency
    service: Latency
    tpot: Spread
    gap_max: Spread
    retrieval: Searching
    first_turns: FirstTurns
    tokens_per_question: TokenMeans
    tokens_per_turn: TokenMeans
    by_turn: tuple[TurnMeans, ...]
    turns: Count
    tools: ToolUse
    cost: PerQuestion
    client_bound: bool | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in figures. `screening`: of one that was fired with --screen, None of any other; `freshness`: of one whose
    documents change in mid-run."""

    schema: int
    simulated: bool
    note: str | None
    identity: Identity
    currency: str | None
    counts: tuple[Counts, ...]
    stages: tuple[StageLoad, ...]
    sweep: Sweep | None
    arms: tuple[ArmFigures, ...]
    times: tuple[timing.ArmTimes, ...]
    failures: tuple[FailureCount, ...]
    crediting_rule: str
    recall: tuple[ArmRecall, ...]
    grading: GradingFigures
    accuracy: tuple[ArmAccuracy, ...]
    frontier: Frontier
    dropped: tuple[Dropped, ...]
    repeated_answers: tuple[Repeated, ...]
    behaviour: Behaviour
    experiments: Experiments
    long_context: LongContext
    bill: Bill
    spent: tuple[Spent, ...]
    built: tuple[ArmBuilt, ...]
    caching: tuple[ArmCaching, ...]
    safeguards: tuple[Safeguard, ...]
    artefacts: tuple[Artefact, ...]
    screening: Screening | None
    routing: Routing
    freshness: Freshness | None
    warnings: tuple[str, ...]


def summarize(run: RunFolder) -> Summary:
    """The summary of a run's folder; works on an interrupted or wholly failed run too."""
    simulated = bool(run.manifest.get("simulated"))
    counted, stages, accuracy = counts(run), stage_loads(run), accuracy_by_arm(run)
    repeated, whole, known = repeated_answers(run), bill(run), dropped(run)
    prompts = read_prompts(run.path)
    seen, recall = Seen(run, accuracy, known, repeated, prompts), recall_by_arm(run, prompts)
    checked, looked = safeguards(seen), looked_at(run, prompts)
    behaves, fresh = behaviour(run, looked, prompts), freshness(run, prompts)
    ways = routing(run)
    return Summary(
        schema=SCHEMA,
        simulated=simulated,
        note=SIMULATED if simulated else None,
        identity=_identity(run),
        currency=currency_of(run),
        counts=counted,
        stages=stages,
        sweep=sweep(run, stages),
        arms=_arms(run, {stage.stage: stage.client_bound for stage in stages}),
        times=timing.times(run),
        failures=failure_counts(run),
        crediting_rule=CREDITING_RULE,
        recall=recall,
        grading=grading_figures(run),
        accuracy=accuracy,
        frontier=frontier(run, accuracy),
        dropped=known,
        repeated_answers=repeated,
        behaviour=behaves,
        experiments=experiments(run, prompts),
        long_context=long_context(run, looked),
        bill=whole,
        spent=spent(run),
        built=built(run),
        caching=caching(run, prompts),
        safeguards=checked,
        artefacts=artefacts(checked),
        freshness=fresh,
        routing=ways,
        screening=screening(seen, looked, checked=checked, recall=recall, gaps=behaves.gaps),
        warnings=(
            *warnings(run, counted=counted, stages=stages, bill=whole),
            *troubles(fresh),
            *warned(ways),
            *citations.told(behaves.citations),
        ),
    )


def _identity(run: RunFolder) -> Identity:
    manifest = run.manifest
    plan = manifest.get("plan") or {}
    return Identity(
        run=str(manifest.get("run", run.path.name)),
        plan=str(plan.get("name", "plan")),
        timezone=str(plan.get("timezone", "UTC")),
        **{
            name: manifest.get(name)
            for name in ("status", "version", "seed", "began_at", "ended_at", "command_line", "corpus", "machine",
                         "price_table")
        },
    )  # fmt: skip


def _arms(run: RunFolder, bound: Mapping[str, bool | None]) -> tuple[ArmFigures, ...]:
    arms = {name: place for place, name in enumerate(arm_names(run))}
    stages = {name: place for place, name in enumerate(stage_names(run))}
    groups = grouped(((record.arm, record.model, record.stage), record) for record in planned(run))
    times = grouped(((record.arm, record.model, record.stage), record) for record in due(run))
    sent = grouped(((record.arm, record.model, record.stage), record) for record in asked(run))
    keys = sorted(groups, key=lambda key: (stages[key[2]], arms[key[0]], key[1]))
    return tuple(
        _figures(run, groups[key], sent.get(key, []), expected=times.get(key, []), bound=bound[key[2]]) for key in keys
    )


def _figures(
    run: RunFolder, all_planned: list[Record], sent: list[Record], *, expected: list[Record], bound: bool | None
) -> ArmFigures:
    first = all_planned[0]
    timed = [record for record in expected if record.outcome != "not_run"]
    is_open = first.stage in open_stages(run)
    outcomes = Counter((record.outcome, record.reason, phase_of(record)) for record in all_planned)
    tail = sum(record.phase == "tail" for record in sent)
    return ArmFigures(
        arm=first.arm,
        model=first.model,
        stage=first.stage,
        n=len(all_planned),
        timed=len(timed),
        tail=tail,
        again=len(sent) - tail - len(timed),
        late=len(expected) - len(timed),
        outcomes=tuple(OutcomeCount(*key, n) for key, n in sorted(outcomes.items(), key=str)),
        scheduled=latency(expected, "scheduled") if is_open else None,
        dispatch_delay=spread(expected, "dispatch_delay") if is_open else None,
        ttft=latency(timed, "ttft"),
        ttfat=latency(timed, "ttfat"),
        service=latency(timed, "service"),
        tpot=spread(timed, "tpot"),
        gap_max=spread(timed, "gap_max"),
        retrieval=searching(timed),
        first_turns=first_turns(timed),
        tokens_per_question=token_means(record.usage for record in sent),
        tokens_per_turn=per_turn(sent),
        by_turn=by_turn(sent),
        turns=turns_per_trial(sent),
        tools=tool_use(sent),
        cost=per_question(sent, currency_of(run), correct=correct(run, sent)),
        client_bound=bound,
    )
