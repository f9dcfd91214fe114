"""The dashboard file: the same bytes from the same code, a sound layout, and no metric that is not exported."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

from busy_run import fed_metrics
from prometheus_client import generate_latest

from loadrig.live.dashboard import build

FILE = Path(__file__).resolve().parents[2] / "dashboards" / "loadrig.json"
BOARD: dict[str, Any] = json.loads(FILE.read_bytes())
PANELS: list[dict[str, Any]] = BOARD["panels"]
TARGETS = [target for panel in PANELS for target in panel["targets"]]
EXPORTED = set(re.findall(r"^(loadrig_\w+)", generate_latest(fed_metrics().registry).decode(), re.MULTILINE))


def test_the_file_is_what_the_code_builds() -> None:
    """dashboards/loadrig.json is rebuilt byte for byte; after a change `make dashboards` writes it anew."""
    assert build() == FILE.read_bytes()


def test_panels_and_queries_can_be_told_apart() -> None:
    """Panel ids are unique, and within a panel each query has a letter of its own."""
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    letters = [[target["refId"] for target in panel["targets"]] for panel in PANELS]
    assert {tuple(row) for row in letters} == {("A",), ("A", "B")}


def test_no_panel_covers_another() -> None:
    """Any two panels lie beside or below each other, inside the grid of 24 columns."""
    cells = [
        (column, row)
        for at in (panel["gridPos"] for panel in PANELS)
        for column, row in itertools.product(range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"]))
    ]
    assert len(cells) == len(set(cells))
    assert max(column for column, _ in cells) == 23


def test_every_metric_asked_for_is_exported() -> None:
    """A typing error in a query would show an empty panel for ever; each name is one that a run exports."""
    asked = {name for target in TARGETS for name in re.findall(r"loadrig_\w+", target["expr"])}
    assert asked - EXPORTED == set()


def test_every_metric_exported_is_shown() -> None:
    """A metric that no panel reads would never be missed when it breaks."""
    asked = " ".join(target["expr"] for target in TARGETS)
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in EXPORTED}
    assert {family for family in families if family not in asked} == set()


def test_variables_are_defined() -> None:
    """The data source, arm and model are variables, and a query uses no other but Grafana's own."""
    defined = {variable["name"] for variable in BOARD["templating"]["list"]}
    used = {name for target in TARGETS for name in re.findall(r"\$(\w+)", target["expr"])}
    assert defined == {"datasource", "arm", "model"}
    assert used == {"arm", "model", "__rate_interval"}
    assert {target["datasource"]["uid"] for target in TARGETS} == {"${datasource}"}


def test_a_rate_follows_the_scrape_interval() -> None:
    """Every window is Grafana's own, so that a two-minute run shows a line at any scrape interval."""
    windows = {window for target in TARGETS for window in re.findall(r"\[(.*?)\]", target["expr"])}
    assert windows == {"$__rate_interval"}
