"""What is read back of a run: its texts stay on file, and come from there as they were written."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import attempt, read_run, record, turn, write_run

from loadrig import log
from loadrig.reports import write_all
from loadrig.stored import fingerprint, has_text, whole
from loadrig.words.record import Record, ToolCall, Usage

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@given(answers=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_texts_come_from_the_file_as_they_were_written(
    answers: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any text at all, in an answer and in a turn: asked for in any order, it is that of its own record."""
    written = [record(f"t{n}", answer=a, turns=(turn(text=b), turn(text=a))) for n, (a, b) in enumerate(answers)]
    run = read_run(tmp_path_factory.mktemp("run"), written)
    for read, (a, b) in reversed(list(zip(run.records, answers, strict=True))):
        assert (read.answer, read.turns[1].text, read.turns[0].text) == (a, a, b)
    assert list(map(whole, run.records)) == written


def test_answers_that_are_alike_have_one_fingerprint(tmp_path: Path) -> None:
    """Of three the last differs, by a blank; read back or not makes no difference."""
    written = [record(f"t{n}", answer=answer) for n, answer in enumerate(("yes", "yes", "yes "))]
    first, second, third = map(fingerprint, read_run(tmp_path, written).records)
    assert first == second != third
    assert [fingerprint(one) for one in written] == [first, second, third]


def test_whether_a_text_came_is_known_without_reading_it(tmp_path: Path) -> None:
    """Of a turn with a text and one without, the file gone since; written or read back makes no difference."""
    written = record("t1", turns=(turn(text="a"), turn(text="")))
    run = read_run(tmp_path, [written])
    (tmp_path / log.RECORDS).unlink()
    assert [has_text(one) for one in run.records[0].turns] == [True, False]
    assert [has_text(one) for one in written.turns] == [True, False]


def test_what_was_appended_later_does_not_move_what_was_read(tmp_path: Path) -> None:
    """A run is read while it is written: the texts of what was read are still where they were."""
    run = read_run(tmp_path, [record("t1", answer="one")])
    with log.RunLog(tmp_path) as written:
        written.append([record("t2", answer="two")], {})
    assert [one.answer for one in run.records] == ["one"]
    assert [one.answer for one in log.read_run(tmp_path).records] == ["one", "two"]


def test_a_prompt_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    """By its hash, the second as well as the first; one that is not on file is not there."""
    prompts = log.read_prompts(write_run(tmp_path, [], prompts={"h1": "é\n".encode(), "h2": b"two"}))
    assert (list(prompts), prompts["h2"], prompts["h1"]) == (["h1", "h2"], b"two", "é\n".encode())
    assert "h3" not in prompts


def test_a_run_is_read_and_reported_in_a_fraction_of_its_file(tmp_path: Path) -> None:
    """400 records of a 10 kB answer are 9 MB on file: read, they hold a fifth of that at most, and reporting takes
    three fifths at its peak, however long the answers are."""
    size = (write_run(tmp_path, map(_long, range(400))) / log.RECORDS).stat().st_size
    assert size > 400 * 2 * 10_000
    write_all(tmp_path)  # what is loaded and made once
    tracemalloc.start()
    run = log.read_run(tmp_path)
    held = tracemalloc.get_traced_memory()[0]
    del run
    tracemalloc.reset_peak()
    write_all(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 0.2 * size
    assert peak < 0.6 * size


def _long(number: int) -> Record:
    """A trial with a search, its answer like no other's."""
    answer = f"yes, {number} " + "and so on " * 1_000
    used = Usage(input=1_000 + number, output=number)
    limits = tuple((f"limit-{n}", str(number % 100)) for n in range(8))
    asked = attempt(usage=used, request_id=f"r{number}", rate_limit=limits, cost="0.01")
    search = ToolCall("search", f'{{"query":"{number}"}}', ok=True, docs=("a.md",), ns=number)
    turns = (turn(tool_calls=(search,)), turn(text=answer, attempts=(asked,), usage=used))
    return record(f"t{number}", answer=answer, usage=used, turns=turns, repetition=number)
