"""Both dashboards drawn by Grafana's own components in a browser, from what two real runs left in Prometheus."""

from __future__ import annotations

import json
from collections.abc import Iterator

import grafana_page
import pytest
from grafana_page import Seen, Unavailable, look, served
from playwright.sync_api import Page, sync_playwright
from two_runs import FAST_S, TwoRuns

from loadrig.live.dashboards.setup import Setup, files

pytestmark = pytest.mark.prometheus
FILES = files(Setup())


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page of a browser that says what went wrong in it."""
    try:
        grafana_page.bundle()
        path = grafana_page.chromium()
    except Unavailable as error:
        pytest.skip(str(error))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=grafana_page.ARGUMENTS)
        page = browser.new_page(viewport={"width": grafana_page.WIDTH, "height": 1000})
        page.trouble = []  # type: ignore[attr-defined]
        page.on("pageerror", lambda error: page.trouble.append(str(error)))  # type: ignore[attr-defined]
        yield page
        browser.close()


@pytest.fixture(scope="module")
def drawn(page: Page, runs: TwoRuns) -> dict[str, dict[str, Seen]]:
    """The panels by title: of the run's board with the sweep chosen and with the open loop, and of the nights'."""
    found = {}
    span = {"start": runs.start_s, "end": runs.end_s, "scrape_s": FAST_S}
    with served(FILES["loadrig.json"], runs.fast) as address:
        for name, ran in (("sweep", runs.sweep), ("open", runs.open)):
            found[name] = {seen.title: seen for seen in look(page, address, **span, **{"var-run": ran.run})}
        page.options = json.loads(page.get_attribute("[data-variable=run]", "data-options") or "")  # type: ignore[attr-defined]
    with served(FILES["loadrig-nights.json"], runs.fast) as address:
        found["nights"] = {seen.title: seen for seen in look(page, address, **span)}
    return found


def states(panels: dict[str, Seen]) -> dict[str, str]:
    """Panels that are not drawn with data."""
    return {title: seen.state for title, seen in panels.items() if seen.state != "ok"}


def test_every_panel_of_a_run_is_drawn(drawn: dict[str, dict[str, Seen]]) -> None:
    """With data in it, all but scheduled latency, which a closed loop has none of; a chart has a canvas."""
    assert states(drawn["sweep"]) == {"Scheduled latency": "nodata"}
    charts = [seen for seen in drawn["sweep"].values() if seen.kind == "timeseries" and seen.state == "ok"]
    assert len(charts) > 15
    assert {seen.title for seen in charts if not seen.canvases} == set()


def test_an_open_loop_has_scheduled_latency(drawn: dict[str, dict[str, Seen]]) -> None:
    """In seconds, for its one arm."""
    values = drawn["open"]["Scheduled latency"].values
    assert [name for name, _ in values] == ["rag-bm25-k5 p50", "rag-bm25-k5 p95", "rag-bm25-k5 p99"]
    assert all(value.endswith((" s", " ms")) for _, value in values)


def test_every_panel_of_the_nights_is_drawn(drawn: dict[str, dict[str, Seen]]) -> None:
    """With data in it, of both runs."""
    assert states(drawn["nights"]) == {}
    assert len(drawn["nights"]["Runs"].values) == 2


def test_legends_and_units_are_as_meant(drawn: dict[str, dict[str, Seen]]) -> None:
    """Every series has a name without a gap in it, and seconds, shares and rates are written as such."""
    units = {
        "Time to first token": (" s", " ms"), "Service latency": (" s", " ms"), "Share not answered": ("%",),
        "Answered per second": (" req/s",), "Cache share of the prompts": ("%",), "Rate-limit headroom": ("%",),
        "Tool calls per second": (" ops/s",),
    }  # fmt: skip
    panels = drawn["sweep"]
    for title, ends in units.items():
        assert [value for _, value in panels[title].values if not value.endswith(ends)] == [], title
    for seen in panels.values():
        if seen.kind == "timeseries" and seen.state == "ok":
            assert all(name.strip() == name != "" for name, _ in seen.values), seen
            assert all(name in seen.text for name, _ in seen.values), seen


def test_the_page_had_no_trouble(page: Page, drawn: dict[str, dict[str, Seen]]) -> None:
    """No error was raised in it."""
    assert drawn
    assert page.trouble == []  # type: ignore[attr-defined]


def test_both_runs_are_offered(page: Page, runs: TwoRuns, drawn: dict[str, dict[str, Seen]]) -> None:
    """By the variable above the dashboard, as Grafana would ask for its values."""
    assert drawn
    assert set(page.options) == {runs.sweep.run, runs.open.run}  # type: ignore[attr-defined]
