"""What a nightly report says first, in sentences: what is wrong, what is unusual, what could not be judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from loadrig.analysis.nightly.anomalies import Finding, Measure
from loadrig.analysis.nightly.standing import JUDGED
from loadrig.analysis.nightly.whole import Nightly
from loadrig.reports.table import amount, percent

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


def said(found: Nightly) -> list[Said]:
    """In the order of their weight."""
    return [*_broken(found), *(_finding(one, found) for one in found.findings), *_plain(found)]


def _broken(found: Nightly) -> Iterator[Said]:
    if found.trouble is not None:
        yield Said(BAD, f"Tonight's run came to nothing, and this report is of {found.day}: {found.trouble}")
    yield from (Said(BAD, f"Left out: {one}") for one in found.unreadable)
    if found.standing != "sound":
        judged = "Its times are partly the rig's own." if found.standing in JUDGED else "It is not judged."
        (here,) = (night for night in found.nights if night.day == found.day)
        yield Said(BAD, f"The night of {found.day}: {found.standing} ({'; '.join(here.troubles)}). {judged}")
    missed = [night.day for night in found.nights if night.standing == "missed"]
    if missed:
        yield Said(BAD, f"Missed: no run began on {', '.join(missed)}.")
    broken = [f"{night.day} {night.standing}" for night in found.nights
              if night.standing not in (*JUDGED, "missed") and night.day != found.day]  # fmt: skip
    if broken:
        yield Said(ODD, f"Not whole, and not looked back on: {', '.join(broken)}.")


def _finding(one: Finding, found: Nightly) -> Said:
    judged = one.judged
    way = "above" if judged.value > judged.median else "below"
    who = "" if one.arm is None else f"{one.arm} ({one.model}): "
    by = abs(judged.value - judged.median)
    how = f"{value(judged.measure, by, found)} {way}"
    if judged.median and judged.measure not in ("share failed", "share right"):
        how = f"{percent(by / judged.median)} {way}"
    text = (
        f"{who}{judged.measure} {value(judged.measure, judged.value, found)}, {how} the median of {judged.n} earlier "
        f"nights ({value(judged.measure, judged.median, found)}, unusual beyond +-"
        f"{value(judged.measure, judged.limit, found)})"
    )
    if one.judged.measure == "cost per question":
        cause = "no single cause" if one.cause is None else CAUSES[one.cause]
        text += f"; against {one.against} the reason is {cause}"
    return Said(BAD if one.worse else ODD, f"{text}.")


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
