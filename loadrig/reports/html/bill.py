"""The bill: its lines and their sum, with the tokens each is for, and who ran them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import altair as alt

from loadrig.analysis.bill import LineName
from loadrig.analysis.ledger import Spent, Tokens, summed
from loadrig.analysis.selection import grouped
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.charts import COLOURS, FAILED, svg
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import data
from loadrig.reports.html.named import NAMES, cells, names_of
from loadrig.reports.html.pieces import Cell, Grid, body, grid, of_amount, of_number, paragraph, picture
from loadrig.reports.speed import models_of
from loadrig.reports.table import amount, label, money, number, percent

ABOUT: Mapping[LineName, str] = {
    "measured": "trials at full load",
    "tail": "trials while the load fell",
    "classifier": "asking of which kind a question is",
    "warmup": "trials before the measured ones",
    "retries": "attempts that another one followed",
    "failed": "all attempts of trials that failed",
    "superseded": "tries that were asked again",
    "probe": "trying the endpoint beforehand",
    "priming": "writing a cache beforehand",
    "summaries": "summarising documents beforehand",
    "judge": "model judges of this run",
}
KINDS = ("uncached", "written", "read", "output", "thinking")


def section(_: RunFolder, summary: Summary) -> Section | None:
    """Every line, those that are nothing left out; None where nothing at all was asked."""
    if not summary.spent:
        return None
    each = {line: [one for one in summary.spent if one.line == line] for line in ABOUT}
    total = summary.bill.total
    chart, drawn = _chart(summary), None
    if chart is not None:
        drawn = picture(svg(chart, "Money by arm and purpose"), _caption(summary), table=_arms(summary))
    return Section(
        f"The bill: {money(total)}",
        body(
            paragraph(_told(summary)),
            grid(_lines(summary, each)),
            drawn,
        ),
    )


def _told(summary: Summary) -> str:
    total, lines = summary.bill.total, [line for line in summary.bill.lines if not _is_nothing(line.money.amount)]
    partial = f" {total.unknown} charges are unknown and in no sum: the total is partial." if total.unknown else ""
    low = " Some replies broke off before they told all that they used: the total is at least that." * total.at_least
    return (
        f"{len(lines)} lines of the bill have money on them, and they sum to {total.amount or 'an unknown amount'} "
        f"{total.currency or ''}, exactly; cost.csv has the same sum by stage, arm, model and category.{partial}{low}"
    )


def _is_nothing(amount: str | None) -> bool:
    return amount is not None and Decimal(amount) == 0


def _lines(summary: Summary, each: Mapping[LineName, Sequence[Spent]]) -> Grid:
    total, rows = summary.bill.total, list[tuple[str | Cell, ...]]()
    for place, line in enumerate(summary.bill.lines):
        found = summed(one.tokens for one in each[line.name])
        if found.told or found.untold or not _is_nothing(line.money.amount):
            at = f"/bill/lines/{place}/money"
            share = percent(_share(line.money.amount, total.amount))
            amount_of, unknown = of_amount(summary, f"{at}/amount"), of_number(summary, f"{at}/unknown")
            name = Cell(line.name, small=ABOUT[line.name])
            rows.append(cells(name, amount_of, share, _charges(found), *_tokens(found), unknown))
    whole = summed(one.tokens for one in summary.spent)
    last = cells(of_amount(summary, "/bill/total/amount"), percent(_share(total.amount, total.amount)), _charges(whole))
    unknown = of_number(summary, "/bill/total/unknown")
    rows.append(cells(Cell("total", small="the sum of the lines"), *last, *_tokens(whole), unknown))
    headers = ("line", total.currency or "cost", "share", "charges", *KINDS, "un-\nknown")
    notes = (
        "charges: HTTP exchanges; tokens as replies told them, thinking is inside output; unknown: charges not in "
        "the sum, for want of a price or of usage; what was refused with a status costs nothing",
    )  # fmt: skip
    return Grid("The bill", headers, tuple(rows), notes)


def _share(part: str | None, whole: str | None) -> float | None:
    if part is None or whole is None or not Decimal(whole):
        return None
    return float(Decimal(part) / Decimal(whole))


def _charges(of: Tokens) -> str:
    return number(of.told + of.untold)


def _tokens(of: Tokens) -> tuple[str, ...]:
    told = [count for count in (of.cache_write_5m, of.cache_write_1h) if count is not None]
    return tuple(map(number, (of.input, sum(told) if told else None, of.cache_read, of.output, of.thinking)))


def _arms(summary: Summary) -> Grid:
    rows = tuple(
        cells(label(one.arm, one.model, models_of(summary)), one.line,
              of_amount(summary, f"/spent/{place}/money/amount"), *_tokens(one.tokens))
        for place, one in enumerate(summary.spent)
    )  # fmt: skip
    return Grid("By arm", ("arm", "line", summary.currency or "cost", *KINDS), rows)


def _caption(summary: Summary) -> str:
    known = [one for one in summary.spent if one.money.amount is None]
    left = f" Not drawn, for nothing is known of them: {len(known)} lines of arms." if known else ""
    return f"What each arm ran up, in {summary.currency or 'money'}, by purpose, warm-up and all.{left}"


def _chart(summary: Summary) -> alt.Chart | None:
    names = names_of(summary)
    groups = grouped(
        ((names[one.arm, one.model], _purpose(one.line)), Decimal(one.money.amount))
        for one in summary.spent if one.money.amount is not None
    )  # fmt: skip
    values = [
        {"arm": arm, "purpose": purpose, "money": float(sum(of)), "order": ORDER.index(purpose),
         "told": f"{arm}, {purpose}: {amount(format(sum(of), 'f'))} {summary.currency or ''}"}
        for (arm, purpose), of in groups.items()
    ]  # fmt: skip
    if not any(value["money"] for value in values):
        return None
    arms = list(dict.fromkeys(str(value["arm"]) for value in values))
    drawn: alt.Chart = (
        alt.Chart(data(values))
        .mark_bar()
        .encode(
            x=alt.X("money:Q", title=summary.currency or "money", stack="zero"),
            y=alt.Y("arm:N", sort=arms, title=None, axis=NAMES),
            color=alt.Color(
                "purpose:N", title=None, legend=TOP, scale=alt.Scale(domain=list(ORDER), range=list(LOOKS))
            ),
            order=alt.Order("order:Q"),
            description=alt.Description("told:N"),
        )
        .properties(height=alt.Step(22))
    )
    return drawn


ORDER = ("answers", "retries and failures", "classifier", "warm-up", "before the first trial", "asked again", "judge")
TOP = alt.Legend(orient="top", columns=4)
LOOKS = (COLOURS[0], FAILED, COLOURS[3], COLOURS[4], COLOURS[2], COLOURS[5], COLOURS[6])
_PURPOSES: Mapping[str, str] = {
    "measured": ORDER[0], "tail": ORDER[0], "retries": ORDER[1], "failed": ORDER[1], "classifier": ORDER[2],
    "warmup": ORDER[3], "probe": ORDER[4], "priming": ORDER[4], "summaries": ORDER[4], "superseded": ORDER[5],
    "judge": ORDER[6],
}  # fmt: skip


def _purpose(line: str) -> str:
    return _PURPOSES[line]
