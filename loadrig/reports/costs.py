"""cost.csv: what was spent, on what and for which questions, for a sheet or a data frame (columns: docs/files.md).

The column `cost` sums to the bill, exactly, over all rows. Rows of item `questions` hold all that asking took, and the
five columns behind `cost` split it; `asked`, `answered` and `correct` (by pre-check) belong to these rows alone, so
sums of money / sums of `asked` are costs per question at any grouping. Everything else that was paid has rows of its
own. Not available is an empty cell: an amount of which nothing is known, a kind of tokens that no reply
told. Texts are
never a formula.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from loadrig.analysis.bill import plain
from loadrig.analysis.ledger import COUNTERS, PARTS, Entry, ledger
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.answers import safe

HEADERS = (
    "run", "item", "stage", "arm", "model", "category", "cost", *PARTS, "currency", "at_least", "unknown_charges",
    "trials", "asked", "answered", "correct", "cost_per_asked", "cost_per_answered", "cost_per_correct", *COUNTERS,
    "prompt", "charges_with_usage", "charges_without_usage", "simulated",
)  # fmt: skip
Cell = str | int | None


def write(run: RunFolder, summary: Summary) -> Path:
    """Writes cost.csv into the run's folder."""
    path = run.path / "cost.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(HEADERS)
        for entry in ledger(run):
            sheet.writerow(map(safe, _row(entry, summary)))
    return path


def _row(entry: Entry, summary: Summary) -> tuple[Cell, ...]:
    sums, is_asked = entry.tokens, entry.item == "questions"
    counts: list[Cell] = [getattr(sums, name) for name in COUNTERS]
    return (
        summary.identity.run, entry.item, entry.stage, entry.arm, entry.model, entry.category, entry.money.amount,
        *(entry.parts or (None,) * len(PARTS)), entry.money.currency or summary.currency, int(entry.money.at_least),
        entry.money.unknown, entry.trials, *((entry.asked, entry.answered, entry.correct) if is_asked else (None,) * 3),
        *_each(entry), *counts, sums.prompt, sums.told, sums.untold, "simulated" if summary.simulated else None,
    )  # fmt: skip


def _each(entry: Entry) -> Iterator[Cell]:
    """Per question asked, answered, correct; empty where the divisor is 0 or nothing is known."""
    for divisor in (entry.asked, entry.answered, entry.correct):
        if entry.item != "questions" or not divisor or entry.money.amount is None:
            yield None
        else:
            yield plain(round(Decimal(entry.money.amount) / divisor, 12).normalize())
