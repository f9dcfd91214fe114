"""What a nightly report says first, in sentences: what is wrong, what is unusual, what could not be judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from loadrig.analysis.nightly.anomalies import Finding, Judged, Measure
from loadrig.analysis.nightly.standing import JUDGED
from loadrig.analysis.nightly.whole import Nightly
from loadrig.analysis.selection import grouped
from loadrig.reports.table import amount, money, percent

BAD, ODD, FINE = "!", "~", ""
CAUSES = {
    "price": "the price alone",
    "tokens": "tokens",
    "price and tokens": "price or tokens, which the rates on file do not tell apart",
    "mix": "the mix of questions and arms",
    "failure": "failures",
}


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence; `mark`: `!` for what somebody should look at, `~` for what is unusual and not worse, else empty."""

    mark: str
    text: str


def headline(found: Nightly) -> str | None:
    """The night in one line; None where nothing was answered."""
    whole = found.whole
    if whole is None or not whole.cost.answered:
        return None
    cost = whole.cost
    low = ">= " if cost.total.at_least or cost.total.unknown else ""
    line = f"{low}{amount(cost.per_asked)} {found.currency or ''}".rstrip() + " a question"
    if found.change is not None and Decimal(found.change.change.before):
        change = found.change
        moved = 100 * Decimal(change.change.difference) / Decimal(change.change.before)
        line += f", {moved:+.1f} % on {change.before}" if moved else f", as on {change.before}"
    right = "" if cost.correct is None else f", {cost.correct:,} right"
    return f"{line}; {cost.asked:,} asked, {cost.answered:,} answered{right}; whole bill {money(found.bill.total)}"


def said(found: Nightly) -> list[Said]:
    """In the order of their weight."""
    alike = grouped(((one.judged.measure, one.worse, one.cause), one) for one in found.findings)
    everything = [*_broken(found), *(_finding(of, found) for of in alike.values()), *_plain(found)]
    return sorted(everything, key=lambda one: (BAD, ODD, FINE).index(one.mark))


def _broken(found: Nightly) -> Iterator[Said]:
    if found.trouble is not None:
        yield Said(BAD, f"Tonight's run came to nothing, and this report is of {found.day}: {found.trouble}")
    yield from (Said(BAD, f"Left out: {one}") for one in found.unreadable)
    if found.standing != "sound":
        judged = "Its times are partly the rig's own." if found.standing in JUDGED else "It is not judged."
        (here,) = (night for night in found.nights if night.day == found.day)
        mark = ODD if found.standing in JUDGED else BAD
        yield Said(mark, f"The night of {found.day}: {found.standing} ({'; '.join(here.troubles)}). {judged}")
    missed = list(_missed(found))
    if missed:
        that = " that can be read" if found.unreadable else ""
        yield Said(BAD, f"Missed: no run{that} began on {', '.join(missed)}.")
    broken = [f"{night.day} {night.standing}" for night in found.nights
              if night.standing not in (*JUDGED, "missed") and night.day != found.day]  # fmt: skip
    if broken:
        yield Said(ODD, f"Not whole, and not looked back on: {', '.join(broken)}.")


def _missed(found: Nightly) -> Iterator[str]:
    """Nights missed one after the other as from first to last."""
    for is_missed, nights in groupby(found.nights, key=lambda night: night.standing == "missed"):
        days = [night.day for night in nights]
        if is_missed:
            yield days[0] if len(days) == 1 else f"{days[0]} to {days[-1]} ({len(days)} nights)"


def _finding(alike: Sequence[Finding], found: Nightly) -> Said:
    """Of figures that moved the same way for the same reason the first in full, and then the others."""
    one, judged = alike[0], alike[0].judged
    who = "" if one.arm is None else f"{one.arm} ({one.model}): "
    text = (
        f"{who}{judged.measure} {value(judged.measure, judged.value, found)}, {_distance(judged, found)} the median of "
        f"{judged.n} earlier nights ({value(judged.measure, judged.median, found)}, unusual beyond \N{PLUS-MINUS SIGN}"
        f"{value(judged.measure, judged.limit, found)})"
    )
    if judged.measure == "cost per question":
        cause = "no single cause" if one.cause is None else CAUSES[one.cause]
        text += f"; against {one.against} the reason is {cause}"
    others = [f"{other.arm} ({_distance(other.judged, found)})" for other in alike[1:]]
    if others:
        text += f"; likewise {', '.join(others)}"
    return Said(BAD if one.worse else ODD, f"{text}.")


def _distance(judged: Judged, found: Nightly) -> str:
    way = "above" if judged.value > judged.median else "below"
    by = abs(judged.value - judged.median)
    if judged.median and judged.measure not in ("share failed", "share right"):
        return f"{percent(by / judged.median)} {way}"
    return f"{value(judged.measure, by, found)} {way}"


def _plain(found: Nightly) -> Iterator[Said]:
    if found.looked_back < found.least:
        few = f"{found.looked_back} earlier night{'' if found.looked_back == 1 else 's'}"
        yield Said(FINE, f"Not judged yet: {few}, and {found.least} are needed.")
    elif not found.findings and found.standing in JUDGED:
        yield Said(FINE, f"Nothing unusual against {found.looked_back} earlier nights.")
    if found.bill.total.unknown:
        charges = f"{found.bill.total.unknown} charge{'' if found.bill.total.unknown == 1 else 's'}"
        yield Said(ODD, f"The cost of {charges} is unknown: sums and costs are lower bounds.")
    if found.changed_options:
        yield Said(ODD, f"Not alike in all runs are the options of {', '.join(found.changed_options)}.")
    yield from (Said(FINE, f"Not in these figures, being of another kind: {other}.") for other in found.other_kinds)


def value(measure: Measure, of: float, found: Nightly) -> str:
    """A figure in the unit of its measure."""
    if measure == "cost per question":
        return f"{amount(str(Decimal(repr(of))))} {found.currency or ''}".rstrip()
    if measure == "TTFT p95":
        return f"{of / 1e9:.3f} s"
    return f"{of:,.0f}" if measure == "tokens a question" else f"{100 * of:.1f} %"
