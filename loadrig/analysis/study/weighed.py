"""The criteria of a study, each fed with its figures: of the first run; the width of the context of every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from loadrig.analysis.selection import ALL, asked, grouped, in_order
from loadrig.analysis.study import criteria
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.costs import Ratio, agent_arm, usual_arm, whole_arm
from loadrig.analysis.study.criteria import Criterion, Premium, Size, Volume
from loadrig.analysis.study.figures import Figures, scopes
from loadrig.analysis.usage import tool_use
from loadrig.context import window_of
from loadrig.stats import Share, wilson
from loadrig.words.record import Record
from loadrig.words.study import KnownSettings


def weighed(part: Part, known: KnownSettings, figures: Figures) -> Iterator[Criterion]:
    """Every criterion, in the order of the choices they speak for."""
    volume = Volume(
        known.questions_per_month,
        None if known.money_per_month is None else Decimal(known.money_per_month),
        known.users_wait,
    )
    ratios = figures.ratios
    sizes = [_size(part, model, known.windows) for model in part.models]
    mine = [one for one in figures.recalled if one.run == part.name and one.category != ALL and one.of == "recall"]
    by_size = [criteria.sized(size) for size in sizes]
    by_class = criteria.classes(mine)
    yield from (lines[0] for lines in by_size)
    yield from (criteria.premium(_premium(part, model, ratios), volume) for model in part.models)
    yield by_class[0]
    yield criteria.effort()
    yield from (lines[1] for lines in by_size)
    yield from by_class[1:]
    yield from (lines[2] for lines in by_size)
    yield from (criteria.adapts(model, _again(part, model)) for model in part.models)
    yield from (criteria.waits(model, _latency(part, model, ratios), volume) for model in part.models)
    yield from map(criteria.width, figures.splits)
    gaps = part.summary.behaviour.gaps
    yield from (criteria.grounds(model, [gap for gap in gaps if gap.model == model]) for model in part.models)
    widest = scopes(part)[-1]
    tested = grouped((one.model, one) for one in figures.tests if (one.scope, one.category) == (part.name, widest))
    yield from (criteria.noise(model, tested.get(model, [])) for model in part.models)
    yield criteria.inputs(sizes, volume, _kinds(part))


def _size(part: Part, model: str, windows: Mapping[str, int]) -> Size:
    whole = whole_arm(part)
    row = None if whole is None else part.figures(whole, model)
    if row is not None and row.tokens_per_question.prompt is not None:
        return Size(model, row.tokens_per_question.prompt, True, windows.get(model, window_of(model)))
    tokens = (part.run.manifest.get("corpus") or {}).get("tokens") or 0
    return Size(model, float(tokens), False, windows.get(model, window_of(model)))


def _premium(part: Part, model: str, ratios: Sequence[Ratio]) -> Premium:
    whole, narrow = whole_arm(part), usual_arm(part)
    tokens = _ratio(ratios, part.name, model, "tokens_in", whole, narrow)
    money = [_money(part, arm, model) for arm in (whole, narrow)]
    return Premium(model, narrow or "", tokens, money[0], money[1], part.summary.currency or "")


def _latency(part: Part, model: str, ratios: Sequence[Ratio]) -> float | None:
    return _ratio(ratios, part.name, model, "service", agent_arm(part), whole_arm(part))


def _ratio(
    ratios: Sequence[Ratio], run: str, model: str, name: str, over: str | None, under: str | None
) -> float | None:
    found = (
        one.ratio.value
        for one in ratios
        if (one.run, one.model, one.measure, one.over, one.under) == (run, model, name, over, under)
    )
    return next(found, None)


def _money(part: Part, arm: str | None, model: str) -> Decimal | None:
    row = None if arm is None else part.figures(arm, model)
    return None if row is None or row.cost.per_asked is None else Decimal(row.cost.per_asked)


def _again(part: Part, model: str) -> Share | None:
    """Of the first trial of each question; None for an agent that never called a tool."""
    agent = agent_arm(part)
    if all((row.arm, row.model) != (agent, model) for row in part.summary.behaviour.tools):
        return None
    firsts: dict[str, Record] = {}
    for record in in_order(part.run, asked(part.run)):
        if (record.arm, record.model) == (agent, model):
            firsts.setdefault(record.question, record)
    use = tool_use(list(firsts.values()))
    return wilson(use.reformulated, use.per_trial.n)


def _kinds(part: Part) -> str:
    counted = Counter(question.category for question in part.run.questions.values())
    return ", ".join(f"{n} {name}" for name, n in counted.items())
