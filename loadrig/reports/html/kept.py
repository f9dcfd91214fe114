"""The prompt cache: which share of the prompts was read from it, and why calls read nothing."""

from __future__ import annotations

import altair as alt

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports import caching
from loadrig.reports.charts import COLOURS, svg
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import data
from loadrig.reports.html.named import NAMES, names_of
from loadrig.reports.html.pieces import body, grid, picture
from loadrig.reports.table import percent

PARTS = ("read from the cache", "written to it", "neither")


def section(_: RunFolder, summary: Summary) -> Section | None:
    """None where no call asked for caching."""
    tables = list(caching.tables(summary))
    if not tables:
        return None
    drawn = None
    if any(one.prompt for one in summary.caching):
        caption = (
            "Prompt tokens of the trials' calls that asked for caching, by what became of them; a share is of tokens, "
            "not of calls. Priming and warm-up are not in it, and stand in the tables."
        )
        drawn = picture(svg(_chart(summary), "Prompt tokens read from the cache, written to it, and neither"), caption)
    return Section("The prompt cache", body(drawn, *map(grid, tables)))


def _chart(summary: Summary) -> alt.Chart:
    values = []
    for one in summary.caching:
        if one.prompt:
            name, written = names_of(summary)[one.arm, one.model], one.written_5m + one.written_1h
            parts = (one.read, written, one.prompt - one.read - written)
            for order, (part, count) in enumerate(zip(PARTS, parts, strict=True)):
                share = count / one.prompt
                told = f"{name}: {count:,} tokens {part} ({percent(share)}; {one.told} calls)"
                values.append({"arm": name, "part": part, "share": share, "order": order, "told": told})
    drawn: alt.Chart = (
        alt.Chart(data(values))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="of prompt tokens", axis=alt.Axis(format="%"), stack="zero"),
            y=alt.Y("arm:N", sort=list(dict.fromkeys(str(value["arm"]) for value in values)), title=None, axis=NAMES),
            color=alt.Color(
                "part:N",
                title=None,
                legend=alt.Legend(orient="top"),
                scale=alt.Scale(domain=list(PARTS), range=[COLOURS[4], COLOURS[1], COLOURS[0]]),
            ),
            order=alt.Order("order:Q"),
            description=alt.Description("told:N"),
        )
        .properties(height=alt.Step(24))
    )
    return drawn
