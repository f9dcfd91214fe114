"""Routes: which way questions went, what became of them, and each router beside one way for all."""

from __future__ import annotations

import altair as alt

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports import routes
from loadrig.reports.charts import svg
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import data
from loadrig.reports.html.named import NAMES, names_of
from loadrig.reports.html.pieces import body, grid, picture
from loadrig.reports.table import percent


def section(_: RunFolder, summary: Summary) -> Section | None:
    """None where no arm sends questions different ways and stuffing costs nothing to speak of."""
    tables = list(routes.tables(summary))
    if not tables:
        return None
    drawn = None
    if summary.routing.ways:
        caption = "Share of the asked trials that went each way; the ways are told, with what became of them, below."
        drawn = picture(svg(_chart(summary), "Share of trials by way"), caption)
    return Section("Routes", body(drawn, *map(grid, tables)))


def _chart(summary: Summary) -> alt.Chart:
    values = [
        {"arm": (name := names_of(summary)[one.arm, one.model]), "way": one.way, "share": one.n / one.of,
         "told": f"{name}: {one.way}, {one.n} of {one.of} ({percent(one.n / one.of)})"}
        for one in summary.routing.ways
    ]  # fmt: skip
    drawn: alt.Chart = (
        alt.Chart(data(values))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="of asked trials", axis=alt.Axis(format="%"), stack="zero"),
            y=alt.Y("arm:N", sort=list(dict.fromkeys(str(value["arm"]) for value in values)), title=None, axis=NAMES),
            color=alt.Color("way:N", title=None, legend=alt.Legend(orient="top")),
            description=alt.Description("told:N"),
        )
        .properties(height=alt.Step(24))
    )
    return drawn
