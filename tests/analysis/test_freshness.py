"""When each arm saw a document that changed: from request bytes, instants and clocks that the test sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from records import MS, S, attempt, question, read_run, record, turn

from loadrig.analysis.freshness import CacheReset, Freshness, Seen, freshness, troubles
from loadrig.log import KEYS_AFTER, WORDINGS, RunLog, read_prompts, write_json, write_lines
from loadrig.words.change import Adopted, Adoption, Made, Reindexed
from loadrig.words.record import Record, Usage

UPDATE = {"after_s": 5.0, "replaced": ["a"], "added": [], "removed": []}
PROMPTS = {
    "old": b'{"text":"<document id=\\"a\\">\\nThe gate is green now.\\n</document>"},',
    "new": b'{"text":"<document id=\\"a\\">\\nThe gate is red now.\\n</document>"},',
    "none": b'{"text":"Question: What colour?"}',
    "cached": b'{"text":"x","cache_control":{"type":"ephemeral"}},',
}
AHEAD = {"w1": 100 * S, "w2": -3 * S}  # of the driver's clock, on which documents change at 50 s


def asked(trial: str, at_ms: int, *parts: str, worker: str = "w1", wrote: int | None = None, **given: Any) -> Record:
    """A trial whose one request begins so many milliseconds after the change, with a prompt of these parts."""
    begin_ns = AHEAD[worker] + 50 * S + at_ms * MS
    usage = None if wrote is None else Usage(input=1, cache_write_5m=wrote, cache_write_1h=0, cache_read=0)
    sent = attempt(begin_ns=begin_ns, end_ns=begin_ns + S, usage=usage)
    return record(trial, worker=worker, begin_ns=begin_ns, turns=(turn(attempts=(sent,), prompt=parts),), **given)


def found(folder: Path, *records: Record, made: bool = True, **given: Any) -> Freshness:
    write_json(folder / WORDINGS, {"old": ["The gate is green now."], "new": ["The gate is red now."]})
    with RunLog(folder) as log:
        if made:
            log.change(Made(1, "2026-11-20T12:00:05Z", 50 * S, AHEAD))
            index = Reindexed(build_ns=700 * MS, open_ns=4 * MS, ready_ns=AHEAD["w1"] + 51 * S)
            log.change(Adopted("w1", 1, Adoption(AHEAD["w1"] + 50 * S + MS), AHEAD["w1"], 20))
            log.change(Adopted("w1", 1, Adoption(AHEAD["w1"] + 50 * S + MS, {"bm25": index}), AHEAD["w1"], 10))
    run = read_run(folder, records, prompts=PROMPTS, update=UPDATE, **given)
    fresh = freshness(run, read_prompts(folder))
    assert fresh is not None
    return fresh


def test_seen_and_let_go_are_the_first_and_last_requests_that_held_it(tmp_path: Path) -> None:
    """Four requests, at -10, 5, 20 and 40 ms on two clocks: old, old, new, and a conversation with both."""
    fresh = found(
        tmp_path, asked("t1", -10, "old", "none"), asked("t2", 5, "old", "none"),
        asked("t3", 20, "new", "none", worker="w2"), asked("t4", 40, "old", "new", "none"),
    )  # fmt: skip
    (arm,) = fresh.arms
    assert arm.seen == Seen(requests=3, new=2, old=2, unknown=0, seen_ns=20 * MS, let_go_ns=40 * MS)
    assert arm.workers["w2"] == Seen(1, 1, 0, 0, 20 * MS, None)
    assert arm.workers["w1"].seen_ns == 40 * MS
    assert (arm.cache, arm.answers) == (None, None)


def test_what_was_before_the_change_is_told_as_before(tmp_path: Path) -> None:
    """Old wording last 10 ms, and, by a clock that is a little wrong, new 2 ms before it; no request after it."""
    fresh = found(tmp_path, asked("t1", -10, "old"), asked("t2", -2, "new"))
    assert fresh.arms[0].seen == Seen(requests=0, new=0, old=0, unknown=0, seen_ns=-2 * MS, let_go_ns=-10 * MS)


def test_a_clock_is_as_it_was_known_best_in_the_session_of_the_change(tmp_path: Path) -> None:
    """3 ms further ahead than was known at the change, by what w1 told later: begun 20 ms after it, by that clock 17.
    What it told in another session is of another clock."""
    write_json(tmp_path / WORDINGS, {"old": [], "new": ["The gate is red now."]})
    with RunLog(tmp_path) as log:
        log.change(Made(1, "now", 50 * S, AHEAD))
        for session, ahead_ns in ((1, AHEAD["w1"] + 3 * MS), (2, 7 * S)):
            log.change(Adopted("w1", session, Adoption(ahead_ns + 50 * S + MS), ahead_ns, 10))
    run = read_run(tmp_path, [asked("t1", 20, "new")], prompts=PROMPTS, update=UPDATE)
    fresh = freshness(run, read_prompts(tmp_path))
    assert fresh is not None
    assert (fresh.arms[0].seen.seen_ns, [one.changed_ns for one in fresh.workers]) == (17 * MS, [MS])


def test_a_try_that_was_superseded_was_sent_all_the_same(tmp_path: Path) -> None:
    """A trial timed out and was asked again: two requests, of which the first one saw it, and one answer."""
    fresh = found(
        tmp_path, asked("t1", 5, "new", outcome="failed", reason="timeout"), asked("t1", 30, "new", try_no=2),
        asked("t2", 40, "new", outcome="failed", reason="timeout"),
    )  # fmt: skip
    assert (fresh.arms[0].seen.requests, fresh.arms[0].seen.seen_ns, fresh.late) == (3, 5 * MS, 1)


def test_a_control_sees_nothing_ever(tmp_path: Path) -> None:
    """Requests without documents: None, which is not 0, however many there were."""
    fresh = found(tmp_path, asked("t1", -5, "none", arm="control"), asked("t2", 5, "none", arm="control"))
    assert fresh.arms[0].seen == Seen(requests=1, new=0, old=0, unknown=0, seen_ns=None, let_go_ns=None)


def test_a_prompt_that_is_not_on_file_is_unknown(tmp_path: Path) -> None:
    """It counts among the requests, and holds neither."""
    fresh = found(tmp_path, asked("t1", 5, "lost", "none"), asked("t2", 6))
    assert fresh.arms[0].seen == Seen(requests=2, new=0, old=0, unknown=2, seen_ns=None, let_go_ns=None)


def test_the_cost_of_a_cache_reset_is_what_was_written_again(tmp_path: Path) -> None:
    """Of three requests with new wording that asked for caching two wrote, the first one 900 tokens; what was written
    before, or not asked for, is no part of it."""
    fresh = found(
        tmp_path, asked("t1", -9, "old", "cached", wrote=850), asked("t2", 8, "new", "cached", wrote=900),
        asked("t3", 9, "new", "cached", wrote=910), asked("t4", 12, "new", "cached", wrote=0),
        asked("t5", 1, "new", "none", wrote=7), asked("t6", 13, "new", "cached"),
    )  # fmt: skip
    assert fresh.arms[0].cache == CacheReset(n=3, writing=2, written=1810, first=900)


def test_the_first_to_write_is_so_by_time(tmp_path: Path) -> None:
    """Records are in the order in which trials ended: the second one's request was begun first."""
    fresh = found(
        tmp_path, asked("t1", 9, "new", "cached", wrote=910), asked("t2", 8, "new", "cached", wrote=900, worker="w2")
    )
    assert fresh.arms[0].cache == CacheReset(n=2, writing=2, written=1810, first=900)


