"""The tables of a nightly report, the same for page, Markdown and terminal.

A cell may have several lines. A night of which nothing was answered has no cost, and so no bar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby

from loadrig.analysis.bill import Bill, PerQuestion, plain
from loadrig.analysis.nightly.standing import JUDGED
from loadrig.analysis.nightly.sums import Interval, Row
from loadrig.analysis.nightly.usage_report import COUNTS, Reconciled, Used
from loadrig.analysis.nightly.weeks import Week
from loadrig.analysis.nightly.whole import FromTo, NightLine, Nightly
from loadrig.reports.table import NONE, Table, amount, money, number, seconds
from loadrig.stats import Quantile

NIGHTS, LAST, BILL, CHANGE = "Nights", "Last night", "The whole bill of the night", "From night to night"
ON_SCREEN = (NIGHTS, LAST, BILL, CHANGE)
BAR = 10
BREAK = "\n"
BLOCKS = " ▏▎▍▌▋▊▉█"
MEANT = {
    "price": "the same tokens at other rates",
    "tokens": "more or fewer tokens for the same questions",
    "price and tokens": "rates on file do not explain each cost, so the two are one",
    "mix": "other shares of arms, models and categories",
    "failure": "another share of trials that failed",
}


def tables(found: Nightly) -> Iterator[Table]:
    """In the order in which somebody who has a minute reads."""
    yield _nights(found)
    yield _last(found)
    yield _bill(found.bill)
    if found.change is not None:
        yield _change(found.change)
    yield from _weeks(found)
    if found.reconciled is not None:
        yield _reconciled(found.reconciled)


def bar(share: float) -> str:
    """A bar of up to ten characters: `███▌` of 0.35; at least an eighth of one for what is not 0."""
    eighths = max(round(min(share, 1.0) * BAR * 8), 1 if share > 0 else 0)
    return BLOCKS[8] * (eighths // 8) + (BLOCKS[eighths % 8] if eighths % 8 else "")


def _nights(found: Nightly) -> Table:
    costs = [night.whole.cost for night in found.nights if night.whole is not None and night.standing in JUDGED]
    most = max((Decimal(cost.per_asked) for cost in costs if cost.per_asked), default=Decimal(0))
    judged = f"{found.looked_back} of the nights before {found.day} are what it is held against"
    return Table(
        NIGHTS,
        ("night", f"{_unit(found)} a question", "asked", "failed", "tokens", "TTFT p95, s", "right"),
        tuple(_nights_of(found.nights, most)),
        (
            *([found.note] if found.note else []),
            f"{found.of}; days of {found.timezone}; a night is the runs that began on that day",
            "a question: per question asked, with its 95 % interval over questions; tokens: prompt and output, of "
            "those not failed; TTFT p95: over successes of all arms; right: by pre-check, of questions with a key",
            f"{found.rule}; {judged}",
            "* unusual; in parentheses: of a night that is neither judged nor looked back on",
        ),
    )  # fmt: skip


def _nights_of(nights: Iterable[NightLine], most: Decimal) -> Iterator[tuple[str, ...]]:
    """A row a night; of nights missed one after the other, one for all."""
    for is_missed, found in groupby(nights, key=lambda night: night.standing == "missed"):
        several = list(found)
        if is_missed and len(several) > 1:
            yield (f"{several[0].day}\nto {several[-1].day}\n{len(several)} missed", *[NONE] * 6)
        else:
            yield from (_night(night, most) for night in several)


def _night(night: NightLine, most: Decimal) -> tuple[str, ...]:
    name = night.day if night.standing == "sound" else f"{night.day}\n{night.standing}"
    whole = night.whole
    if whole is None:
        return (name, *[NONE] * 6)
    star = dict.fromkeys(night.unusual, "*")
    each = whole.cost.per_asked
    is_judged = night.standing in JUDGED
    drawn = "" if each is None or not most or not is_judged else f"\n{bar(float(Decimal(each) / most))}"
    cost = _each(whole.cost, each, whole.asked_interval, star.get("cost per question", ""))
    return (
        f"{name}{drawn}",
        cost if is_judged else f"({cost.partition(BREAK)[0]})",
        f"{whole.cost.asked:,}",
        _share(whole.failed_share) + star.get("share failed", ""),
        number(whole.tokens) + star.get("tokens a question", ""),
        _seconds(night.ttft_p95) + star.get("TTFT p95", ""),
        _share(whole.right) + star.get("share right", ""),
    )


def _last(found: Nightly) -> Table:
    groups = [("all", [found.whole] if found.whole else [])]
    groups += [("arm", list(found.arms)), ("model", list(found.models) if len(found.models) > 1 else [])]
    groups += [("category", list(found.categories)), ("route", list(found.routes))]
    several = len(found.models) > 1
    unit = _unit(found)
    return Table(
        f"{LAST}",
        (found.day, "asked, answered, right", *(f"{unit} per {what}" for what in ("asked", "answered", "right"))),
        tuple((_name(kind, one, several=several), *_costs(one)) for kind, of in groups for one in of),
        (
            f"runs: {', '.join(found.runs)}",
            "costs hold failed trials and retries of theirs; in brackets the 95 % interval over questions, whose "
            "trials in all arms are one cluster; right: by pre-check",
        ),
    )  # fmt: skip


def _name(kind: str, one: Row, *, several: bool) -> str:
    arm = one.arm or ""
    if one.arm is not None and several:
        arm = f"{one.arm} ({one.model})"
    names = {
        "all": "all", "arm": arm, "model": f"model {one.model}", "category": f"category {one.category}",
        "route": f"{arm}: {one.route}",
    }  # fmt: skip
    return names[kind]


def _costs(one: Row) -> tuple[str, ...]:
    cost = one.cost
    if not cost.answered:
        return f"{cost.asked:,}, 0, {NONE}", NONE, NONE, NONE
    return (
        f"{cost.asked:,}, {cost.answered:,}, {number(cost.correct)}",
        _each(cost, cost.per_asked, one.asked_interval),
        _each(cost, cost.per_answered, one.answered_interval),
        _each(cost, cost.per_correct, one.correct_interval),
    )


def _each(cost: PerQuestion, each: str | None, interval: Interval | None, star: str = "") -> str:
    if each is None:
        return NONE
    low = ">= " if cost.total.at_least or cost.total.unknown else ""
    if interval is None or (interval.low is None and interval.high is None):
        return f"{low}{amount(each)}{star}"
    return f"{low}{amount(each)}{star}\n[{_end(interval.low)}, {_end(interval.high)}]"


def _end(value: float | None) -> str:
    """To three digits: more would be noise."""
    return NONE if value is None else plain(round(Decimal(repr(value)), 2 - Decimal(repr(value)).adjusted()))


def _bill(bill: Bill) -> Table:
    rows = [(line.name, money(line.money)) for line in bill.lines if line.money.unknown or line.money.amount != "0"]
    notes = (
        "the lines add up to the total; a line of nothing is left out",
        "measured, tail, classifier, retries, failed: what the questions cost; the rest belongs to no question",
    )
    return Table(BILL, ("line", "money"), (*rows, ("total", money(bill.total))), notes)


def _change(of: FromTo) -> Table:
    change = of.change
    before = Decimal(change.before)

    def part(text: str) -> tuple[str, str]:
        value = Decimal(text)
        if not value:
            return "0", "0"
        return f"{value:+.{max(2, 3 - value.adjusted())}f}", NONE if not before else f"{100 * value / before:+.1f} %"

    rows = [
        (of.before, amount(change.before), ""),
        *((f"{one.factor}:\n{MEANT[one.factor]}", *part(one.amount)) for one in change.parts),
        (of.after, amount(change.after), part(change.difference)[1]),
    ]
    notes = ["the parts add up to the difference to the last digit; each is the mean over all orders of change"]
    if change.unknown:
        notes.append(f"{change.unknown} charges of unknown cost are in neither night")
    return Table(CHANGE, ("", "a question asked", f"of {of.before}"), tuple(rows), tuple(notes))


def _weeks(found: Nightly) -> Iterator[Table]:
    unit = _unit(found)
    heads = ("week", "days", "asked", f"{unit} per asked", f"{unit} per right", "failed")
    several = len(found.models) > 1
    for title, of in (("By week and arm", found.weeks.arms), ("By week and route", found.weeks.routes)):
        if of:
            yield Table(title, heads, tuple(_week(one, several=several) for one in of),
                        ("ISO weeks; days: with an asked trial, by the day it began on",))  # fmt: skip


def _week(of: Week, *, several: bool) -> tuple[str, ...]:
    cost = of.row.cost
    kind = "arm" if of.row.route is None else "route"
    each = (_each(cost, cost.per_asked, None), _each(cost, cost.per_correct, None)) if cost.answered else (NONE, NONE)
    return (
        f"{of.week}\n{_name(kind, of.row, several=several)}", str(of.days), f"{cost.asked:,}", *each,
        _share(of.row.failed_share),
    )  # fmt: skip


def _reconciled(found: Iterable[Reconciled]) -> Table:
    rows = tuple(
        (f"{one.day}\n{one.model}", name, *(_used(of, name) for of in (one.ours, one.theirs, one.difference)))
        for one in found
        for name in (*COUNTS, "cost")
    )
    notes = (
        "by UTC day, as providers add up, and by the model that replied; difference: theirs - ours",
        "their report is of all that the key was used for, and may be hours late",
    )
    return Table("Beside the provider's usage report", ("UTC day", "", "ours", "theirs", "difference"), rows, notes)


def _used(of: Used, name: str) -> str:
    value = getattr(of, name)
    return amount(value) if name == "cost" else number(value)


def _unit(found: Nightly) -> str:
    return found.currency or "cost"


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}".removesuffix(".0") + " %"


def _seconds(found: Quantile | None) -> str:
    return seconds(found).rstrip("*")
