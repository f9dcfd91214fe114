"""Marks of a reply: which event is the first token, what a gap is, and when a figure is withheld."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.marks import Kind, Marks, Timeline, gaps, tpot_ns
from loadrig.words.record import Gaps


def timeline(*reads: tuple[int, *tuple[Kind, ...]]) -> Timeline:
    """Each read is its stamp and the kinds of the events it completed."""
    marks = Marks()
    for at_ns, *kinds in reads:
        marks.read(at_ns)
        for kind in kinds:
            marks.add(kind)
    return marks.timeline()


def test_only_content_is_a_first_token() -> None:
    """Opening, ping, empty delta, signature and block start come before the first token and are not it."""
    found = timeline(
        (10, Kind.START), (20, Kind.BLOCK), (30, Kind.EMPTY), (40, Kind.PING), (50, Kind.SIGNATURE), (700, Kind.TEXT)
    )

    assert (
        found.first_event_ns, found.first_block_ns, found.first_token_ns, found.first_answer_ns,
    ) == (10, 20, 700, 700)  # fmt: skip


def test_thinking_is_a_first_token_and_no_answer() -> None:
    """The first generated token and the first answer text are two figures."""
    found = timeline((400, Kind.THINKING), (2500, Kind.TEXT))

    assert (found.first_token_ns, found.first_answer_ns, found.last_token_ns) == (400, 2500, 2500)


def test_tool_arguments_are_a_first_token_without_an_answer() -> None:
    """A turn that only calls a tool has a first token; its first answer token is absent, not 0."""
    found = timeline((305, Kind.TOOL), (360, Kind.TOOL))

    assert (found.first_token_ns, found.first_answer_ns) == (305, None)


def test_nothing_generated_is_no_sample() -> None:
    """Without content every content figure is None."""
    found = timeline((15, Kind.START), (900, Kind.OTHER), (901, Kind.STOP))

    assert (
        found.first_event_ns, found.first_token_ns, found.last_token_ns, found.gaps, found.burst,
    ) == (15, None, None, None, False)  # fmt: skip


def test_first_token_time_is_never_a_gap() -> None:
    """Four content events have exactly three gaps, all between them."""
    found = timeline((1000, Kind.TEXT), (1500, Kind.TEXT), (2000, Kind.TEXT), (2500, Kind.TEXT))

    assert Gaps(count=3, p50_ns=500, p95_ns=500, max_ns=500) == found.gaps


def test_a_burst_withholds_gaps() -> None:
    """All content in one read, two events or more, is a burst; pings in other reads do not unmake it."""
    found = timeline((5, Kind.PING), (2000, Kind.TEXT, Kind.TEXT, Kind.TEXT), (2001, Kind.STOP))

    assert (found.burst, found.gaps, found.first_token_ns) == (True, None, 2000)


def test_two_reads_with_one_stamp_are_no_burst() -> None:
    """Reads are told apart by number: a coarse clock does not make a burst."""
    assert not timeline((7, Kind.TEXT), (7, Kind.TEXT)).burst


def test_one_content_event_is_no_burst() -> None:
    """A single event cannot show whether a hop held the reply back."""
    assert not timeline((7, Kind.TEXT)).burst


def test_gap_quantiles_are_order_statistics() -> None:
    """Of the gaps 1 to 20: p50 is the 10th, p95 the 19th, both gaps that occurred."""
    stamps = [0]
    for gap in range(20, 0, -1):
        stamps.append(stamps[-1] + gap)

    assert Gaps(count=20, p50_ns=10, p95_ns=19, max_ns=20) == gaps(stamps)


spread = timeline((1000, Kind.TEXT), (1500, Kind.TEXT), (2500, Kind.TEXT))


@pytest.mark.parametrize(
    ("line", "output", "hidden", "expected"),
    [
        (spread, 31, 0, 50),  # 1500 / 30
        (timeline((3_000, Kind.TEXT), (5_000, Kind.TEXT)), 101, 0, 20),  # 2000 / 100
        (spread, 131, 100, 50),  # 31 visible of 131
        (spread, 131, None, None),  # thinking was hidden, nobody says how much
        (spread, None, 0, None),
        (spread, 1, 0, None),
        (timeline((7, Kind.TEXT)), 31, 0, None),  # one event spans no time
        (timeline((7, Kind.TEXT, Kind.TEXT)), 31, 0, None),  # burst
        (timeline((7, Kind.START)), 31, 0, None),
    ],
)
def test_time_per_output_token(line: Timeline, output: int | None, hidden: int | None, expected: int | None) -> None:
    """(last - first) / (visible tokens - 1); None rather than 0 where there is nothing to divide."""
    assert expected == tpot_ns(line, output=output, hidden=hidden)


@given(st.lists(st.integers(0, 10**12), min_size=2, max_size=60).map(sorted))
def test_gaps_add_up_to_the_span(stamps: list[int]) -> None:
    """There is one gap fewer than events, none longer than the span, and the quantiles are ordered."""
    found = gaps(stamps)

    assert found is not None
    assert len(stamps) - 1 == found.count
    assert 0 <= found.p50_ns <= found.p95_ns <= found.max_ns <= stamps[-1] - stamps[0]
