"""Records on their way to the driver: all of them, in order, in batches that are bounded by number and by bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from records import record, turn

from loadrig.words.record import Record
from loadrig.worker.outbox import MOST_BYTES, Outbox, size_of


def batches(outbox: Outbox) -> list[tuple[tuple[Record, ...], dict[str, bytes]]]:
    found = []
    while outbox:
        found.append(outbox.take())
    return found


def test_a_batch_is_at_most_256_records() -> None:
    """600 small ones: 256, 256 and 88."""
    outbox = Outbox()
    for number in range(600):
        outbox.add(record(f"t{number}"), {})
    assert [len(records) for records, _ in batches(outbox)] == [256, 256, 88]


def test_a_batch_is_at_most_a_megabyte() -> None:
    """Ten answers of 300 kB, three of which fit: 3, 3, 3 and 1."""
    outbox = Outbox()
    for number in range(10):
        outbox.add(record(f"t{number}", answer="x" * 300_000), {})
    assert outbox.is_full
    assert [len(records) for records, _ in batches(outbox)] == [3, 3, 3, 1]
    assert not outbox.is_full


def test_what_is_larger_goes_alone() -> None:
    """A prompt part of 3 MB, between two small records."""
    outbox = Outbox()
    outbox.add(record("a"), {})
    outbox.add(record("b"), {"long": b"x" * 3 * MOST_BYTES})
    outbox.add(record("c"), {})
    assert [[one.trial for one in records] for records, _ in batches(outbox)] == [["a"], ["b"], ["c"]]


def test_a_prompt_part_goes_once_and_not_after_its_record() -> None:
    """Three records of two parts that they share: each part comes once, with the first that needs it."""
    outbox = Outbox()
    for trial, parts in {"a": "x", "b": "xy", "c": "y"}.items():
        outbox.add(record(trial), {part: part.encode() for part in parts})
        if trial == "a":
            first = outbox.take()
    (_, rest) = outbox.take()
    assert (first[1], rest) == ({"x": b"x"}, {"y": b"y"})


def test_a_record_is_as_large_as_its_texts() -> None:
    """Two turns of 1,000 and 2,000 characters, the second the answer: 5,000, and three times what is beside them."""
    turns = (turn(text="a" * 1000), turn(text="b" * 2000))
    assert size_of(record("t", answer="b" * 2000, turns=turns)) == 5000 + 3 * 1500


@given(st.lists(st.integers(0, 700_000), max_size=40), st.data())
def test_nothing_is_lost_doubled_or_reordered(sizes: list[int], data: st.DataObject) -> None:
    """However additions and batches alternate; no batch of two or more passes the megabyte."""
    outbox, taken = Outbox(), []
    for number, size in enumerate(sizes):
        outbox.add(record(f"t{number}", answer="x" * size), {})
        if data.draw(st.booleans()):
            taken.append(outbox.take())
    taken += batches(outbox)
    assert [one.trial for records, _ in taken for one in records] == [f"t{number}" for number in range(len(sizes))]
    assert all(len(records) == 1 or sum(map(size_of, records)) <= MOST_BYTES for records, _ in taken if records)
