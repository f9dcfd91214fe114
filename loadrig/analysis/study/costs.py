"""What each architecture costs beside another, within a model: tokens, time, money, as ratios over questions.

    ratio = mean over questions of the one arm / mean over the same questions of the other, with a bootstrap interval

Tokens of two models are never set side by side: they count differently, so across models only money is told. Times are
those of timed successes; a client-bound stage marks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loadrig.analysis.selection import asked, grouped, timed
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import Finding, times_told
from loadrig.measures import measure
from loadrig.statistics.clustered import Estimate, mean_ratio
from loadrig.words.record import Record, succeeded

USUAL_K = 5
TOLD = {"tokens_in": "prompt tokens", "tokens_out": "completion tokens", "service": "service time", "cost": "money"}
TIMES = frozenset({"service"})


@dataclass(frozen=True, slots=True)
class Ratio:
    """`over` / `under` of a measure; `client_bound`: of the stages its times are of, None where not checked or no
    time."""

    key: str
    run: str
    model: str
    measure: str
    over: str
    under: str
    ratio: Estimate
    client_bound: bool | None


def whole_arm(part: Part) -> str | None:
    """The arm that gives the whole corpus; None when there is none."""
    return next((arm for arm in part.wide if arm.startswith("full_context")), None)


def agent_arm(part: Part) -> str | None:
    """The arm that searches in turns; None when there is none."""
    return next((arm for arm in part.wide if arm.startswith("agentic")), None)


def usual_arm(part: Part) -> str | None:
    """The narrow arm with k = 5, else the narrowest; None when there is none."""
    usual = [arm for arm, k in part.narrow.items() if k == USUAL_K]
    return next(iter((*usual, *part.narrow)), None)


def ratios(part: Part) -> Iterator[Ratio]:
    """Whole corpus over narrow, and agentic over whole corpus, of every model."""
    whole, agent, usual = whole_arm(part), agent_arm(part), usual_arm(part)
    pairs = [(whole, usual, ("tokens_in", "service", "cost")), (agent, whole, tuple(TOLD))]
    for model in part.models:
        for over, under, measures in pairs:
            for name in measures:
                if over is not None and under is not None and (found := _ratio(part, model, name, (over, under))):
                    yield found


def told(found: Sequence[Ratio]) -> Iterator[Finding]:
    """One sentence for each run, model and pair of arms."""
    for (run, model, over, under), of in grouped(
        ((one.run, one.model, one.over, one.under), one) for one in found
    ).items():
        said = ", ".join(
            f"{times_told(one.ratio.value)} times the {TOLD[one.measure]}{_interval(one.ratio)}" for one in of
        )
        bound = {True: "; client-bound, times are partly the rig's own", None: "; client-bound not checked", False: ""}
        times = [one.client_bound for one in of if one.measure in TIMES]
        yield Finding(
            f"{run}, {model}: {over} takes, of what {under} does, {said}, over {of[0].ratio.n} questions"
            + (bound[times[0]] if times else ""),
            tuple(one.key for one in of),
            "description",
        )


def widths_told(part: Part) -> Iterator[Finding]:
    """What one more passage costs, and where retrieval costs as much as everything."""
    for one in part.summary.behaviour.widths:
        said = (
            f"{part.name}, {one.model}: one more passage takes {one.each:,.0f} prompt tokens, k = 0 {one.start:,.0f} "
            f"(least squares over k = {', '.join(map(str, one.points))})"
        )
        if one.crossover is not None and one.full is not None:
            of = f" of {one.passages}" if one.passages else ""
            said += f"; retrieval takes the {one.full:,.0f} of full context at k = {one.crossover:.1f}{of} passages"
            if one.passages and one.crossover > one.passages:
                said += ", that is never"
        yield Finding(said, (f"{part.name}/summary.json: behaviour.widths",), "description")


def money_told(part: Part) -> Iterator[Finding]:
    """Money a question of every model, the only cost that may be set side by side across models."""
    for model in part.models:
        rows = {row.arm: row.cost for row in part.summary.arms if row.model == model and row.arm in part.arms}
        known = {arm: cost.per_asked for arm, cost in rows.items() if cost.per_asked is not None}
        if known:
            least, most = (pick(known, key=lambda arm: float(known[arm] or 0)) for pick in (min, max))
            n = rows[least].asked
            yield Finding(
                f"{part.name}, {model}: a question costs from {float(known[least]):.6f} ({least}) to "
                f"{float(known[most]):.6f} {part.summary.currency or ''} ({most}), over {n} trials an arm",
                (f"{part.name}/summary.json: arms.cost",),
                "description",
            )


def _ratio(part: Part, model: str, name: str, arms: tuple[str, str]) -> Ratio | None:
    over, under = arms
    records = [r for r in timed(part.run) if succeeded(r)] if name in TIMES else list(asked(part.run))
    value: Callable[[Record], float | None] = measure(name).value
    values = [
        grouped((r.question, found) for r in records if (r.arm, r.model) == (arm, model)
                if (found := value(r)) is not None)
        for arm in (under, over)
    ]  # fmt: skip
    ratio = mean_ratio(values[0], values[1])
    if ratio is None:
        return None
    bound = [arm.client_bound for arm in part.summary.arms if (arm.arm, arm.model) in {(a, model) for a in arms}]
    return Ratio(
        f"ratio/{part.name}/{model}/{over}/{under}/{name}", part.name, model, name, over, under, ratio,
        (True if any(bound) else None if None in bound else False) if name in TIMES else None,
    )  # fmt: skip


def _interval(of: Estimate) -> str:
    return "" if of.low is None or of.high is None else f" [{times_told(of.low)}, {times_told(of.high)}]"
