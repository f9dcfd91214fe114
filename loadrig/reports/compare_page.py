"""compare.html, and the pictures of compare.md: differences with their intervals, and how far each question differs.

What is found stands apart from what is inside the noise by filling, not by colour alone. Decides nothing: words,
intervals and tests are the comparison's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import altair as alt

from loadrig.analysis.compare.accuracy import Right
from loadrig.analysis.compare.figures import Figure
from loadrig.analysis.compare.marks import Marked
from loadrig.analysis.compare.paired import Paired
from loadrig.analysis.compare.whole import Comparison, Pair
from loadrig.reports import charts
from loadrig.reports.compare_tables import name_of, named
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import ROW, data, labels
from loadrig.reports.html.pieces import grid, picture
from loadrig.reports.html.sheet import Sheet, render
from loadrig.reports.pictures import SCALE, Picture
from loadrig.reports.table import Table, one_line
from loadrig.statistics.clustered import Difference

MOST, PANELS, LONGEST = 48, 6, 64
FOLDER = "compare-pictures"
Drawn = tuple[alt.TopLevelMixin, str, str]  # chart, title, what it shows


def page(comparison: Comparison, lead: Sequence[str], tables: Sequence[Table], drawn: Sequence[Drawn]) -> str:
    """The whole page; `lead`: the verdict of the one-variable check and the findings."""
    sections = {
        f"picture-{place}": Section(title, picture(charts.svg(chart, title), text))
        for place, (chart, title, text) in enumerate(drawn)
    }
    sections |= {f"table-{place}": Section(table.title, grid(table)) for place, table in enumerate(tables)}
    title = f"{comparison.b} against {comparison.a}"
    return render(Sheet(title, comparison.note, lead, comparison.warnings, sections))


def pictures(folder: Path, drawn: Sequence[Drawn]) -> Iterator[Picture]:
    """Writes the PNGs into the folder's `compare-pictures/`."""
    for place, (chart, _, text) in enumerate(drawn, start=1):
        path = folder / FOLDER / f"{place}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(charts.png(chart, scale=SCALE))
        yield Picture(f"{FOLDER}/{place}.png", text)


def drawings(comparison: Comparison, each: Sequence[Paired]) -> list[Drawn]:
    """Those that have something to show."""
    points, relative = list(_points(comparison)), list(_relative(comparison))
    found: list[Drawn] = []
    if points:
        chart = _forest(points[:MOST], "points, b - a")
        found.append((chart, "Differences in points", _told("Shares right, marked, failed and recalled", len(points))))
    if relative:
        chart = _forest(relative[:MOST], "% of a's value, b - a")
        found.append((chart, "Differences in percent", _told("First token, end, tokens and cost", len(relative))))
    if each:
        found.append((_questions(each[:PANELS]), "Question by question", _each_told(each)))
    return found


def _told(what: str, n: int) -> str:
    left = f" The first {MOST} of {n}; the tables have all." if n > MOST else ""
    return (
        f"{what}: b - a with 95 % intervals over questions. Filled: found, that is higher or lower after Holm's "
        f"correction; hollow: inside the noise.{left}"
    )


Row = dict[str, str | float | bool]


def _points(comparison: Comparison) -> Iterator[Row]:
    for pair in comparison.pairs:
        lead = _lead(comparison, pair)
        if (right := pair.accuracy) is not None:
            yield _row(f"{lead}accuracy", right.difference, 100, found=right.word != "inside noise")
        parts: tuple[Right | Marked, ...] = (*pair.categories, *pair.marks)
        for of in parts:
            yield _row(f"{lead}{name_of(of)}", of.difference, 100, found=of.word != "inside noise")
        for one in pair.figures:
            if one.unit == "share" and one.difference is not None:
                yield _row(f"{lead}{name_of(one)}", one.difference, 100, found=one.word != "inside noise")


def _relative(comparison: Comparison) -> Iterator[Row]:
    """In hundredths of a's value, where that is finite and above 0; of times the first token and the end."""
    for pair in comparison.pairs:
        for one in pair.figures:
            found = one.difference
            if (
                one.unit != "share"
                and one.name != "ttfat"
                and found is not None
                and math.isfinite(found.value)
                and _has_base(one)
            ):
                name = f"{_lead(comparison, pair)}{name_of(one)}"
                yield _row(name, found, 100 / found.a, found=one.word != "inside noise")


