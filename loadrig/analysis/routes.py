"""What became of questions that an arm sends different ways, and what that is worth beside one way for all.

A way is the route on the record: `lookup>rag`. Trials without one have failed before there was an answer, and are a way
of their own. Of a way: trials, right by the grading that counts (of each question the first asked trial, dropped ones
left out), latency of the timed trials, and what it cost, the classifier's turn and every turn before the last included.

A router is an arm of which a way names the arm that answered: retrieval, the whole set, an agent. An arm with ways of
another kind (a question was split, or asked whole) has its ways told and is held against nothing.

Beside an arm that treats all questions alike, over the questions that both were asked:

    difference = share right of the router - share right of the other, with a bootstrap interval over questions
    cost       = mean cost of a question of the router / mean cost of one of the other, likewise

a question's cost being the mean over its trials whose cost is known exactly. Where the router comes within a point of
an arm it has reached it. Stuffed over retrieved is the same ratio between two arms that treat all alike; within a
router, where the ways got different questions, it is the plain ratio of their means, and says so. Over
`COST_RATIO_ALERT` it is told as a warning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadrig.analysis.accuracy import can_be_graded, correct, dropped, verdict
from loadrig.analysis.bill import PerQuestion, currency_of, per_question
from loadrig.analysis.confidence import Reliability, reliability
from loadrig.analysis.latency import Spread, spread
from loadrig.analysis.selection import arm_names, asked, by_arm_and_model, grouped, in_order, timed
from loadrig.context import COST_RATIO_ALERT
from loadrig.cost import is_open
from loadrig.log import RunFolder
from loadrig.statistics.clustered import mean_difference, mean_ratio
from loadrig.statistics.keyed import Verdicts, single_each
from loadrig.stats import Share, wilson
from loadrig.words.record import Record

NO_WAY = "none: no answer"
STUFFED, RETRIEVED = "full_context", "rag"
WAYS = (STUFFED, RETRIEVED, "agentic")
A_POINT = 0.01
Values = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Way:
    """`n` of the arm's `of` asked trials went it; shares of trials have no interval, for repetitions are not
    independent. `right`: of the questions that first went it. `notes`: why, and how often, where it is not plain."""

    arm: str
    model: str
    way: str
    n: int
    of: int
    right: Share | None
    ttfat: Spread
    service: Spread
    cost: PerQuestion
    notes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Beside:
    """A router and an arm with one way for all: `n` questions right or not in both, `cost_n` whose cost is known in
    both. `difference` is a share of 1; `low`, `high`: None too where the two agree on every question, for drawing from
    these alone would claim that they always do. `reached`: not more than a point below, whatever the interval."""

    arm: str
    model: str
    against: str
    n: int
    right: float | None
    right_against: float | None
    difference: float | None
    low: float | None
    high: float | None
    reached: bool | None
    cost_n: int
    cost: float | None
    cost_low: float | None
    cost_high: float | None


@dataclass(frozen=True, slots=True)
class Premium:
    """What a stuffed question costs in retrieved ones: `ratio` of the means over `n_stuffed` and `n_retrieved`
    questions, the same ones where `paired`. `alert`: over `COST_RATIO_ALERT`."""

    model: str
    stuffed: str
    retrieved: str
    paired: bool
    n_stuffed: int
    n_retrieved: int
    mean_stuffed: float
    mean_retrieved: float
    ratio: float
    alert: bool


@dataclass(frozen=True, slots=True)
class Routing:
    """All of it; empty tuples where no arm sends questions different ways and nothing can be compared."""

    ways: tuple[Way, ...] = ()
    beside: tuple[Beside, ...] = ()
    premiums: tuple[Premium, ...] = ()
    reliability: tuple[Reliability, ...] = ()


def routing(run: RunFolder) -> Routing:
    """The figures of a run."""
    told = {record.arm for record in asked(run) if record.route is not None}
    routed = {record.arm for record in asked(run) if is_sent(record.route or "")}
    alike = [arm for kind in (STUFFED, RETRIEVED) for arm in _of_kind(run, kind) if arm not in told]
    known = {(drop.question, drop.model) for drop in dropped(run)} if told else set()
    costs = _costs(run, {*routed, *alike})
    verdicts = _verdicts(run, {*routed, *alike}, known) if routed else {}
    return Routing(
        ways=tuple(_ways(run, told, known)),
        beside=tuple(one for arm in arm_names(run) if arm in routed for one in _beside(arm, alike, costs, verdicts)),
        premiums=(*_between(alike, costs), *_within(run, routed)),
        reliability=reliability(run),
    )


def warned(found: Routing) -> Iterator[str]:
    """The largest premium of each model that is over the alert."""
    for model, of in grouped((one.model, one) for one in found.premiums if one.alert).items():
        most = max(of, key=lambda one: one.ratio)
        n = f"{most.n_stuffed}" if most.paired else f"{most.n_stuffed} and {most.n_retrieved}"
        more = f", and {len(of) - 1} more" if len(of) > 1 else ""
        yield (
            f"{model}: a question costs {most.ratio:.1f} times as much by {most.stuffed} as by {most.retrieved} "
            f"(n = {n} questions{more}): over {COST_RATIO_ALERT:g}, retrieve unless the whole set is needed"
        )


def is_sent(way: str) -> bool:
    """Whether a way names an arm that a question was sent to."""
    return not set(WAYS).isdisjoint(way.split(">"))


def way_of(record: Record) -> str:
    """The way a routed arm's trial went."""
    return record.route or NO_WAY