def test_another_sessions_requests_are_not_on_the_time_line(tmp_path: Path) -> None:
    """A run that was taken up: the clock of its second part is another, so its requests tell no time; its answers were
    begun after the change all the same."""
    sessions = [{"records": 0}, {"records": 1}]
    fresh = found(tmp_path, asked("t1", 5, "new"), asked("t2", -60_000, "new"), sessions=sessions)
    assert (fresh.arms[0].seen.requests, fresh.arms[0].seen.seen_ns, fresh.late) == (1, 5 * MS, 2)


def test_answers_after_the_change_go_by_the_new_key(tmp_path: Path) -> None:
    """Green was right and is stale now. Four answers, of which one was begun before, one is to a question without a
    key of after: one right and one stale of two."""
    key = question("q1", must_contain=("red",), stale=("green",), reference="Red.")
    write_lines(tmp_path / KEYS_AFTER, [key])
    fresh = found(
        tmp_path, asked("t1", -5, "old", answer="green"), asked("t2", 5, "old", answer="It is green."),
        asked("t3", 6, "new", answer="It is red."), asked("t4", 7, "new", answer="green", question="q2"),
    )  # fmt: skip
    answers = fresh.arms[0].answers
    assert answers is not None
    assert (answers.n, answers.right, answers.told, answers.stale) == (2, 1, 2, 1)
    assert list(troubles(fresh)) == [
        "documents changed in mid-run: accuracy, recall and evidence go by the keys of before, also for the 3 answers "
        "begun after it"
    ]


def test_a_workers_part_is_what_it_told_last_on_the_drivers_clock(tmp_path: Path) -> None:
    """Its texts were new 1 ms after the change, its index a second after it; of w2, which told nothing, nothing."""
    (worker,) = found(tmp_path, asked("t1", 5, "new")).workers
    assert (worker.worker, worker.changed_ns, worker.error_ns) == ("w1", MS, 10)
    index = worker.indexes["bm25"]
    assert (index.ready_ns, index.build_ns, index.open_ns, index.failure) == (S, 700 * MS, 4 * MS, None)


def test_a_run_that_ended_before_the_change_says_so(tmp_path: Path) -> None:
    """No arm has any figure of it."""
    fresh = found(tmp_path, asked("t1", 5, "old"), made=False)
    assert (fresh.at, fresh.arms, fresh.workers) == (None, (), ())
    assert list(troubles(fresh)) == ["documents were to change 5 s after the begin: the run ended before"]


@pytest.mark.parametrize("text", ['a "quoted" word\twith\nbreaks', "café \\n is no break", "\u2028\x01"])
def test_a_prompts_text_is_read_as_it_was_before_it_was_sent(text: str, tmp_path: Path) -> None:
    """Escapes of JSON are undone: the wording of a text is found in the bytes that carried it, whatever it holds."""
    told = f"so it begins {text} and it ends"
    write_json(tmp_path / WORDINGS, {"old": [], "new": [" ".join(told.split())]})
    body = b'{"text":' + msgspec.json.encode(told) + b"}"
    with RunLog(tmp_path) as log:
        log.change(Made(1, "now", 50 * S, AHEAD))
    run = read_run(tmp_path, [asked("t1", 5, "p")], prompts={"p": body}, update=UPDATE)
    fresh = freshness(run, read_prompts(tmp_path))
    assert fresh is not None
    assert fresh.arms[0].seen.new == 1


def test_a_run_whose_documents_do_not_change_has_no_freshness(tmp_path: Path) -> None:
    """None, and no warning."""
    run = read_run(tmp_path, [record("t1")])
    assert freshness(run, read_prompts(tmp_path)) is None
    assert list(troubles(None)) == []
