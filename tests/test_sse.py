"""Event streams out of bytes: what ends a line, what makes an event, and that cuts never matter."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadrig.sse import Decoder


def fed(*reads: bytes) -> list[bytes]:
    decoder = Decoder()
    return [payload for read in reads for payload in decoder.feed(read)]


@pytest.mark.parametrize(
    ("stream", "payloads"),
    [
        (b'event: ping\ndata: {"a":1}\n\n', [b'{"a":1}']),
        (b"data: x\n\n", [b"x"]),
        (b"data:x\n\ndata:  x\n\n", [b"x", b" x"]),
        (b'data: {"type":"ping",\ndata: "x":1}\n\n', [b'{"type":"ping",\n"x":1}']),
        (b"event: a\ndata: 1\ndata: 2\n\n", [b"1\n2"]),
        (b"event: a\nid: 7\nretry: 10\ndata: x\nfoo: bar\n\n", [b"x"]),
        (b"data: x\nevent: a\n\n", [b"x"]),
        (b": hold\n\n:\n\nevent: ping\n\n", []),
        (b"\n\n\n\ndata: x\n\n\n\ndata: y\n\n", [b"x", b"y"]),
        (b"data: x\n\ndata: y\n", [b"x"]),
        (b"\xef\xbb\xbfdata: x\n\n", [b"x"]),
        (b"data: \xef\xbb\xbfx\n\n", [b"\xef\xbb\xbfx"]),
        (b"data\n\ndata:\n\n", []),
        (b"event: data: x\ndatas: y\n\n", []),
    ],
)
def test_a_stream_has_these_payloads(stream: bytes, payloads: list[bytes]) -> None:
    """Fields, comments, joined data lines and blank lines are read as the standard says."""
    assert payloads == fed(stream)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_gives_the_same_events(end: bytes) -> None:
    """LF, CRLF and CR are the same to a reader."""
    stream = b"event: a\ndata: 1\n\n: c\ndata: 2\ndata: 3\n\n".replace(b"\n", end)

    assert fed(stream) == [b"1", b"2\n3"]


def test_crlf_cut_in_two_makes_no_phantom_line() -> None:
    """An LF that comes in the read after its CR does not end a second line."""
    assert fed(b"data: 1\r", b"\ndata: 2\r", b"\n\r", b"\n") == [b"1\n2"]


def test_an_event_is_not_held_back_for_an_lf_that_may_not_come() -> None:
    """The CR of the blank line completes the event at once, so its stamp is that read's."""
    decoder = Decoder()

    assert decoder.feed(b"data: 1\r\n\r") == [b"1"]
    assert decoder.feed(b"\n") == []


def test_unicode_line_separators_are_text() -> None:
    """U+2028, U+2029 and U+0085 end no line."""
    text = "a\u2028b\u2029c\u0085d".encode()

    assert [text] == fed(b"data: " + text + b"\n\n")


def test_a_million_bytes_in_small_reads_are_one_event() -> None:
    """No line is too long, and its pieces are not copied again and again (this would take minutes)."""
    line = b"data: " + b"x" * 1_000_000 + b"\n\n"

    assert fed(*(line[at : at + 16] for at in range(0, len(line), 16))) == [b"x" * 1_000_000]


lines = st.sampled_from(
    [b"data: x", b"data:y", b"data: {}", b"event: message_delta", b": note", b"", b"data: \xc3\xa9"]
)
streams = st.builds(
    lambda bom, body: bom + b"".join(body),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.tuples(lines, st.sampled_from([b"\n", b"\r\n", b"\r"])).map(b"".join), max_size=20),
)


@given(stream=streams, cuts=st.lists(st.integers(0, 200), max_size=12))
@example(stream=b"\xef\xbb\xbfdata: 1\r\n\r\ndata: 2\r\r", cuts=list(range(30)))
def test_cuts_never_matter(stream: bytes, cuts: list[int]) -> None:
    """Any chunking of a stream, byte by byte included, gives the same events as one read."""
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    reads = [stream[start:end] for start, end in pairwise(edges)]

    assert fed(stream) == fed(*reads) == fed(*(stream[at : at + 1] for at in range(len(stream))))


@given(stream=streams)
def test_the_decoder_agrees_with_a_line_by_line_reading(stream: bytes) -> None:
    """The short way of the decoder and the standard's own steps, written out naively, give the same payloads."""
    expected, data = [], []
    ended = re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)", stream.removeprefix(b"\xef\xbb\xbf"))
    for line in (line.rstrip(b"\r\n") for line in ended):
        if not line:
            expected += [payload] if (payload := b"\n".join(data)) else []
            data = []
        elif line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))

    assert expected == fed(stream)


@given(st.binary(max_size=300))
def test_no_bytes_raise(noise: bytes) -> None:
    """Whatever arrives, the decoder stands."""
    fed(noise, noise)


@pytest.mark.parametrize(
    "odd",
    [b"junk event: b\ndata: 2\n\n", b"event: b\ndata: 2\ndata: 3\n\n", b"event: b\nid: 9\ndata: 2\n\n", b"event: b\n\n",
     b"event: b\ndata: \n\n", b"event: b\ndata:2\n\n", b"data: 2\n\n", b": ping\n\n", b"\n", b"data: 2\nevent: b\n\n"],
)  # fmt: skip
def test_an_unusual_event_between_usual_ones_is_read_by_the_rules(odd: bytes) -> None:
    """Between two events of the usual form the odd one gives what it gives when it comes alone, whatever it is."""
    usual = b"event: a\ndata: 1\n\n"
    assert Decoder().feed(usual + odd + usual) == [b"1", *Decoder().feed(odd), b"1"]