def _ways(run: RunFolder, told: set[str], known: set[tuple[str, str]]) -> Iterator[Way]:
    in_time = {(record.trial, record.try_no) for record in timed(run)}
    records = [record for record in in_order(run, asked(run)) if record.arm in told]
    for arm, model, found in by_arm_and_model(run, (((r.arm, r.model), r) for r in records)):
        firsts = {record.question: record for record in reversed(found) if (record.question, model) not in known}
        right = grouped((way_of(record), record) for record in firsts.values() if can_be_graded(run, record))
        for way, of in sorted(grouped((way_of(record), record) for record in found).items()):
            times = [record for record in of if (record.trial, record.try_no) in in_time]
            keyed = right.get(way, [])
            yield Way(
                arm=arm, model=model, way=way, n=len(of), of=len(found),
                right=wilson(sum(bool(verdict(run, record)) for record in keyed), len(keyed)),
                ttfat=spread(times, "ttfat"), service=spread(times, "service"),
                cost=per_question(of, currency_of(run), correct=correct(run, of)),
                notes=dict(sorted(Counter(record.route_note for record in of if record.route_note).items())),
            )  # fmt: skip


def _beside(
    arm: str, others: Sequence[str], costs: Mapping[str, Values], verdicts: Mapping[str, Mapping[str, Verdicts]]
) -> Iterator[Beside]:
    for model, spent in sorted(costs.items()):
        for other in others:
            mine, theirs = (verdicts.get(model, {}).get(name, {}) for name in (arm, other))
            right = mean_difference(single_each(theirs), single_each(mine))
            cost = mean_ratio(spent.get(other, {}), spent.get(arm, {}))
            if right is not None or cost is not None:
                is_drawn = right is not None and right.low != right.high
                yield Beside(
                    arm, model, other,
                    n=right.n if right else 0,
                    right=right.b if right else None, right_against=right.a if right else None,
                    difference=right.value if right else None,
                    low=right.low if right and is_drawn else None, high=right.high if right and is_drawn else None,
                    reached=reaches(right.value) if right else None,
                    cost_n=cost.n if cost else 0, cost=cost.value if cost else None,
                    cost_low=cost.low if cost else None, cost_high=cost.high if cost else None,
                )  # fmt: skip


def reaches(difference: float) -> bool:
    """Whether a share right that differs by so much is within a point of the other, or above it.

    >>> reaches(0.39 - 0.40)
    True
    """
    return round(difference, 9) >= -A_POINT


def _between(alike: Sequence[str], costs: Mapping[str, Values]) -> Iterator[Premium]:
    """Of two arms with one way for all, over the questions that both were asked."""
    for model, spent in sorted(costs.items()):
        for over in (arm for arm in alike if _is(arm, STUFFED)):
            for under in (arm for arm in alike if _is(arm, RETRIEVED)):
                common = spent.get(over, {}).keys() & spent.get(under, {}).keys()
                sides = [{q: of for q, of in spent.get(arm, {}).items() if q in common} for arm in (over, under)]
                yield from _premium(model, (over, under), sides, paired=True)


def _within(run: RunFolder, routed: set[str]) -> Iterator[Premium]:
    """Of the trials that a router sent one way, where they stayed."""
    records = (record for record in asked(run) if record.arm in routed)
    for arm, model, found in by_arm_and_model(run, (((r.arm, r.model), r) for r in records)):
        sides = [_by_question(record for record in found if _only_way(record) == way) for way in (STUFFED, RETRIEVED)]
        yield from _premium(model, (f"{arm}, {STUFFED}", f"{arm}, {RETRIEVED}"), sides, paired=False)


def _only_way(record: Record) -> str | None:
    ways = [part for part in (record.route or "").split(">") if part in WAYS]
    return ways[0] if len(ways) == 1 else None


def _premium(
    model: str, names: tuple[str, str], sides: Sequence[Mapping[str, Sequence[float]]], *, paired: bool
) -> Iterator[Premium]:
    over, under = ([sum(of) / len(of) for of in side.values()] for side in sides)
    if not over or not under or not sum(under):
        return
    dear, cheap = sum(over) / len(over), sum(under) / len(under)
    yield Premium(
        model, *names, paired, n_stuffed=len(over), n_retrieved=len(under),
        mean_stuffed=dear, mean_retrieved=cheap, ratio=dear / cheap, alert=alerts(dear / cheap),
    )  # fmt: skip


def alerts(ratio: float) -> bool:
    """Whether stuffed questions cost so many retrieved ones that somebody should look; exactly the figure is none."""
    return ratio > COST_RATIO_ALERT


def _of_kind(run: RunFolder, kind: str) -> list[str]:
    return [arm for arm in arm_names(run) if _is(arm, kind)]


def _is(arm: str, kind: str) -> bool:
    return arm == kind or arm.startswith(f"{kind}-")


def _costs(run: RunFolder, arms: set[str]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Known costs of these arms' asked trials by model, arm and question."""
    models = grouped((record.model, record) for record in asked(run) if record.arm in arms)
    return {
        model: {arm: _by_question(of) for arm, of in grouped((record.arm, record) for record in found).items()}
        for model, found in models.items()
    }


def _by_question(records: Iterable[Record]) -> dict[str, list[float]]:
    """Costs that are known, and exactly."""
    return grouped(
        (record.question, float(record.cost))
        for record in records
        if record.cost is not None and record.usage is not None and not is_open(record.usage)
    )


def _verdicts(run: RunFolder, arms: set[str], known: set[tuple[str, str]]) -> dict[str, dict[str, dict[str, bool]]]:
    """Right or not by model, arm and question, of its first asked trial; dropped questions left out."""
    found: dict[str, dict[str, dict[str, bool]]] = {}
    for record in in_order(run, (record for record in asked(run) if record.arm in arms)):
        if (record.question, record.model) not in known and can_be_graded(run, record):
            of = found.setdefault(record.model, {}).setdefault(record.arm, {})
            of.setdefault(record.question, bool(verdict(run, record)))
    return found
