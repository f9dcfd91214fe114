"""The sections of report.html about money, tokens and answers: figures of the summary, escaped, with their places."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from drawn import rows_of
from records import S, failed, plain, question, record, turn, write_run

from loadrig.analysis.summary import Summary, summarize
from loadrig.log import RunFolder, read_run
from loadrig.reports.html import SECTIONS, bill, found, questions, tokens, worth
from loadrig.words.prompt import Citation
from loadrig.words.record import Record, ToolCall, Usage

NASTY = "<script>alert(1)</script>\"'&<img src=x onerror=x>"
OURS = ("money", "worth", "tokens", "right", "routes", "safeguards", "cache", "citations", "questions", "trials")
USED = Usage(input=100, cache_write_5m=20, cache_read=30, output=50, thinking=10)


def priced(trial: str, cost: str, **given: object) -> Record:
    turns = given.pop("turns", (turn(cost, usage=USED),))
    return record(trial, cost=cost, usage=USED, turns=turns, **given)


def small(folder: Path) -> tuple[RunFolder, Summary]:
    """Arms of two turns and of one, a failure, a warm-up; three of four questions right in one, one in the other."""
    two = (turn("0.01", usage=USED), turn("0.03", usage=USED))
    records = [
        *(priced(f"a{at}", "0.04", arm="agentic", question=f"q{at}", answer="yes" if at else "no", turns=two)
          for at in range(4)),
        *(priced(f"r{at}", "0.01", question=f"q{at}", answer="no" if at else "yes") for at in range(3)),
        failed("f", question="q3", cost="0.02", turns=(turn("0.02", usage=USED),)),
        priced("w", "0.08", phase="warmup"),
    ]  # fmt: skip
    run = read_run(write_run(folder, records, simulated=True))
    return run, summarize(run)


class Figures(HTMLParser):
    """Every `<data>` of a page: the place it names and the raw value it holds."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "data":
            of = dict(attrs)
            self.found.append((of["data-at"] or "", of["value"] or ""))


def at(value: Any, pointer: str) -> Any:
    for name in pointer.split("/")[1:]:
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def made(run: RunFolder, summary: Summary, anchor: str) -> str:
    module, _, name = SECTIONS[anchor].partition(":")
    section = getattr(import_module(module), name)(run, summary)
    return "" if section is None else str(section.body)


def test_every_figure_stands_in_the_summary_at_the_place_it_names(tmp_path: Path) -> None:
    """Money to the last digit, shares, means, tokens: several dozen of them."""
    run, summary = small(tmp_path)
    json, seen = plain(summary), 0
    for anchor in OURS:
        for pointer, value in Figures(made(run, summary, anchor)).found:
            expected = at(json, pointer)
            assert str(expected) == value or float(expected) == float(value), pointer
            seen += 1
    assert seen > 50


def test_the_bill_shows_its_lines_and_their_sum(tmp_path: Path) -> None:
    """0.19 measured, 0.02 failed, 0.08 warm-up: 0.29; lines of nothing are left out; tokens sum over all calls."""
    run, summary = small(tmp_path)
    section = bill.section(run, summary)
    assert section is not None
    assert "3 lines of the bill have money on them, and they sum to 0.29 USD" in section.body
    rows = re.findall(r"<tr><td>.*?</tr>", section.body, re.DOTALL)
    lines = {re.sub(r"<[^>]+>", " ", row).split()[0] for row in rows}
    assert {"measured", "failed", "warmup", "total"} <= lines
    assert "judge" not in lines
    assert "1,300" in re.sub(r"<[^>]+>", " ", next(row for row in rows if "total" in row))  # 13 calls of 100


def test_where_the_tokens_go_sums_to_prompt_and_output(tmp_path: Path) -> None:
    """100 uncached, 20 written, 30 read, 40 of text and 10 of thinking; an agent's two turns are twice that."""
    _, summary = small(tmp_path)
    chart = tokens.chart(summary)
    assert chart is not None
    mean = {(row["arm"], row["kind"]): row["tokens"] for row in rows_of(chart)}
    assert [mean["rag", kind] for kind in tokens.KINDS] == [100, 20, 30, 40, 10]
    assert [mean["agentic", kind] for kind in tokens.KINDS] == [200, 40, 60, 80, 20]


