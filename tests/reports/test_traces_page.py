"""Trials in full and in a list: which are chosen, where each stands on file, what is shown of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from records import MS, S, attempt, failed, question, record, turn, write_run

from loadrig.analysis.summary import summarize
from loadrig.analysis.traces import Shown, lines_of, listed, shown
from loadrig.log import RECORDS, read_run
from loadrig.reports.html import traces
from loadrig.words.corpus import Hit
from loadrig.words.record import Record, ToolCall, Usage


def whys(found: tuple[Shown, ...]) -> dict[str, tuple[str, ...]]:
    return {one.record.trial: one.why for one in found}


def test_the_slowest_and_the_dearest_are_told(tmp_path: Path) -> None:
    """Of seven the five slowest, and the two whose cost is known; one trial may be there for several reasons."""
    records = [record(f"t{at}", service_ns=at * S) for at in range(1, 6)]
    records += [record("t6", service_ns=6 * S, cost="0.02"), record("t7", service_ns=7 * S, cost="0.05")]
    found = whys(shown(read_run(write_run(tmp_path, records))))
    assert list(found) == ["t7", "t6", "t5", "t4", "t3"]
    assert found["t7"] == ("slowest 1 of 7", "dearest 1 of 2")


def test_each_arm_has_its_slowest(tmp_path: Path) -> None:
    """Six quick trials of one arm hide none of another."""
    records = [record(f"t{at}", service_ns=9 * S) for at in range(6)] + [record("x", arm="full", service_ns=S)]
    found = whys(shown(read_run(write_run(tmp_path, records))))
    assert found["x"] == ("slowest of the 1 of full (m)",)


def test_the_first_of_each_reason_is_told(tmp_path: Path) -> None:
    """Two reasons of failing and one of not answering, with how many there were."""
    records = [failed("f1"), failed("f2"), failed("g", "http_5xx"), record("u", outcome="unanswered", reason="starved")]
    found = whys(shown(read_run(write_run(tmp_path, records))))
    assert {trial: why[-1] for trial, why in found.items()} == {
        "f1": "first of 2 failed: timeout", "g": "first of 1 failed: http_5xx", "u": "first of 1 unanswered: starved",
    }  # fmt: skip


def test_a_line_is_that_of_the_file(tmp_path: Path) -> None:
    """The number that an editor shows for the record, tries that were asked again counted."""
    records = [record("a"), record("b", try_no=1), record("b", try_no=2), record("c")]
    run = read_run(write_run(tmp_path, records))
    lines = (tmp_path / RECORDS).read_text().splitlines()
    found = lines_of(run, run.records)
    assert found == {("a", 1): 2, ("b", 2): 4, ("c", 1): 5}
    assert [json.loads(lines[line - 1])["trial"] for line in found.values()] == ["a", "b", "c"]


def test_of_many_trials_each_kth_is_listed_and_all_that_are_told(tmp_path: Path) -> None:
    """Ten trials, about four wanted: every third, which are four, and the one told in full."""
    records = [record(f"t{at}") for at in range(10)]
    run = read_run(write_run(tmp_path, records))
    found = listed(run, [Shown(run.records[1], ("why",))], most=4)
    assert [one.trial for one in found.records] == ["t0", "t1", "t3", "t6", "t9"]
    assert (found.of, found.every) == (10, 3)


def body_of(folder: Path, *records: Record, **given: object) -> str:
    run = read_run(write_run(folder, records, **given))
    section = traces.section(run, summarize(run))
    assert section is not None
    return str(section.body)


def test_an_attempt_is_drawn_on_its_trials_time(tmp_path: Path) -> None:
    """A trial of 1,000 ms; its call begins at 100: 10 ms to connect, 300 to the first event, 500 to the first token,
    900 to the last; so the bar's parts lie at 10, 11, 30 and 50 % and end at 90."""
    one = attempt(
        begin_ns=100 * MS, connect_ns=10 * MS, first_event_ns=300 * MS, first_token_ns=500 * MS, last_token_ns=900 * MS,
        end_ns=900 * MS,
    )  # fmt: skip
    body = body_of(tmp_path, record("a", begin_ns=0, end_ns=1000 * MS, turns=(turn(attempts=(one,)),)))
    for kind, left, width in (("connect", 10, 1), ("wait", 11, 19), ("first", 30, 20), ("tokens", 50, 40)):
        assert f'class="k-{kind}" style="left:{left}.0%;width:{width}.0%"' in body
    assert "connected 10.0, first event 200.0, first token 400.0, last token 800.0, end 800.0 ms" in body


def test_a_trace_has_all_of_a_trial(tmp_path: Path) -> None:
    """Question, reference, answer, passages with scores, tools with arguments, prompt hashes, tokens, money, place."""
    call = ToolCall("search", '{"query": "valve"}', ok=True, docs=("d7",), ns=3 * MS, hits=2)
    turns = (
        turn("0.01", prompt=("h1", "h2"), tool_calls=(call,), usage=Usage(input=10, output=5)),
        turn("0.02", prompt=("h1", "h2", "h3"), usage=Usage(input=20, output=6, thinking=2), text="yes"),
    )
    one = record("a", cost="0.03", turns=turns, retrieved=(Hit("d1", "d1#4", 12.5),), answer="yes")
    body = body_of(tmp_path, one, questions=[question(gold=("d1",), reference="It is.")])
    for told in (
        "Is it?", "It is.", "records.jsonl, line 2", "d1#4 <small>12.5, gold", "search</b>",
        "{&#34;query&#34;: &#34;valve", "2 hits: d7",
        "2 fragments, 2 of them new", "3 fragments, 1 of them new", "0.03000 USD", "of it 2 thinking",
        'id="trial-a"', "right</small>",
    ):  # fmt: skip
        assert told in body, told


def test_a_long_answer_is_cut_and_says_so(tmp_path: Path) -> None:
    """4,000 of 5,000 characters."""
    body = body_of(tmp_path, record("a", answer="y" * 5000))
    assert "y" * 4000 + " " in body
    assert "y" * 4001 not in body
    assert "4,000 of 5,000 characters" in body


@pytest.mark.parametrize(("ns", "shown_as"), [(138_200_000, "138.2"), (40_000, "0.040"), (None, "-"), (0, "0.0")])
def test_milliseconds(ns: int | None, shown_as: str) -> None:
    """What is not available is no 0."""
    assert traces.milliseconds(ns) == shown_as
