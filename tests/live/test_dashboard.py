"""The dashboard files: the same bytes from the same code, a sound layout, and no metric that is not exported."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from busy_run import fed_metrics
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client import generate_latest

from loadrig.live.dashboards.board import BOARDS, build
from loadrig.live.dashboards.setup import SHIPPED, Setup, files

FOLDER = Path(__file__).resolve().parents[2] / "dashboards"
FILES = files(Setup())
RUN, NIGHTS = (json.loads(FILES[f"{board.uid}.json"]) for board in BOARDS)
RULES = [rule for group in yaml.safe_load(FILES["rules.yml"])["groups"] for rule in group["rules"]]
EXPORTED = set(re.findall(r"^(loadrig_\w+)", generate_latest(fed_metrics().registry).decode(), re.MULTILINE))
METRIC = re.compile(r"[\w:]*loadrig_[\w:]+")
each_board = pytest.mark.parametrize("board", [RUN, NIGHTS], ids=lambda board: board["uid"])


def panels(board: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def targets(board: dict[str, Any]) -> list[dict[str, Any]]:
    return [target for panel in panels(board) for target in panel["targets"]]


def names(text: str) -> set[str]:
    """Metrics that an expression asks for."""
    return set(METRIC.findall(text))


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_the_shipped_file_is_what_the_code_builds(board: Any) -> None:
    """Byte for byte; after a change `make dashboards` writes it anew."""
    assert (SHIPPED / f"{board.uid}.json").read_bytes() == build(board)


def test_the_folder_is_what_the_command_writes() -> None:
    """dashboards/ is `loadrig dashboards` with nothing chosen, and the rules' own test beside it."""
    here = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert here == {*FILES, "rules_test.yml"}
    assert {name for name, content in FILES.items() if (FOLDER / name).read_bytes() != content} == set()


@each_board
def test_grafanas_own_types_read_it_back(board: dict[str, Any]) -> None:
    """Nothing in the file is unknown to the schema that Grafana publishes, but what its Prometheus source reads of an
    annotation."""
    plugins.register_default_plugins()
    marks = [{**mark} for mark in board["annotations"]["list"]]
    for mark in marks:
        for name in ("step", "textFormat", "titleFormat"):
            del mark[name]
    known = {**board, "annotations": {"list": marks}}
    assert json.loads(JSONEncoder().encode(Dashboard.from_json(board))) == known


@each_board
def test_panels_and_queries_can_be_told_apart(board: dict[str, Any]) -> None:
    """Ids are unique, rows' too, and within a panel each query has a letter of its own."""
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in panels(board):
        letters = [target["refId"] for target in panel["targets"]]
        assert letters == [chr(ord("A") + place) for place in range(len(letters))]


@each_board
def test_no_panel_covers_another(board: dict[str, Any]) -> None:
    """Any two panels lie beside or below each other, inside the grid of 24 columns, which each line fills."""
    cells = [
        (column, row)
        for at in (panel["gridPos"] for panel in board["panels"])
        for column, row in itertools.product(range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"]))
    ]
    assert len(cells) == len(set(cells))
    assert max(column for column, _ in cells) == 23
    assert len(cells) == 24 * len({row for _, row in cells})


@each_board
def test_every_panel_says_what_it_shows(board: dict[str, Any]) -> None:
    """A title, a description, a unit, and a name for every series; titles differ but for numbers of charts."""
    for panel in panels(board):
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert all(target["legendFormat"] for target in panel["targets"])


@each_board
def test_every_metric_asked_for_is_there(board: dict[str, Any]) -> None:
    """A typing error in a query would show an empty panel for ever; each name is one that a run exports, or one that
    the rules make of those."""
    recorded = {rule["record"] for rule in RULES if "record" in rule}
    asked = {name for target in targets(board) for name in names(target["expr"])}
    asked |= {name for mark in board["annotations"]["list"] for name in names(mark["expr"])}
    asked |= {name for one in board["templating"]["list"] for name in names(one["query"])}
    assert asked - EXPORTED - recorded == set()
    assert {name for rule in RULES for name in names(rule["expr"])} - EXPORTED - recorded == set()


def test_every_metric_exported_is_shown() -> None:
    """A metric that no panel reads would never be missed when it breaks."""
    asked = {name for target in targets(RUN) for name in names(target["expr"])}
    family = re.compile(r"_(bucket|count|sum)$")
    assert {family.sub("", name) for name in EXPORTED} - {family.sub("", name) for name in asked} == set()


@each_board
def test_variables_are_defined(board: dict[str, Any]) -> None:
    """The data source, run, arm and model are variables, and a query uses no other but Grafana's own."""
    defined = {variable["name"] for variable in board["templating"]["list"]}
    texts = [target["expr"] for target in targets(board)]
    texts += [mark["expr"] for mark in board["annotations"]["list"]]
    used = {name for text in texts for name in re.findall(r"\$(\w+)", text)}
    assert {"datasource", "run", "arm", "model"} <= defined
    assert used - defined <= {"__rate_interval", "__interval", "__range"}
    assert defined - used == {"datasource"}
    assert {target["datasource"]["uid"] for target in targets(board)} == {"${datasource}"}


@each_board
def test_every_query_is_of_the_chosen_run(board: dict[str, Any]) -> None:
    """None sums over runs that are not chosen."""
    assert [target["expr"] for target in targets(board) if 'run=~"$run"' not in target["expr"]] == []


def test_a_rate_follows_the_scrape_interval() -> None:
    """Every window of a rate is Grafana's own, so that a two-minute run shows a line at any scrape interval."""
    windows = {window for target in targets(RUN) for window in re.findall(r"rate\([^\[]*\[(.*?)\]", target["expr"])}
    assert windows == {"$__rate_interval"}
