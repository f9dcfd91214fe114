"""Every query of the dashboards against a real Prometheus that has seen two real runs: no panel without data, and what
is shown is what was counted."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_server import Line, as_grafana, at, over
from two_runs import FAST_S, SLOW_S, Ran, TwoRuns

from loadrig.live.dashboards.setup import Setup, files
from loadrig.live.metrics import SECONDS

pytestmark = pytest.mark.prometheus

FILES = files(Setup())
RUN, NIGHTS = (json.loads(FILES[name]) for name in ("loadrig.json", "loadrig-nights.json"))
OPEN_ONLY = {"Scheduled latency"}


def targets(board: dict[str, Any], *kinds: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each query with its panel's title."""
    for panel in board["panels"]:
        if panel["type"] in (kinds or ("timeseries", "stat", "table")):
            yield from ((panel["title"], target) for target in panel["targets"])


def lines(server: str, runs: TwoRuns, target: dict[str, Any], *, scrape_s: float, **chosen: str) -> list[Line]:
    """What a panel gets: of an instant query one value a series."""
    expr = as_grafana(target["expr"], scrape_s=scrape_s, span_s=runs.span_s, each="1d", **chosen)
    if target.get("instant"):
        return [(labels, [value]) for labels, value in at(server, expr, runs.end_s)]
    if "$each" in target["expr"]:
        day_s = runs.end_s // 86_400 * 86_400
        return over(server, expr, start_s=day_s, end_s=day_s, step_s=86_400)
    return over(server, expr, start_s=runs.start_s, end_s=runs.end_s, step_s=scrape_s)


def complete(found: list[Line], target: dict[str, Any]) -> bool:
    """Whether there are lines, of which each has a finite value and every label that its legend shows."""
    needed = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
    return bool(found) and all(
        needed <= labels.keys() | {"outcome"} and any(map(math.isfinite, values)) for labels, values in found
    )


@pytest.mark.parametrize("speed", ["fast", "slow"])
def test_j4_no_panel_of_the_run_is_without_data(runs: TwoRuns, speed: str) -> None:
    """A sweep with failures fills every query at both scrape intervals, an open loop those of scheduled latency."""
    server, scrape_s = (runs.fast, FAST_S) if speed == "fast" else (runs.slow, SLOW_S)
    empty = [
        (title, target["legendFormat"])
        for title, target in targets(RUN)
        if title not in OPEN_ONLY
        and not complete(lines(server, runs, target, scrape_s=scrape_s, run=runs.sweep.run), target)
    ]
    empty += [
        (title, target["legendFormat"])
        for title, target in targets(RUN)
        if title in OPEN_ONLY
        and not complete(lines(server, runs, target, scrape_s=scrape_s, run=runs.open.run), target)
    ]
    assert empty == []


def test_a_closed_loop_has_no_scheduled_latency(runs: TwoRuns) -> None:
    """The one panel that is empty then, as its tooltip says; so the test above cannot pass by the other run's data."""
    found = {
        title
        for title, target in targets(RUN)
        if not lines(runs.fast, runs, target, scrape_s=FAST_S, run=runs.sweep.run)
    }
    assert found == OPEN_ONLY


def test_j4_a_short_run_shows_lines_at_slow_scrapes(runs: TwoRuns) -> None:
    """At intervals of an eighth of the run each chart has a line of three points or more."""
    short = [
        title
        for title, target in targets(RUN, "timeseries")
        if title not in OPEN_ONLY
        and all(len(values) < 3 for _, values in lines(runs.slow, runs, target, scrape_s=SLOW_S, run=runs.sweep.run))
    ]
    assert short == []


def test_no_panel_of_the_nights_is_without_data(runs: TwoRuns) -> None:
    """The recording rules have kept both runs, and the day has bars of them."""
    empty = [
        (title, target["legendFormat"])
        for title, target in targets(NIGHTS)
        if not complete(lines(runs.fast, runs, target, scrape_s=FAST_S), target)
    ]
    assert empty == []


def counted(summary: dict[str, Any], name: str) -> int:
    """Trials of every kind: of the plan, and of the warm-up."""
    return sum(kind[name] for kind in summary["counts"])


@pytest.mark.parametrize("which", ["sweep", "open"])
def test_a_chosen_run_shows_its_own_numbers(runs: TwoRuns, which: str) -> None:
    """Of two runs in one Prometheus: how many trials were not answered is the chosen one's number, as its summary has
    it, at both scrape intervals."""
    ran: Ran = getattr(runs, which)
    (target,) = (target for title, target in targets(RUN, "stat") if title == "Not answered")
    expected = sum(counted(ran.summary, name) for name in ("failed", "unanswered", "not_run"))
    for server, scrape_s in ((runs.fast, FAST_S), (runs.slow, SLOW_S)):
        ((_, values),) = lines(server, runs, target, scrape_s=scrape_s, run=ran.run)
        assert values == [expected]


def test_the_table_by_stage_agrees_with_the_summary(runs: TwoRuns) -> None:
    """Of each stage: as many timed as in the summary, and percentiles in the buckets of the exact ones."""
    columns = {
        target["legendFormat"]: {
            labels["stage"]: values[0]
            for labels, values in lines(runs.fast, runs, target, scrape_s=FAST_S, run=runs.sweep.run)
        }
        for title, target in targets(RUN, "table")
        if title == "By stage"
    }
    assert set(columns["timed n"]) == {"c1", "c2", "c6"}
    for stage in runs.sweep.summary["stages"]:
        name = stage["stage"]
        assert columns["load"][name] == stage["concurrency"]
        assert columns["timed n"][name] == stage["service"]["successes"]["p50"]["n"]
        for share in ("p50", "p95"):
            exact_s = stage["service"]["successes"][share]["value_ns"] / 1e9
            low, high = bucket(exact_s)
            assert low <= columns[f"latency {share}"][name] <= high, (name, share, exact_s)


def bucket(value_s: float) -> tuple[float, float]:
    """The edges around a value."""
    return next((low, high) for low, high in itertools.pairwise((0, *SECONDS)) if low <= value_s <= high)
