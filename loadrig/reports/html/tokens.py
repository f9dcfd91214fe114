"""Where the tokens go: by arm and kind, and turn by turn of arms that take several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import altair as alt
from markupsafe import Markup

from loadrig.analysis.ledger import PARTS, Tokens, summed
from loadrig.analysis.selection import grouped
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.analysis.usage import TokenMeans
from loadrig.log import RunFolder
from loadrig.reports.charts import COLOURS, svg
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import Row, data
from loadrig.reports.html.named import NAMES, cells, names_of
from loadrig.reports.html.pieces import Cell, Grid, body, grid, of_number, picture
from loadrig.reports.speed import row_header, row_name
from loadrig.reports.table import amount

KINDS = ("uncached input", "cache write", "cache read", "answer text", "thinking")
MEANS = ("prompt", "uncached", "cache_write", "cache_read", "output", "thinking")
MOST = 8  # arms of which turns are drawn
_SCALE = alt.Scale(domain=list(KINDS), range=[COLOURS[0], COLOURS[1], COLOURS[4], COLOURS[2], COLOURS[3]])


def section(_: RunFolder, summary: Summary) -> Section | None:
    """None where no reply told any."""
    bars = chart(summary)
    if bars is None:
        return None
    drawn = picture(svg(bars, "Tokens of a question by arm and kind"), CAPTION, table=_means(summary))
    return Section("Where the tokens go", body(drawn, _turns(summary)))


CAPTION = (
    "Mean tokens of a question by kind, over every asked trial of all stages, as the provider counts them: they "
    "compare arms of one model. What retries and failed trials used is in it; warm-up and what went before is not."
)


def chart(summary: Summary) -> alt.Chart | None:
    """Tokens of a question by arm and kind; None where no reply told any."""
    values = list(_by_arm(summary))
    return _bars(values) if values else None


def _by_arm(summary: Summary) -> Iterator[Row]:
    """A value for each arm and kind; arms of which no reply told any are left out."""
    asked = grouped(((arm.arm, arm.model), arm.cost.asked) for arm in summary.arms)
    spent = grouped(((one.arm, one.model), one.tokens) for one in summary.spent if one.line in PARTS)
    for (arm, model), found in spent.items():
        n, tokens = sum(asked.get((arm, model), [])), summed(found)
        if n and tokens.told:
            name = names_of(summary)[arm, model]
            for place, (kind, count) in enumerate(zip(KINDS, split(tokens), strict=True)):
                each = count / n
                yield {
                    "arm": name,
                    "kind": kind,
                    "tokens": each,
                    "order": place,
                    "told": f"{name}, {kind}: {each:,.1f}",
                }


def split(of: Tokens) -> tuple[int, int, int, int, int]:
    """Under `KINDS`: output is what is text and what is thinking; they sum to prompt and output."""
    thinking = of.thinking or 0
    written = (of.cache_write_5m or 0) + (of.cache_write_1h or 0)
    return of.input or 0, written, of.cache_read or 0, (of.output or 0) - thinking, thinking


def _bars(values: Sequence[Row]) -> alt.Chart:
    drawn: alt.Chart = (
        alt.Chart(data(values))
        .mark_bar()
        .encode(
            x=alt.X("tokens:Q", title="tokens of a question", stack="zero"),
            y=alt.Y("arm:N", sort=list(dict.fromkeys(value["arm"] for value in values)), title=None, axis=NAMES),
            color=alt.Color("kind:N", scale=_SCALE, title=None, legend=alt.Legend(orient="top")),
            order=alt.Order("order:Q"),
            description=alt.Description("told:N"),
        )
        .properties(height=alt.Step(22))
    )
    return drawn


def _means(summary: Summary) -> Grid:
    rows = tuple(
        cells(row_name(summary, arm),
              *(of_number(summary, f"/arms/{place}/tokens_per_question/{name}") for name in MEANS),
              of_number(summary, f"/arms/{place}/tokens_per_question/n"))
        for place, arm in enumerate(summary.arms)
    )  # fmt: skip
    headers = (row_header(summary), *(name.replace("_", " ") for name in MEANS), "n")
    notes = (
        "means over asked trials that told the counter, by the last attempt of each turn; thinking is inside output",
    )  # fmt: skip
    return Grid("Tokens of a question", headers, rows, notes)


def _turns(summary: Summary) -> Markup | None:
    """Of the arms of several turns; of a run of several stages the last stage is drawn."""
    several = [(place, arm) for place, arm in enumerate(summary.arms) if len(arm.by_turn) > 1]
    if not several:
        return None
    stage = several[-1][1].stage
    shown = [arm for _, arm in several if arm.stage == stage][:MOST]
    left = sum(arm.stage == stage for _, arm in several) - len(shown)
    caption = (
        f"Mean tokens of the first, second, ... turn, stage {stage}, of the trials that came so far: what was said "
        "before is sent again, and paid for again, unless a cache has it."
    )
    caption += f" {left} arms more stand in the table." if left else ""
    drawn = svg(_growth(summary, shown), "Tokens turn by turn")
    table = Grid(
        "Turn by turn",
        (
            row_header(summary),
            "turn",
            "trials",
            *(name.replace("_", " ") for name in MEANS),
            summary.currency or "cost",
        ),
        tuple(row for place, arm in several for row in _rows(summary, place, arm)),
        ("a mean over the trials that had such a turn, so later turns are of fewer and longer trials",),
    )
    return Markup("<h3>Turn by turn</h3>") + picture(drawn, caption) + grid(table)


def _rows(summary: Summary, place: int, arm: ArmFigures) -> Iterator[tuple[str | Cell, ...]]:
    for number, turn in enumerate(arm.by_turn):
        at = f"/arms/{place}/by_turn/{number}"
        counters = (of_number(summary, f"{at}/tokens/{name}") for name in MEANS)
        n, cost = of_number(summary, f"{at}/n"), of_cost(summary, at)
        yield cells(row_name(summary, arm), str(turn.turn), n, *counters, cost)


def of_cost(summary: Summary, at: str) -> Cell:
    """The mean cost of a turn, which is a float."""
    found = of_number(summary, f"{at}/cost")
    return replace(found, text=amount(found.value)) if found.pointer else found


def _growth(summary: Summary, arms: Sequence[ArmFigures]) -> alt.Chart:
    names = names_of(summary)
    values = [
        {"arm": names[arm.arm, arm.model], "turn": turn.turn, "kind": kind, "tokens": count,
         "order": place, "told": f"{arm.arm}, turn {turn.turn} (n = {turn.n}), {kind}: {count:,.1f}"}
        for arm in arms for turn in arm.by_turn
        for place, (kind, count) in enumerate(zip(KINDS, parts(turn.tokens), strict=True))
    ]  # fmt: skip
    drawn: alt.Chart = (
        alt.Chart(data(values))
        .mark_bar()
        .encode(
            x=alt.X("turn:O", title="turn", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("tokens:Q", title="tokens", stack="zero"),
            color=alt.Color("kind:N", scale=_SCALE, title=None, legend=alt.Legend(orient="top")),
            order=alt.Order("order:Q"),
            facet=alt.Facet("arm:N", columns=2, title=None, sort=list(dict.fromkeys(str(v["arm"]) for v in values))),
            description=alt.Description("told:N"),
        )
        .properties(width=260, height=150)
    )
    return drawn


def parts(of: TokenMeans) -> tuple[float, ...]:
    """Under `KINDS`, of means."""
    thinking = min(of.thinking or 0.0, of.output or 0.0)
    return of.uncached or 0.0, of.cache_write or 0.0, of.cache_read or 0.0, (of.output or 0.0) - thinking, thinking
