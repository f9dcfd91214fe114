"""compare.md, compare.html, compare.json: what differs between two runs, what that did, and what nobody can say of it.

Words follow numbers: a difference is inside the noise unless its Holm-adjusted p and its whole interval say otherwise
(`loadrig.analysis.compare.words`), and nothing is called better. What the runs and their models say is data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from loadrig.analysis.compare.accuracy import Right
from loadrig.analysis.compare.figures import Figure
from loadrig.analysis.compare.gate import Gate
from loadrig.analysis.compare.marks import Marked
from loadrig.analysis.compare.paired import Paired
from loadrig.analysis.compare.whole import Comparison, Pair
from loadrig.log import write_json
from loadrig.reports.compare_tables import (
    accuracies,
    categories,
    differing,
    figures,
    gates,
    marked,
    name_of,
    named,
    settings,
    times,
    told,
)
from loadrig.reports.markdown import escaped, section, shown
from loadrig.reports.table import Table, one_line
from loadrig.reports.terminal import PAGE, draw

if TYPE_CHECKING:
    from loadrig.reports.pictures import Picture

NAMES = ("compare.md", "compare.json", "compare.html")


@dataclass(frozen=True, slots=True)
class Compared:
    """What compare.json holds."""

    comparison: Comparison
    findings: tuple[str, ...]
    gate: Gate | None


def write(
    comparison: Comparison,
    gate: Gate | None,
    folder: Path,
    *,
    each: Sequence[Paired] = (),
    console: Console | None = None,
) -> Path:
    """Writes every file into the folder, shows the comparison on the console, and returns the path of compare.md.
    `each`: how far the questions differ, one by one."""
    from loadrig.reports import compare_page  # noqa: PLC0415 - drawing takes a second to load, and a refusal none of it

    said = tuple(findings(comparison))
    path, drawn = folder / NAMES[0], compare_page.drawings(comparison, each)
    kept = list(compare_page.pictures(folder, drawn))
    path.write_text(render(comparison, gate, said, kept), encoding="utf-8")
    write_json(folder / NAMES[1], Compared(comparison, said, gate))
    lead = (variables(comparison), *said)
    html = compare_page.page(comparison, lead, list(tables(comparison, gate)), drawn)
    (folder / NAMES[2]).write_text(html, encoding="utf-8")
    if console is not None:
        _show(comparison, gate, said, console)
        console.print(f"Report: {path}", markup=False)
    return path


def render(comparison: Comparison, gate: Gate | None, said: tuple[str, ...], pictures: Sequence[Picture] = ()) -> str:
    """The Markdown."""
    lines = [f"# {escaped(comparison.b)} against {escaped(comparison.a)}"]
    if comparison.note:
        lines.append(f"> **{escaped(comparison.note)}**")
    lines.append(f"**{escaped(variables(comparison))}**")
    if comparison.warnings:
        lines.append("\n".join(("**Warnings**", "", *(f"- {escaped(warning)}" for warning in comparison.warnings))))
    lines.append("\n".join(("## Findings", "", *(f"- {escaped(line)}" for line in said))))
    lines += [shown(picture) for picture in pictures]
    lines += [section(table) for table in tables(comparison, gate)]
    return "\n\n".join(lines) + "\n"


def tables(comparison: Comparison, gate: Gate | None) -> Iterator[Table]:
    """Every table, in order; one that has nothing to tell is left out."""
    found = (
        gates(gate), settings(comparison), accuracies(comparison), marked(comparison), differing(comparison),
        categories(comparison), times(comparison), figures(comparison),
    )  # fmt: skip
    yield from (table for table in found if table is not None)


def variables(comparison: Comparison) -> str:
    """The verdict of the one-variable check."""
    counted = [list(dict.fromkeys(one.what for one in pair.settings.counted)) for pair in comparison.pairs]
    most = max(counted, key=len)
    if len(most) > 1:
        return (
            f"More than one thing differs ({', '.join(most)}): whatever is found here, "
            "nobody can say which of them made the difference"
        )
    named = list(dict.fromkeys(what for found in counted for what in found))
    return (
        f"One thing differs: {', '.join(named)}" if named else "Nothing that was checked differs: two runs of the same"
    )


def findings(comparison: Comparison) -> Iterator[str]:
    """Sentences made of the numbers, pair by pair."""
    for pair in comparison.pairs:
        yield from (f"{named(pair)}: {line}" for line in _of_pair(pair))
    rows = [pair.accuracy for pair in comparison.pairs if pair.accuracy is not None]
    yield from dict.fromkeys(_could_not(row.n, row.detectable) for row in rows if row.word == "inside noise")


def _of_pair(pair: Pair) -> Iterator[str]:
    row = pair.accuracy
    if row is not None:
        counts = f"{row.right_a}/{row.n} to {row.right_b}/{row.n}"
        if row.word == "inside noise":
            yield f"accuracy is inside noise at n = {row.n}: {counts}; decide on cost, latency and complexity"
            if row.at_most is not None:
                yield f"no question differs: at most {100 * row.at_most:.1f} % of such questions do (one-sided 95 %)"
        else:
            yield (
                f"accuracy is {row.word} by {abs(100 * row.difference.value):.1f} points at n = {row.n}: {counts} "
                f"(exact McNemar p {row.p:.2g}, {row.adjusted_p:.2g} after Holm)"
            )
    rest: tuple[Right | Marked | Figure, ...] = (*pair.categories, *pair.marks, *pair.figures)
    moved = [one for one in rest if one.word != "inside noise"]
    yield from (told(one) for one in moved)
    quiet = [one for one in rest if one not in moved and one.difference is not None]
    if quiet:
        yield f"inside noise: {_counted(quiet)}"
    yield from (f"{name_of(one)}: not compared, {one.refused}" for one in pair.figures if one.refused)


def _counted(rows: Sequence[Right | Marked | Figure]) -> str:
    """`5 categories, 2 marks, 9 times, 6 other figures`, with the names of as few as three."""
    if len(rows) <= 3:
        return "; ".join(map(name_of, rows))
    kinds = Counter(map(_kind, rows))
    return f"everything else ({', '.join(f'{n} {kind}' for kind, n in kinds.items())})"


def _kind(one: Right | Marked | Figure) -> str:
    if isinstance(one, Figure):
        return "times" if one.unit == "ns" else "other figures"
    return "categories" if isinstance(one, Right) else "marks"


def _could_not(n: int, detectable: float | None) -> str:
    if detectable is None:
        return f"with {n} questions no difference whatever could have been seen reliably"
    return (
        f"with {n} questions you could not have seen a difference below {math.ceil(1000 * detectable) / 10:.1f} points "
        "(four times in five, all that differ going one way)"
    )


def _show(comparison: Comparison, gate: Gate | None, said: tuple[str, ...], console: Console) -> None:
    if not console.is_terminal:
        console.width = max(console.width, PAGE)
    console.print(Text(one_line(f"{comparison.b} against {comparison.a}"), style="bold"))
    if comparison.note:
        console.print(Panel(Text(comparison.note), style="yellow", expand=False))
    console.print(Text(one_line(variables(comparison), 400), style="bold" if comparison.cannot_say else ""))
    for warning in comparison.warnings:
        console.print(Text(f"warning: {one_line(warning, 400)}", style="yellow"))
    for line in said:
        console.print(Text(f"- {one_line(line, 600)}"))
    console.print()
    for table in tables(comparison, gate):
        draw(table, console)
