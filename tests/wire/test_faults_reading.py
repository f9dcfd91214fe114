"""Over a socket: line ends, cut characters, odd framing, missing tails and news in the stream change no answer."""

from __future__ import annotations

from types import ModuleType

import pytest
from asking import LOOPS, ask
from scripted_server import OK, Script
from stream_events import blk, delta, end, event, piece, reply, start, stop, txt

from loadrig.wire.turn import Asked

both_loops = pytest.mark.parametrize("loop", LOOPS)
UNTIL_CLOSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


def answer(*pieces: bytes, every_ms: float = 0, **script: object) -> Asked:
    steps = [(number * every_ms, piece_) for number, piece_ in enumerate(pieces)]
    return ask(Script(steps, **script))[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_c1_line_ends_are_all_the_same(say: ModuleType, line_end: bytes) -> None:
    """LF, CRLF and CR give the same answer and no phantom event."""
    asked = answer(say.reply("Hello").replace(b"\n", line_end))

    assert (asked.turn.text, asked.turn.outcome, asked.turn.notes) == ("Hello", "answered", ())


@both_loops
def test_c1_crlf_cut_by_a_pause(say: ModuleType, loop: str) -> None:
    """A pause between CR and LF is no blank line."""
    stream = say.reply("Hello").replace(b"\n", b"\r\n")
    cut = stream.index(b"Hello") - 30
    cut = stream.index(b"\r\n", cut) + 1
    asked, _ = ask(Script([(0, stream[:cut]), (50, stream[cut:])]), loop=loop)

    assert (asked.turn.text, asked.turn.outcome) == ("Hello", "answered")


@both_loops
def test_c2_a_character_cut_in_two_is_whole_again(say: ModuleType, loop: str) -> None:
    """Written byte by byte, the text is the same, without a replacement character."""
    stream = say.reply("naïve \u2013 北")
    asked, _ = ask(Script([(0, stream[at : at + 1]) for at in range(len(stream))]), loop=loop)

    assert asked.turn.text == "naïve \u2013 北"


def test_c3_unicode_line_separators_are_text(say: ModuleType) -> None:
    """Unescaped U+2028 and U+0085 are two of five characters."""
    assert answer(say.reply("a\u2028b\u0085c")).turn.text == "a\u2028b\u0085c"


def test_c4_two_data_lines_are_one_event() -> None:
    """Joined by a newline and read as one."""
    two = b'data: {"type":"content_block_delta","index":0,\ndata: "delta":{"type":"text_delta","text":"Hi"}}\n\n'

    assert answer(start() + blk("text") + two + delta("end_turn") + stop()).turn.text == "Hi"


def test_c5_no_blank_after_the_colon(say: ModuleType) -> None:
    """Accepted; only one leading space is dropped where there is one."""
    assert answer(say.reply("Hello").replace(b": {", b":{")).turn.text == "Hello"


def test_c6_a_byte_order_mark_hides_no_event(say: ModuleType) -> None:
    """The opening event is read, its input tokens are not lost."""
    turn = answer(b"\xef\xbb\xbf" + say.reply()).turn

    assert turn.usage is not None
    assert turn.usage.input == 9


@both_loops
def test_c7_a_very_long_line_is_whole(say: ModuleType, loop: str) -> None:
    """One event of 300 kB has all its text."""
    asked, _ = ask(Script([(0, say.reply("x" * 300_000))]), loop=loop)

    assert asked.turn.text == "x" * 300_000


def test_c8a_a_missing_end_after_the_stop_reason_is_complete_with_a_note(say: ModuleType) -> None:
    """The reply was whole; that its last frame was cut is said."""
    turn = answer(
        say.start() + say.blk("text") + say.txt("Hi") + say.end() + say.delta("end_turn") + say.stop()[:8], end="close"
    ).turn

    assert (turn.outcome, turn.text) == ("answered", "Hi")
    assert turn.notes == ("the stream broke off after its stop reason",)


@pytest.mark.parametrize("how", ["close", "reset"])
def test_c8b_a_frame_cut_in_the_middle_is_not_used(say: ModuleType, how: str) -> None:
    """Half an event is none; the turn is incomplete."""
    turn = answer(say.start() + say.blk("text") + say.txt("Hi"), say.txt("lost")[:-4], every_ms=10, end=how).turn

    assert (turn.outcome, turn.reason, turn.text) == ("failed", "incomplete", "Hi")


def test_c9_news_breaks_nothing() -> None:
    """Unknown event, delta, block and stop reason: text and usage are right, the reason is kept as given."""
    news = event({"type": "brand_new"}) + piece({"type": "odd_delta"}) + blk("novelty", 1) + end(1)
    turn = answer(start() + blk("text") + txt("Hi") + news + end() + delta("tired", {"output_tokens": 7}) + stop()).turn

    assert (turn.text, turn.outcome, turn.reason, turn.stop_reason) == ("Hi", "unanswered", "other", "tired")
    assert turn.usage is not None
    assert turn.usage.output == 7


def test_c10_the_type_in_the_json_decides() -> None:
    """Frames without an event name, and with a wrong one, are read all the same."""
    bare = b"".join(b"data: " + frame.partition(b"data: ")[2] for frame in reply("Hello").split(b"event: ")[1:])

    assert answer(bare).turn.text == "Hello"
    assert answer(reply("Hello").replace(b"event: content_block_delta", b"event: ping")).turn.text == "Hello"


@both_loops
def test_a_reply_without_a_length_ends_with_its_connection(say: ModuleType, loop: str) -> None:
    """HTTP/1.0 manners: complete, because the stream itself said so."""
    asked, _ = ask(Script([(0, say.reply())], head=UNTIL_CLOSE, end="close", chunked=False), loop=loop)

    assert (asked.turn.outcome, asked.turn.text) == ("answered", "Hello")


def test_an_informational_response_is_passed_over(say: ModuleType) -> None:
    """100 Continue and 103 Early Hints precede the reply and are not it."""
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"

    attempt = answer(say.reply(), head=early + OK).turn.attempts[0]
    assert (attempt.http_status, attempt.request_id, attempt.failure) == (200, "req_1", None)
