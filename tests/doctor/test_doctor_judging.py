"""What the doctor makes of what it saw, by hand: arrivals, limits, clocks, counters."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from loadrig.doctor import abilities, manners
from loadrig.doctor.arrivals import streaming
from loadrig.doctor.listening import Listened, listened
from loadrig.outside import Seen
from loadrig.providers import Heard, load
from loadrig.words.record import Usage

MS = 1_000_000
STREAM = (("content-type", "text/event-stream"),)
START = b'data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":9,"output_tokens":1}}}\n\n'
BLOCK = b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
PIECE = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x "}}\n\n'
END = (
    b'data: {"type":"content_block_stop","index":0}\n\n'
    b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}\n\n'
    b'data: {"type":"message_stop"}\n\n'
)


def seen(
    pieces: Sequence[tuple[float, bytes]] = (), *, headers: tuple[tuple[str, str], ...] = STREAM, status: int = 200,
    began_s: float = 1000.0, port: int = 1,
) -> Seen:  # fmt: skip
    """Reads at so many milliseconds since the request began, which was at instant 0."""
    at = tuple((int(ms * MS), data) for ms, data in pieces)
    return Seen(
        status, headers, at, 0, int(pieces[0][0] * MS) if pieces else 0, at[-1][0] if at else 0, began_s, port, None
    )


def reply(at_ms: Sequence[float], *, each: int = 1, headers: tuple[tuple[str, str], ...] = STREAM) -> Listened:
    """One whose content comes in reads at these instants, `each` pieces a read."""
    pieces = [(ms, PIECE * each) for ms in at_ms]
    pieces[0] = (at_ms[0], START + BLOCK + PIECE * each)
    pieces[-1] = (at_ms[-1], pieces[-1][1] + END)
    found = listened(seen(pieces, headers=headers), load("anthropic"))
    assert found.is_good
    return found


SPREAD = [200.0 + 20 * number for number in range(20)]
CASES = [
    (SPREAD, 1, STREAM, 150.0, "ok", "not buffered: 20 pieces in 20 arrivals over 380 ms, after 200 ms"),
    ([900.0], 20, STREAM, 150.0, "broken", "buffered on the way: 20 pieces in 1 arrival over"),
    ([900.0, 905.0], 10, STREAM, 150.0, "broken", "where a reply of a few tokens took 150 ms"),
    (SPREAD, 1, (*STREAM, ("content-length", "9000")), 150.0, "broken", "so it was whole before it left"),
    ([12.0], 20, STREAM, 11.0, "cannot tell", "as a server would that answers at once"),
    ([900.0], 20, STREAM, 890.0, "cannot tell", "as a server would that answers at once"),
    ([900.0], 20, STREAM, None, "cannot tell", "buffered on the way, or made at once"),
    ([300.0, 600.0, 900.0], 8, STREAM, 150.0, "cannot tell", "in lumps of about 8"),
    ([300.0, 400.0], 2, STREAM, 150.0, "cannot tell", "4 pieces of content came: too few to tell"),
]


@pytest.mark.parametrize(("at_ms", "each", "headers", "short_ms", "state", "said"), CASES)
def test_a_stream_is_judged_by_when_its_pieces_came(
    at_ms: list[float], each: int, headers: tuple[tuple[str, str], ...], short_ms: float | None, state: str, said: str
) -> None:
    """Spread out; whole at once after a wait that grows with its length; at once from a fast server; in lumps."""
    short = None if short_ms is None else reply([short_ms])
    found = streaming(reply(at_ms, each=each, headers=headers), short)
    assert (found.state, said in found.said) == (state, True), found.said
    assert found.group == {"ok": "measurable", "broken": "not measurable"}.get(state, found.group)


def test_limits_give_the_trials_in_flight_that_they_allow() -> None:
    """1,200 requests a minute are 20 a second; at 2.5 s each that is 50 in flight."""
    headers = (("anthropic-ratelimit-requests-limit", "1200"), ("anthropic-ratelimit-input-tokens-limit", "450000"))
    found = manners.limits(seen(headers=headers), 2.5)
    assert (found.state, found.said) == ("ok", "1,200 requests, 450,000 input tokens a minute")
    assert "up to 50 trials of one turn in flight" in found.means
    assert manners.limits(seen(headers=(("x-ratelimit-limit-requests", "60"),)), 0.1).figures[-1].value == 1


@pytest.mark.parametrize("headers", [(), (("anthropic-ratelimit-requests-limit", "lots"),)])
def test_limits_that_are_not_told_are_not_there(headers: tuple[tuple[str, str], ...]) -> None:
    """No header, or one that is no number."""
    assert manners.limits(seen(headers=headers), 1.0).state == "not there"


@pytest.mark.parametrize(("date", "state", "said"), [
    ("Thu, 01 Jan 1970 00:16:40 GMT", "ok", "agrees"),
    ("Thu, 01 Jan 1970 00:17:40 GMT", "broken", "60 s ahead of ours"),
    ("Thu, 01 Jan 1970 00:15:40 GMT", "broken", "59 s behind ours"), ("soon", "not there", "a Date that is none"),
])  # fmt: skip
def test_a_clock_is_held_against_ours(date: str, state: str, said: str) -> None:
    """Ours stood at 1,000 s of Unix time, which is 00:16:40, and the headers came at once; a Date cuts off a second."""
    found = manners.clock(seen(headers=(("date", date),)))
    assert (found.state, said in found.said) == (state, True), found.said


def test_a_date_of_any_instant_of_a_long_wait_agrees() -> None:
    """A reply that took eight seconds may be dated when they began."""
    late = seen([(8000, PIECE)], headers=(("date", "Thu, 01 Jan 1970 00:16:40 GMT"),))
    assert manners.clock(late).state == "ok"


@pytest.mark.parametrize(("ports", "state"), [
    ([1, 1, 1], "ok"), ([1, 2, 3], "not there"), ([1, 1, 2], "cannot tell"), ([1], "cannot tell"),
])  # fmt: skip
def test_kept_connections_are_told_by_our_port(ports: list[int], state: str) -> None:
    """The same one, another each time, or now and then."""
    assert manners.keeping([seen(port=port) for port in ports]).state == state


def heard(**given: object) -> Listened:
    """A good reply with these of its parts."""
    base = reply(SPREAD)
    parts = {name: getattr(base.heard, name) for name in Heard.__struct_fields__} | given
    return Listened(base.seen, base.events, Heard(**parts), base.at_start, None)


@pytest.mark.parametrize(("first", "second", "state"), [
    (Usage(9, cache_read=0, cache_write_5m=900), Usage(9, cache_read=900, cache_write_5m=0), "ok"),
    (Usage(909, cache_read=0), Usage(909, cache_read=0), "not there"),
    (Usage(909), Usage(909), "cannot tell"),
    (Usage(9, cache_read=900), Usage(9, cache_read=900), "broken"),
])  # fmt: skip
def test_a_prefix_is_kept_when_the_second_request_reads_it_and_the_first_does_not(
    first: Usage, second: Usage, state: str
) -> None:
    """Read where nobody can have written is a counter that cannot be believed; none told is not none read."""
    assert abilities.caching(heard(usage=first), heard(usage=second), 900).state == state


@pytest.mark.parametrize(("status", "body", "told", "state"), [
    (200, b'{"input_tokens": 90}', 90, "ok"), (200, b'{"input_tokens": 99}', 90, "broken"),
    (404, b"no", 90, "not there"), (200, b"<html>", 90, "not there"), (200, b'{"input_tokens": true}', 90, "not there"),
    (200, b'{"input_tokens": 90}', None, "cannot tell"),
])  # fmt: skip
def test_a_count_must_be_what_the_reply_told(status: int, body: bytes, told: int | None, state: str) -> None:
    """One token off is off: bills follow the reply."""
    assert abilities.counting(seen([(1, body)], status=status), told).state == state


@pytest.mark.parametrize(("stop", "output", "state"), [
    ("max_tokens", 5, "ok"), ("max_tokens", None, "ok"), ("end", 5, "broken"), ("max_tokens", 9, "broken"),
])  # fmt: skip
def test_a_short_reply_ends_because_it_was_told_to(stop: str, output: int | None, state: str) -> None:
    """Five tokens were allowed."""
    assert abilities.limited(heard(stop=stop, usage=Usage(9, output=output))).state == state


@pytest.mark.parametrize(("status", "state"), [(429, "cannot tell"), (529, "cannot tell"), (400, "not there")])
def test_what_was_turned_away_for_now_is_not_said_to_be_missing(status: int, state: str) -> None:
    """Too many requests tell nothing of tools, forms or counts; a request that is refused does."""
    turned_away = listened(seen([(5.0, b'{"error": "no"}')], status=status), load("anthropic"))
    assert (abilities.tools(turned_away, None).state, abilities.form(turned_away).state) == (state, state)
    assert abilities.counting(turned_away.seen, 9).state == state
