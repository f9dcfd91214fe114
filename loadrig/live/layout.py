"""A run on a screen of so many columns and lines: the head, a table of the arms, two sparklines. Pure: text and styles.

Rules: no line is wider than the screen, so nothing wraps. Where there is no room for all, columns drop out by their
importance, then arms at the end of the table, and it is said how many. A percentile of the last ten seconds stands
beside the number of its samples where there is room; of fewer than twenty the 95th is the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from loadrig.live.figures import clock_time, cost, counts, duration, marks, shown, title
from loadrig.live.lanes import Row
from loadrig.live.recent import Percentiles
from loadrig.live.tally import Tally
from loadrig.live.trail import BLOCKS, sparkline

GAP = "  "
NAME_LEAST, BAR_MOST = 14, 40

Piece = tuple[str, str]
Line = list[Piece]


@dataclass(frozen=True, slots=True)
class Screen:
    """How much room there is, and with which characters heights are drawn."""

    width: int
    height: int
    ramp: str = BLOCKS


@dataclass(frozen=True, slots=True)
class _Column:
    """A column behind the name. Of two, the one with the lower `rank` stays. `group` stands over the header."""

    rank: int
    group: str
    header: str
    cell: Callable[[Row], str]


def _pair(group: str, what: str, rank: int, of: Callable[[Row], Percentiles]) -> _Column:
    """Median and 95th percentile, under a header of their width."""

    def cell(row: Row) -> str:
        found = of(row)
        return f"{duration(found.p50_ns):>{len(what) + 4}}{duration(found.p95_ns):>9}"

    return _Column(rank, group, f"{what} p50{'p95':>9}", cell)


def _money(row: Row) -> str:
    if row.cost is None:
        return "unknown" if row.is_partial else "-"
    return f"{'>' if row.is_partial else ''}{row.cost:.4f}"


COLUMNS = (
    _Column(0, "", "done", lambda row: str(row.done)),
    _Column(1, "", "fail", lambda row: str(row.failed)),
    _pair("last 10 s", "TTFT", 2, lambda row: row.ttft_now),
    _Column(8, "", "n", lambda row: str(row.ttft_now.n)),
    _pair("last 10 s", "latency", 3, lambda row: row.service_now),
    _Column(9, "", "n", lambda row: str(row.service_now.n)),
    _pair("stage so far", "TTFT", 6, lambda row: row.ttft),
    _pair("stage so far", "latency", 7, lambda row: row.service),
    _Column(5, "", "tok/s", lambda row: "-" if row.tokens_per_s is None else f"{row.tokens_per_s:,.0f}"),
    _Column(4, "", "cost", _money),
)


def screen(tally: Tally, doing: str, *, elapsed_s: float, now_ns: int, room: Screen) -> list[Line]:
    """The whole view; `doing` is what goes on outside the trials."""
    if tally.info is None:
        return [_fitted([("loadrig", "bold"), (shown(doing), ""), (clock_time(elapsed_s), "dim")], room.width)]
    head = [
        _fitted(_first(tally, doing, elapsed_s, now_ns), room.width),
        _fitted([(_bar(tally, room.width), "green"), *_counts(tally, room.width)], room.width),
        *([(set_cell_size(mark, min(cell_len(mark), room.width)), "yellow")] for mark in marks(tally)),
    ]
    foot = [*_sparks(tally, now_ns, room), _fitted([(cost(tally), ""), *_speed(tally, now_ns)], room.width)]
    rows = tally.lanes.rows(now_ns)
    return [*head, *_table(rows, room.width, most=room.height - len(head) - len(foot) - 3), *foot]


def _first(tally: Tally, doing: str, elapsed_s: float, now_ns: int) -> list[Piece]:
    """What runs, in which stage, how long already and still; the rightmost goes first where there is no room."""
    assert tally.info is not None
    pieces = [(title(tally.info), "bold")]
    if tally.latest is not None:
        place = tally.stage_place()
        pieces.append(
            (f"stage {shown(tally.latest.stage)}" + (f" ({place[0]} of {place[1]})" if place else ""), "bold")
        )
    else:
        pieces.append((shown(doing), ""))
    pieces.append((clock_time(elapsed_s), ""))
    left_s, stage_s = tally.left_s(now_ns), tally.stage_left_s(now_ns)
    if left_s is not None and tally.done < tally.planned:
        pieces.append((f"about {clock_time(left_s)} left", ""))
    if stage_s is not None and stage_s != left_s:
        pieces.append((f"of this stage {clock_time(stage_s)}", "dim"))
    return pieces


def _counts(tally: Tally, width: int) -> list[Piece]:
    found = counts(tally)
    if sum(cell_len(one) + len(GAP) for one in found) > width - _bar_width(width):
        found = counts(tally, reasons=False)
    return [(one, "red" if one.startswith("failed") and tally.failed else "") for one in found]


def _bar_width(width: int) -> int:
    return min(BAR_MOST, width // 6)


def _bar(tally: Tally, width: int) -> str:
    cells = _bar_width(width)
    full = int(cells * tally.done / max(tally.planned, 1))
    return "[" + "=" * full + " " * (cells - full) + "]"


def _speed(tally: Tally, now_ns: int) -> list[Piece]:
    tokens = [row.tokens_per_s for row in tally.lanes.rows(now_ns) if row.tokens_per_s is not None]
    return [(f"{sum(tokens):,.0f} output tokens/s", "")] if tokens else []


def _sparks(tally: Tally, now_ns: int, room: Screen) -> list[Line]:
    """Throughput and first-token time from the beginning until now, each with its last value and its largest."""
    pace, ttft = tally.trail.throughput(now_ns), tally.trail.ttft_p95(now_ns)
    times = [value for value in ttft if value is not None]
    found: list[tuple[str, Sequence[float | None], str]] = [
        ("trials/s", pace, f"{tally.trail.pace(now_ns):.1f}, most {max(pace):.1f}")
    ]
    if times:
        found.append(("TTFT p95", ttft, f"{duration(times[-1])}, most {duration(max(times))}"))
    return [
        _fitted([(name, "dim"), (sparkline(values, room.ramp), "cyan"), (told, "")], room.width)
        for name, values, told in found
    ]


def _table(rows: Sequence[Row], width: int, *, most: int) -> list[Line]:
    """Two lines of headers and a line an arm, `most` of them."""
    if not rows or most < 1:
        return []
    two = len({row.model for row in rows}) > 1
    names = [shown(f"{row.arm} {row.model}" if two else row.arm) for row in rows]
    hidden = len(rows) - most + 1 if len(rows) > most else 0
    kept = rows[: len(rows) - hidden]
    name_width = min(max(map(cell_len, (*names, "arm"))), max(NAME_LEAST, width // 4))
    columns = _chosen(kept, width - name_width)
    widths = [_width(column, kept) for column in columns]
    lines: list[Line] = [
        [(_groups(columns, widths, name_width), "dim")],
        [(_joined("arm", name_width, (one.header for one in columns), widths), "bold")],
    ]
    for name, row in zip(names, kept, strict=False):
        style = "red" if row.failed else ""
        lines.append([(_joined(name, name_width, (one.cell(row) for one in columns), widths), style)])
    if hidden:
        lines.append([(f"and {hidden} more", "dim")])
    return lines


def _chosen(rows: Sequence[Row], width: int) -> list[_Column]:
    """The most important columns that fit, in their own order."""
    kept: list[_Column] = []
    for column in sorted(COLUMNS, key=lambda one: one.rank):
        taken = _width(column, rows) + len(GAP)
        if taken > width:
            break
        kept.append(column)
        width -= taken
    return [column for column in COLUMNS if column in kept]


def _width(column: _Column, rows: Sequence[Row]) -> int:
    return max((len(column.header), *(len(column.cell(row)) for row in rows)))


def _joined(name: str, name_width: int, cells: Iterable[str], widths: Sequence[int]) -> str:
    """A line of the table: the name on the left, all else on the right of its column."""
    shortened = name if cell_len(name) <= name_width else set_cell_size(name, name_width - 3) + "..."
    padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return GAP.join((set_cell_size(shortened, name_width), *padded))


def _groups(columns: Sequence[_Column], widths: Sequence[int], name_width: int) -> str:
    """The line over the headers: each group's name over its first column."""
    cells, last = [], ""
    for column, width in zip(columns, widths, strict=True):
        cells.append(f"{column.group if column.group != last else '':<{width}}")
        last = column.group or last
    return GAP.join((" " * name_width, *cells)).rstrip()


def _fitted(pieces: Sequence[Piece], width: int) -> Line:
    """The pieces from the left that fit; the first is shortened where it does not."""
    line: Line = []
    for text, style in pieces:
        room = width - sum(cell_len(one) for one, _ in line) - (len(GAP) if line else 0)
        if cell_len(text) > room:
            if line:
                break
            text = set_cell_size(text, room)  # noqa: PLW2901
        line += [(GAP, "")] if line else []
        line.append((text, style))
    return line
