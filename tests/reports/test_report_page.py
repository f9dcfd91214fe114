"""report.html in a real browser, offline: that it opens, tells the figures of summary.json, and obeys nobody."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import Looked, looking
from paged_runs import ARMS, HOSTILE, STAGES, hostile, opened, swept
from records import failed, write_run

from loadrig.reports import write_all
from loadrig.reports.html import SECTIONS

PHONE = {"width": 360, "height": 740}
WIDE = {"width": 1280, "height": 900}
PAPER = {"width": 680, "height": 960}  # A4 between its margins, in CSS pixels


def empty(folder: Path) -> Path:
    return write_run(folder, ())


def all_failed(folder: Path) -> Path:
    return write_run(folder, [failed(f"f{n}") for n in range(6)])


RUNS: dict[str, Callable[[Path], Path]] = {
    "sweep": swept, "open": opened, "hostile": hostile, "empty": empty, "failed": all_failed,
}  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each kind, reported once."""
    found = {}
    for name, make in RUNS.items():
        found[name] = make(tmp_path_factory.mktemp(name))
        write_all(found[name])
    return found


@pytest.fixture(params=RUNS)
def page_of(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Path:
    """The page of each kind of run in turn."""
    return folders[request.param] / "report.html"


def at(value: Any, pointer: str) -> Any:
    for name in pointer.split("/")[1:]:
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def figures(looked: Looked) -> list[tuple[str, str]]:
    """Where each figure of the page says it stands in summary.json, and its raw value."""
    found: list[tuple[str, str]] = looked.page.eval_on_selector_all(
        "[data-at]", "all => all.map(one => [one.dataset.at, one.getAttribute('value')])"
    )
    return found


def test_it_opens_offline_without_an_error_or_a_request(chromium: Any, page_of: Path) -> None:
    """Of whatever run: nothing is asked for, the console is silent, the name of the run stands on top."""
    with looking(chromium, page_of, viewport=WIDE) as looked:
        assert looked.page.locator("h1").count() == 1
        looked.page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert (looked.requests, looked.errors) == ([], [])


def test_every_figure_is_that_of_summary_json(chromium: Any, page_of: Path) -> None:
    """Each carries its place and its raw value: integers of nanoseconds, money as it is written."""
    summary = json.loads((page_of.parent / "summary.json").read_text())
    with looking(chromium, page_of) as looked:
        found = figures(looked)
    wrong = [
        (pointer, value, of) for pointer, value in found
        if value != (of if isinstance(of := at(summary, pointer), str) else json.dumps(of))
    ]  # fmt: skip
    assert wrong == []
    assert len(found) >= 5  # the balance, at least


def test_every_arm_has_its_key_figures(chromium: Any, folders: dict[str, Path]) -> None:
    """In each stage: n, quantiles, cost and accuracy, in the row that bears its name, in words as in summary.json."""
    summary = json.loads((folders["sweep"] / "summary.json").read_text())
    with looking(chromium, folders["sweep"] / "report.html") as looked:
        rows = looked.page.eval_on_selector_all(
            ".key tbody tr",
            "rows => rows.map(row => [row.cells[0].textContent, "
            "[...row.querySelectorAll('[data-at]')].map(one => [one.dataset.at, one.textContent])])",
        )
    assert [name.strip("!?") for name, _ in rows] == [*ARMS] * len(STAGES)
    for place, (_, told) in enumerate(rows):
        of = f"/arms/{place}"
        assert [pointer for pointer, _ in told] == [
            f"{of}/service/ok", f"{of}/ttft/successes/p50/value_ns", f"{of}/ttft/successes/p95/value_ns",
            f"{of}/service/successes/p50/value_ns", f"{of}/service/successes/p95/value_ns",
            f"/accuracy/{place % 3}/categories/0/of_asked/k", f"{of}/cost/per_asked",
        ]  # fmt: skip
        assert float(told[3][1].strip("*")) == pytest.approx(at(summary, told[3][0]) / 1e9, rel=0.01)


def test_of_an_open_loop_scheduled_latency_is_the_key_figure(chromium: Any, folders: dict[str, Path]) -> None:
    """It leads; service latency stands beside it under Load."""
    with looking(chromium, folders["open"] / "report.html") as looked:
        assert "scheduled\np95 s" in looked.page.locator(".key thead").text_content()
        pointers = {pointer for pointer, _ in figures(looked)}
    assert {"/arms/0/scheduled/successes/p95/value_ns", "/stages/0/service/successes/p95/value_ns"} <= pointers


def test_the_verdict_names_what_was_found(chromium: Any, folders: dict[str, Path]) -> None:
    """Simulated, failures, the stage whose worker woke late with its cause, the safeguards and the knee, on top."""
    with looking(chromium, folders["sweep"] / "report.html") as looked:
        said = looked.page.locator("#verdict").inner_text()
    assert "simulated: figures are dial settings" in said
    assert "288 planned = 279 answered + 0 unanswered + 9 failed + 0 not run" in said
    assert "stage c8 is client-bound" in said
    assert "loop lag p99 40.0 ms" in said
    assert "Safeguards:" in said
    assert "knee:" in said


def test_a_client_bound_stage_is_marked_in_every_picture_that_has_it(chromium: Any, folders: dict[str, Path]) -> None:
    """Wherever the stage's name stands in a picture it has its mark; the other stages have none."""
    with looking(chromium, folders["sweep"] / "report.html") as looked:
        said = looked.page.eval_on_selector_all("svg text", "all => all.map(one => one.textContent)")
        for name in ("latency", "time", "load", "parts", "speed", "rig"):
            assert re.search(r"\bc8(, \w+)?!", looked.page.locator(f"#{name} svg").first.text_content())
    named = [text for text in said if re.search(r"\bc8\b", text) and not text.startswith("stage")]
    assert len(named) > 5
    assert [text for text in named if "!" not in text] == []
    assert [text for text in said if re.search(r"\bc[124]\b", text) and "!" in text] == []


def test_nothing_moves_sideways_on_a_phone(chromium: Any, page_of: Path) -> None:
    """At 360 px the page is as wide as the window, folded parts open or not."""
    with looking(chromium, page_of, viewport=PHONE) as looked:
        for _ in range(2):
            assert looked.page.evaluate("document.documentElement.scrollWidth") <= 360
            looked.page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")


def test_nothing_is_cut_off_on_paper(chromium: Any, folders: dict[str, Path]) -> None:
    """Between the margins of A4 all is shown, navigation aside; pictures and rows are not broken; what is folded says
    so."""
    with looking(chromium, folders["sweep"] / "report.html", viewport=PAPER) as looked:
        looked.page.emulate_media(media="print")
        assert looked.page.evaluate("document.documentElement.scrollWidth") <= PAPER["width"]
        style = "one => getComputedStyle(one).breakInside"
        assert looked.page.eval_on_selector("figure", style) == "avoid"
        assert looked.page.eval_on_selector("#key tr", style) == "avoid"
        assert not looked.page.locator("nav").is_visible()
        said = "one => getComputedStyle(one, '::after').content"
        assert "folded" in looked.page.eval_on_selector("#tables summary", said)
        assert looked.page.pdf(format="A4")[:5] == b"%PDF-"


def test_folded_parts_open_on_a_click(chromium: Any, folders: dict[str, Path]) -> None:
    """A table of report.md is hidden, then seen."""
    with looking(chromium, folders["sweep"] / "report.html") as looked:
        first = looked.page.locator("#tables details").first
        assert not first.locator("table").is_visible()
        first.locator("summary").click()
        assert first.locator("table").is_visible()


def test_ids_are_unique_and_every_link_leads_somewhere(chromium: Any, page_of: Path) -> None:
    """Several pictures in one page share no id, and no figure leads to a trial that is not there."""
    with looking(chromium, page_of) as looked:
        ids = looked.page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
        links = looked.page.eval_on_selector_all("a", "all => all.map(one => one.getAttribute('href'))")
    assert sorted({one for one in ids if ids.count(one) > 1}) == []
    assert sorted({link for link in links if link[0] != "#" or link[1:] not in ids}) == []


def test_no_word_of_a_program_is_left_in_the_text(chromium: Any, page_of: Path) -> None:
    """What is not available is `-`."""
    with looking(chromium, page_of) as looked:
        looked.page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
        text = looked.page.locator("body").inner_text()
    assert re.findall(r"\b(?:NaN|null|undefined|None|Infinity)\b", text) == []


CONTRAST = """
() => {
  const parts = colour => { const found = colour.match(/[\\d.]+/g).map(Number);
                            return [found[0], found[1], found[2], found.length > 3 ? found[3] : 1]; };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3]));
  const bright = colour => { const [r, g, b] = colour.map(c => { c /= 255;
    return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
  const paper = one => { const layers = [];
    for (let at = one; at; at = at.parentElement) layers.push(parts(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]); };
  const poor = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const of = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || of.closest('title') || !of.checkVisibility()) continue;
    const style = getComputedStyle(of), svg = of.closest('svg') !== null, under = paper(of);
    const ink = parts(svg ? style.fill : style.color);
    if (svg) ink[3] *= parseFloat(style.fillOpacity);
    for (let at = of; at; at = at.parentElement) ink[3] *= parseFloat(getComputedStyle(at).opacity);
    const [light, dark] = [bright(over(ink, under)), bright(under)].sort((a, b) => b - a);
    const ratio = (light + .05) / (dark + .05);
    if (ratio < 4.5) poor.push([walk.currentNode.textContent.slice(0, 40), ratio.toFixed(2)]);
  }
  return poor;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read_in_light_and_in_the_dark(chromium: Any, folders: dict[str, Path], scheme: str) -> None:
    """A contrast of 4.5 at least (WCAG 2, 1.4.3), in tables and pictures, and paper that goes with the scheme."""
    with looking(chromium, folders["sweep"] / "report.html", color_scheme=scheme, viewport=WIDE) as looked:
        looked.page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
        assert looked.page.evaluate(CONTRAST) == []
        paper = looked.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) > 600) == (scheme == "light")


def test_what_was_said_is_text_and_nothing_else(chromium: Any, folders: dict[str, Path]) -> None:
    """Scripts, images, links, comments and turned text of arms, questions, plans, warnings and answers: none runs, none
    is asked for, no element comes of them, and arms, the run and its warnings read as they were written."""
    with looking(chromium, folders["hostile"] / "report.html") as looked:
        looked.page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
        assert "pwned" not in looked.page.title().split("<script>")[0]
        strange = "script, img, iframe, object, embed, form, link, font, a[href^=javascript], [onerror], [onload]"
        assert looked.page.locator(strange).count() == 0
        assert looked.page.locator("h1").text_content() == f"{HOSTILE[0]}{HOSTILE[3]}"
        arms = looked.page.eval_on_selector_all(".key td:first-child", "all => all.map(one => one.textContent)")
        assert [arm.rstrip("?") for arm in arms] == list(HOSTILE)
        warnings = looked.page.eval_on_selector_all(".told li", "all => all.map(one => one.textContent)")
        assert {HOSTILE[0], HOSTILE[1], HOSTILE[2]} <= set(warnings)
    assert (looked.requests, looked.errors) == ([], [])


def test_an_answer_of_a_megabyte_does_not_make_the_page_as_long(folders: dict[str, Path]) -> None:
    """It is cut, and escaped where it is shown."""
    text = (folders["hostile"] / "report.html").read_text()
    assert len(text) < 700_000
    assert "<b><b>" not in text


def test_pictures_are_small_and_named_and_their_marks_have_titles(chromium: Any, page_of: Path) -> None:
    """Each under 100 kB with an accessible name, a caption, and titles to point at."""
    text = page_of.read_text()
    pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert max(map(len, pictures), default=0) < 100_000
    assert all('aria-label="' in one[:600] and "<title>" in one for one in pictures)
    with looking(chromium, page_of) as looked:
        without = "figure:not(:has(figcaption))"
        assert looked.page.locator(without).count() == 0


def test_every_section_of_the_table_is_reached(chromium: Any, folders: dict[str, Path]) -> None:
    """Those of a run that has everything they tell of, and from the navigation."""
    with looking(chromium, folders["sweep"] / "report.html") as looked:
        links = looked.page.eval_on_selector_all("nav a", "all => all.map(one => one.getAttribute('href').slice(1))")
        for name in ("latency", "time", "load", "parts", "speed", "rig"):
            assert name in SECTIONS
            assert name in links
            assert looked.page.locator(f"section#{name} figure").count() >= 1