def _has_base(one: Figure) -> bool:
    return one.difference is not None and math.isfinite(one.difference.a) and one.difference.a > 0


def _row(name: str, of: Difference, scale: float, *, found: bool) -> Row:
    low, high = (of.value if end is None or not math.isfinite(end) else end for end in (of.low, of.high))
    value = scale * of.value
    word = "found" if found else "inside noise"
    told = f"{name}: {value:+.1f} [{scale * low:+.1f}, {scale * high:+.1f}], n = {of.n}, {word}"
    return {"name": name, "value": value, "low": scale * low, "high": scale * high, "found": found, "told": told}


def _lead(comparison: Comparison, pair: Pair) -> str:
    return "" if len(comparison.pairs) == 1 else f"{named(pair)}: "


def _forest(rows: Sequence[Row], title: str) -> alt.LayerChart | alt.FacetChart:
    names = [one_line(str(row["name"]), LONGEST) for row in rows]
    drawn = [{**row, "name": name} for row, name in zip(rows, names, strict=True)]
    axis = alt.Axis(title=None, domain=False, ticks=False, labelLimit=460, labelOverlap=False)
    y = alt.Y("name:N", sort=names, scale=alt.Scale(domain=names), axis=axis)
    base = alt.Chart(data(drawn)).encode(y=y, description=alt.Description("told:N"))
    x = alt.X("value:Q", title=title, scale=alt.Scale(zero=True))
    zero = alt.Chart(data([{"zero": 0}])).mark_rule(strokeDash=[3, 3]).encode(x=alt.X("zero:Q"))
    line = base.mark_rule(color=charts.COLOURS[0]).encode(x=alt.X("low:Q", title=title), x2=alt.X2("high:Q"))
    dots = [
        base.transform_filter(alt.datum.found == found)
        .mark_point(filled=found, size=60, opacity=1, color=charts.COLOURS[0], strokeWidth=2)
        .encode(x=x)
        for found in (True, False)
    ]
    return alt.layer(zero, line, *dots).properties(width=420, height=0.8 * ROW * len(names))


def _questions(each: Sequence[Paired]) -> alt.FacetChart:
    names = labels(f"{one.arm}, {one.stage}" for one in each)
    rows = [
        {"name": name, "place": place, "s": round((of.b_ns - of.a_ns) / 1e9, 6), "slower": of.b_ns > of.a_ns,
         "told": f"{of.question}: {of.a_ns / 1e9:.3f} to {of.b_ns / 1e9:.3f} s"}
        for name, one in zip(names, each, strict=True) for place, of in enumerate(one.each)
    ]  # fmt: skip
    looks = alt.Scale(domain=[False, True], range=[charts.COLOURS[0], charts.COLOURS[1]])
    bars: alt.Chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X("place:O", title="questions, by difference", axis=alt.Axis(labels=False, ticks=False)),
            y=alt.Y("s:Q", title="b - a, s"),
            color=alt.Color("slower:N", scale=looks, legend=None),
            description=alt.Description("told:N"),
        )
        .properties(width=260, height=140)
    )
    facet = alt.Facet("name:N", sort=names, title=None)
    drawn: alt.FacetChart = bars.facet(data=data(rows), facet=facet, columns=2).resolve_scale(x="independent")
    return drawn


def _each_told(each: Sequence[Paired]) -> str:
    first = each[0]
    beyond = sum(one.beyond for one in each)
    lost = f" {beyond} questions failed on a side and have no bar." if beyond else ""
    left = f" The first {PANELS} of {len(each)} pairs." if len(each) > PANELS else ""
    slower = ", ".join(
        f"{one.arm}: {sum(of.b_ns > of.a_ns for of in one.each)} of {len(one.each)} questions slower in b"
        for one in each[:PANELS]
    )
    return f"Median {first.measure} latency of each question, b - a: a bar a question. {slower}.{lost}{left}"
