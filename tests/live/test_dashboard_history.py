"""Dashboards over a history that is known to the sample: runs one after the other on one port, pushed ones, and a run
over midnight."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_server import MISSING, REASON, as_grafana, at, over, prometheus

from loadrig.live.dashboards.setup import Setup, files

pytestmark = [pytest.mark.prometheus, pytest.mark.skipif(MISSING, reason=REASON)]

FILES = files(Setup())
DAY_S = 86_400
MIDNIGHT_S = time.time() // DAY_S * DAY_S  # the last one, in UTC
BEGIN_S = MIDNIGHT_S - 7_200
PLACE = 'arm="rag",model="m",stage="c1",phase="measured"'
ANSWERED = f'loadrig_trials_total{{{{job="loadrig",{{where}},{PLACE},outcome="answered",reason=""}}}}'
COST = f'run:loadrig_cost:total{{run="late",{PLACE},currency="USD"}}'


def samples() -> Iterator[str]:
    """Every five seconds: "first" answers 12 trials in a minute, "second" 24 on the same port half a minute later;
    "third" and "fourth" were pushed and stay, with 7 and 9. "late" spends 4 before midnight and 6 behind it."""
    for name, offset_s, each in (("first", 0, 1), ("second", 90, 2)):
        for step in range(13):
            at_s = BEGIN_S + offset_s + 5 * step
            yield f'loadrig_run_info{{job="loadrig",instance="i",run="{name}",plan="p",simulated="true"}} 1 {at_s}'
            yield f'loadrig_stage_load{{job="loadrig",instance="i",stage="c1"}} 1 {at_s}'
            yield ANSWERED.format(where='instance="i"') + f" {each * step} {at_s}"
    for step in range(60):
        for name, count in (("third", 7), ("fourth", 9)):
            at_s = BEGIN_S + 5 * step
            yield f'loadrig_run_info{{job="loadrig",run="{name}",plan="q",simulated="true"}} 1 {at_s}'
            yield ANSWERED.format(where=f'run="{name}"') + f" {count} {at_s}"
    for step in range(-40, 61):
        yield f"{COST} {4 + step / 10} {MIDNIGHT_S + 5 * step}"
    yield "# EOF"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prometheus that holds it; what ended is gone ten seconds later, as after a scrape that failed."""
    folder: Path = tmp_path_factory.mktemp("history")
    (folder / "samples").write_text("\n".join(samples()) + "\n")
    (folder / "prometheus.yml").write_text("global: {scrape_interval: 5s}\n")
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "samples", "data"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    with prometheus(folder, folder / "prometheus.yml", "--query.lookback-delta=10s") as address:
        yield address


def column(history: str, title: str, name: str, run: str) -> list[float]:
    """A column of a table, five minutes after the begin, for a chosen run."""
    panels = json.loads(FILES["loadrig.json"])["panels"]
    (table,) = (panel for panel in panels if panel["title"] == title)
    (expr,) = (target["expr"] for target in table["targets"] if target["legendFormat"] == name)
    filled = as_grafana(expr, scrape_s=5, span_s=300, run=run)
    return [value for _, value in at(history, filled, BEGIN_S + 300)]


@pytest.mark.parametrize(
    ("run", "count"), [("first", [12]), ("second", [24]), ("third", [7]), ("fourth", [9]), ("never", [])]
)
def test_a_chosen_run_is_alone(history: str, run: str, count: list[float]) -> None:
    """Two runs that served on one port and two that were pushed: each shows what it counted, and no other's."""
    assert column(history, "By arm, so far", "answered", run) == count


@pytest.mark.parametrize(("run", "per_s"), [("first", [0.2]), ("second", [0.4]), ("third", [])])
def test_the_pace_of_a_stage_is_of_its_own_time(history: str, run: str, per_s: list[float]) -> None:
    """12 and 24 answered from the first scrape of the stage to its last, a minute later, whatever lies around it."""
    assert column(history, "By stage", "answered/s", run) == pytest.approx(per_s)


def test_the_newest_run_is_offered_first(history: str) -> None:
    """The one last seen is chosen to begin with; of the two that were scraped, "second" comes before "first"."""
    (choice,) = (one for one in json.loads(FILES["loadrig.json"])["templating"]["list"] if one["name"] == "run")
    query = choice["query"].removeprefix("query_result(").removesuffix(")")
    found = at(history, as_grafana(query, scrape_s=5, span_s=300), BEGIN_S + 300)
    assert [labels["run"] for labels, _ in found][2:] == ["second", "first"]
    assert choice["sort"] == 0  # in the order of the answer


def test_a_run_over_midnight_is_in_both_days(history: str) -> None:
    """10 spent in all: 4 before midnight and 6 behind it, and nothing twice."""
    panels = json.loads(FILES["loadrig-nights.json"])["panels"]
    (panel,) = (panel for panel in panels if panel["title"] == "Bill by day")
    expr = as_grafana(panel["targets"][0]["expr"], scrape_s=5, span_s=2 * DAY_S, each="1d")
    found = over(history, expr, start_s=MIDNIGHT_S - DAY_S, end_s=MIDNIGHT_S, step_s=DAY_S)
    assert found == [({"arm": "rag", "currency": "USD"}, pytest.approx([4, 6]))]
