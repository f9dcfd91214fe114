"""The table of what was built before the first trial, and of what it comes to a question."""

from __future__ import annotations

from loadrig.analysis.built import MANY
from loadrig.analysis.summary import Summary
from loadrig.reports.table import Table, amount, label, number


def table(summary: Summary) -> Table | None:
    """None in a run that had nothing built."""
    if not summary.built:
        return None
    models = tuple(dict.fromkeys(one.model for one in summary.built))
    rows = tuple(
        (
            label(one.arm, one.model, models), number(one.calls), number(one.paid), amount(one.cost),
            amount(one.cost_now), (one.made_to or "-")[:16].replace("T", " "), number(one.asked), amount(one.each),
            amount(one.here), amount(one.many),
        )
        for one in summary.built
    )  # fmt: skip
    unit = summary.currency or "cost"
    headers = (
        "arm", "calls", "paid here", f"{unit} when made", f"{unit} here", "made until", "asked", f"{unit}/asked",
        "+ build, over these", f"+ build, over {MANY:,}",
    )  # fmt: skip
    notes = [
        "calls that an earlier run or another arm of this one made are not paid for again; what they cost then is in "
        "the amortised cost"
    ]
    failed = sum(one.failed for one in summary.built)
    if failed:
        notes.append(f"{failed} could not be built: trials that need them failed, so no cost a question is given")
    return Table("Built beforehand", headers, rows, tuple(notes))
