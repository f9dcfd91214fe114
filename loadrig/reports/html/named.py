"""What arms are called in pictures of money and answers: short, on one line, no two alike."""

from __future__ import annotations

import altair as alt

from loadrig.analysis.summary import Summary
from loadrig.reports.html.drawing import labels
from loadrig.reports.html.pieces import Cell
from loadrig.reports.speed import models_of
from loadrig.reports.table import label

NAMES = alt.Axis(labelOverlap=False, domain=False, ticks=False)  # every arm has its name


def cells(*of: str | Cell) -> tuple[str | Cell, ...]:
    """A row of a grid."""
    return of


def names_of(summary: Summary) -> dict[tuple[str, str], str]:
    """By arm and model; those that only the bill knows, such as a judge's, come last."""
    asked, billed = ((one.arm, one.model) for one in summary.arms), ((one.arm, one.model) for one in summary.spent)
    keys = list(dict.fromkeys((*asked, *billed)))
    return dict(zip(keys, labels(label(*key, models_of(summary)) for key in keys), strict=True))