def test_the_frontier_is_told_and_marked(tmp_path: Path) -> None:
    """rag at 0.05 / 4 and 1 of 4, agentic at 0.04 and 3 of 4: neither dominates the other; simulated is said."""
    run, summary = small(tmp_path)
    assert "On the frontier, from the cheapest: rag (0.01250 USD, 1/4), agentic (0.04000 USD, 3/4)" in worth.told(
        summary
    )
    assert "dial settings of the simulator, not evidence" in worth.caption(summary)
    section = worth.section(run, summary)
    assert section is not None
    assert "on the frontier" in section.body


def test_few_questions_are_marked(tmp_path: Path) -> None:
    """Four are fewer than ten."""
    _, summary = small(tmp_path)
    grid = found.accuracy(summary)
    assert grid is not None
    cells = [cell for row in grid.rows for cell in row if not isinstance(cell, str)]
    assert {cell.text for cell in cells} == {"3/4~", "1/4~"}


def test_the_marks_of_a_column_sum_to_the_arms_accuracy(tmp_path: Path) -> None:
    """Right: three in the agent's column, one in the other; the failed trial has a mark of its own."""
    run, summary = small(tmp_path)
    arms, rows = questions.marks(run, summary)
    whole = {row.arm: row.categories[0].of_asked for row in summary.accuracy}
    assert {arm: questions.right(rows, place) for place, arm in enumerate(arms)} == {"agentic": 3, "rag": 1}
    assert {arm: share.k for arm, share in whole.items() if share} == {"agentic": 3, "rag": 1}
    assert [mark.kind for row in rows for mark in row.marks if mark and mark.trial == "f"] == ["failed"]


def test_a_question_the_control_knows_is_marked_so(tmp_path: Path) -> None:
    """It is left out of accuracy, and the grid says why."""
    run = read_run(write_run(tmp_path, [record("c", arm="control"), record("a")]))
    _, rows = questions.marks(run, summarize(run))
    assert [mark.kind for row in rows for mark in row.marks if mark] == ["dropped", "dropped"]


@pytest.mark.parametrize("anchor", OURS)
def test_what_a_run_says_cannot_leave_its_place(tmp_path: Path, anchor: str) -> None:
    """Tags in names, questions, answers, tool arguments, failures and citations are text in every section."""
    call = ToolCall(NASTY, NASTY, ok=True, docs=(NASTY,), ns=5)
    hostile = {"arm": f"rag{NASTY}", "model": NASTY, "question": NASTY, "category": NASTY, "stage": NASTY,
               "worker": NASTY, "route": f"lookup>rag{NASTY}", "route_note": NASTY}  # fmt: skip
    turns = (
        turn("0.01", usage=USED, tool_calls=(call,), prompt=(NASTY,), text=NASTY, stop_reason=NASTY, notes=(NASTY,)),
    )
    records = [
        record("t'\"<", answer=NASTY, cost="0.01", citations=(Citation(NASTY, NASTY),), turns=turns, **hostile),
        failed("f", reason=NASTY, service_ns=S, **hostile),
    ]  # fmt: skip
    key = question(NASTY, category=NASTY, question=NASTY, reference=NASTY, must_contain=("x",))
    run = read_run(write_run(tmp_path, records, questions=[key], run=NASTY, currency="US<D"))
    body = made(run, summarize(run), anchor)
    assert "<script>alert" not in body
    assert "<img" not in body
    assert 'onerror=x>"' not in body


@pytest.mark.parametrize("anchor", OURS)
def test_a_run_of_nothing_has_none_of_these_sections(tmp_path: Path, anchor: str) -> None:
    """No empty headings, and no error; what was checked of an empty run is still told."""
    run = read_run(write_run(tmp_path, []))
    body = made(run, summarize(run), anchor)
    assert (body == "") is (anchor != "safeguards")
