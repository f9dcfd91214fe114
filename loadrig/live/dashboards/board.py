"""Builds the dashboards into `shipped/`: the JSON that Grafana imports, but for what whoever sets it up chooses.

What is left open is written `@@{name}` (see `setup.py`). The same tables give the same bytes. Needs the `dashboards`
extra; `python -m loadrig.live.dashboards.board` writes the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models

from loadrig.live.dashboards.drawing import SOURCE, drawn
from loadrig.live.dashboards.nights_board import NIGHTS_BOARD
from loadrig.live.dashboards.panels import Board, Choice
from loadrig.live.dashboards.run_board import RUN_BOARD
from loadrig.live.dashboards.setup import SHIPPED

BOARDS = (RUN_BOARD, NIGHTS_BOARD)


def build(board: Board) -> bytes:
    """A dashboard as JSON with sorted keys."""
    made = builders.Dashboard(board.title).uid(board.uid).description(board.about).tags(["loadrig"])
    made.time(board.since, "now").refresh(board.refresh).tooltip(models.DashboardCursorSync.CROSSHAIR)
    made.with_variable(
        builders.DatasourceVariable("datasource")
        .label("Data source")
        .type("prometheus")
        .current(models.VariableOption(selected=True, text="@@{datasource}", value="@@{datasource}"))
    )
    for choice in board.choices:
        made.with_variable(_choice(choice))
    for name, label, values in board.spans:
        made.with_variable(_span(name, label, values))
    for other in BOARDS:
        if other != board:
            link = builders.DashboardLink(other.title).type(models.DashboardLinkType.LINK).url(f"/d/{other.uid}")
            made.link(link.keep_time(False).include_vars(False))
    number = 0
    for row in board.rows:
        number += 1
        made.with_row(builders.Row(row.title).id(number))
        for panel in row.panels:
            number += 1
            made.with_panel(drawn(panel, number))
    found = json.loads(JSONEncoder().encode(made.build()))
    found["annotations"] = {"list": list(_marks(board))}
    return json.dumps(found, sort_keys=True, indent=1, ensure_ascii=False).encode() + b"\n"


def _marks(board: Board) -> Iterator[dict[str, Any]]:
    """Annotations, with what Grafana's Prometheus source reads of them and the SDK has no word for."""
    for mark in board.marks:
        query = builders.AnnotationQuery().name(mark.name).datasource(SOURCE).enable(True)
        made = json.loads(JSONEncoder().encode(query.icon_color(mark.color).expr(mark.expr).build()))
        yield {**made, "step": "@@{interval}", "textFormat": mark.text, "titleFormat": mark.title}


def _choice(choice: Choice) -> builders.QueryVariable:
    made = builders.QueryVariable(choice.name).label(choice.label).datasource(SOURCE).query(choice.query)
    made.refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED).regex(choice.pattern)
    if not choice.every:
        return made.sort(models.VariableSort.DISABLED)
    everything = models.VariableOption(selected=True, text=["All"], value=["$__all"])
    made.sort(models.VariableSort.ALPHABETICAL_ASC).multi(True).include_all(True).all_value(".*")
    return made.current(everything)


def _span(name: str, label: str, values: tuple[str, ...]) -> builders.IntervalVariable:
    options = [models.VariableOption(selected=value == values[0], text=value, value=value) for value in values]
    made = builders.IntervalVariable(name).label(label).values(",".join(values))
    return made.options(options).current(options[0])


if __name__ == "__main__":
    for shipped in BOARDS:
        (SHIPPED / f"{shipped.uid}.json").write_bytes(build(shipped))
