"""Where the time of a trial goes: the parts, and that they sum to its service latency."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from records import MS, attempt, failed, read_run, record, turn

from loadrig.analysis.timing import PARTS, parts, times
from loadrig.words.record import Record


def named(trial: Record) -> dict[str, int]:
    """The parts of a trial in milliseconds, those that are 0 left out."""
    return {name: ns // MS for name, ns in zip(PARTS, parts(trial), strict=True) if ns}


def asked(begin: int, end: int, **given: int) -> object:
    return attempt(begin_ns=begin * MS, end_ns=end * MS, **{name: of * MS for name, of in given.items()})


def test_a_search_and_one_reply() -> None:
    """50 ms of search, 20 of them waiting; first token 100 ms after asking, 300 ms more of reply; 10 ms are left."""
    one = turn(attempts=(asked(50, 450),), service_ns=400 * MS, ttft_ns=100 * MS)
    trial = record("a", turns=(one,), retrieval_ns=50 * MS, retrieval_queue_ns=20 * MS, service_ns=460 * MS)
    assert named(trial) == {
        "searching": 30,
        "waiting to search": 20,
        "to first tokens": 100,
        "replies": 300,
        "rest": 10,
    }


def test_a_failed_attempt_and_the_pause_behind_it_are_parts_of_their_own() -> None:
    """70 ms of a broken attempt, 30 ms of back-off, then a reply of 200 ms."""
    attempts = (asked(0, 70), asked(100, 300, backoff_ns=30))
    trial = record("a", turns=(turn(attempts=attempts, service_ns=200 * MS, ttft_ns=50 * MS),), service_ns=300 * MS)
    assert named(trial) == {"failed attempts": 70, "back-off": 30, "to first tokens": 50, "replies": 150}


def test_tools_and_the_wait_of_a_later_turn_count_and_the_first_turns_does_not() -> None:
    """A first turn held for 500 ms began so much later; the second's 40 ms are in the trial, as are 60 ms of tools."""
    first = turn(attempts=(asked(0, 100, backoff_ns=500),), service_ns=100 * MS, ttft_ns=100 * MS)
    second = turn(attempts=(asked(200, 300, backoff_ns=40),), service_ns=100 * MS, ttft_ns=20 * MS)
    trial = record("a", turns=(first, second), tool_ns=60 * MS, service_ns=310 * MS)
    assert named(trial) == {"to first tokens": 120, "replies": 80, "tools": 60, "back-off": 40, "rest": 10}


def test_a_hold_that_a_record_cannot_tell_from_a_pause_is_taken_from_back_off() -> None:
    """30 ms of pause and 500 ms of hold before a second attempt: the trial took 200 ms, so 30 ms were pause."""
    attempts = (asked(0, 70), asked(600, 700, backoff_ns=530))
    trial = record("a", turns=(turn(attempts=attempts, service_ns=100 * MS, ttft_ns=100 * MS),), service_ns=200 * MS)
    assert named(trial) == {"failed attempts": 70, "back-off": 30, "to first tokens": 100}


def test_a_turn_without_a_first_token_is_waiting_for_one() -> None:
    """A reply that generated nothing has no part that is writing."""
    trial = record("a", turns=(turn(attempts=(asked(0, 80),), service_ns=80 * MS),), service_ns=80 * MS)
    assert named(trial) == {"to first tokens": 80}


SPAN = st.integers(0, 50)


@given(st.lists(st.lists(st.tuples(SPAN, SPAN), min_size=1, max_size=3), max_size=3), SPAN, SPAN, SPAN, st.data())
def test_the_parts_sum_to_the_service_latency(
    turns: list[list[tuple[int, int]]], search: int, tools: int, left: int, data: st.DataObject
) -> None:
    """Whatever the turns, attempts and pauses, and however long the first turn was held."""
    at, made = search, []
    held = 0
    for number, spans in enumerate(turns):
        attempts = []
        for place, (paused, took) in enumerate(spans):
            of_hold = data.draw(SPAN) if number == 0 else 0
            paused = 0 if number == 0 and place == 0 else paused  # noqa: PLW2901
            held += of_hold
            attempts.append(asked(at + paused, at + paused + took, backoff_ns=paused + of_hold))
            at += paused + took
        made.append(turn(attempts=tuple(attempts), service_ns=spans[-1][1] * MS, ttft_ns=spans[-1][1] * MS // 2))
    trial = record(
        "a", turns=tuple(made), retrieval_ns=search * MS, tool_ns=tools * MS, service_ns=(at + tools + left) * MS
    )
    found = parts(trial)
    assert sum(found) == trial.service_ns
    assert min(found) >= 0


def test_a_row_sums_over_the_timed_successes_of_an_arm(tmp_path: Path) -> None:
    """Two trials of 100 and 300 ms; a failure, a warm-up trial and one of the tail are in no row."""

    def trial(name: str, ms: int, **more: object) -> Record:
        one = turn(attempts=(asked(0, ms),), service_ns=ms * MS, ttft_ns=10 * MS)
        return record(name, turns=(one,), service_ns=ms * MS, **more)

    others = (failed("f"), trial("w", 5, phase="warmup"), trial("t", 5, phase="tail"))
    (row,) = times(read_run(tmp_path, (trial("a", 100), trial("b", 300), *others)))
    assert (row.arm, row.stage, row.n, row.service_ns, row.sent_late_ns) == ("rag", "c2", 2, 400 * MS, None)
    assert {part.name: part.mean_ns for part in row.parts if part.total_ns} == {
        "to first tokens": 10 * MS, "replies": 190 * MS,
    }  # fmt: skip


def test_what_was_sent_late_stands_beside_the_service_latency(tmp_path: Path) -> None:
    """Dispatch delays of 20 and 40 ms are summed; they are no part of service."""
    trials = [record(name, dispatch_delay_ns=ms * MS, service_ns=MS) for name, ms in (("a", 20), ("b", 40))]
    (row,) = times(read_run(tmp_path, trials))
    assert (row.sent_late_ns, row.service_ns, sum(part.total_ns for part in row.parts)) == (60 * MS, 2 * MS, 2 * MS)
