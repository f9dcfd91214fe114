"""Kernel stamps: they leave the client's own lag out and measure it; where they could be wrong they are not used."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
import threading
import time
from pathlib import Path

import pytest
from asking import LOOPS, PROMPT, asker, head, new_engine, run, until
from scripted_server import OK
from stamping import connected, stamping  # noqa: F401 - a fixture that all tests use
from stream_events import blk, delta, end, start, stop, txt
from threaded_server import read_request, self_signed, sent, server_context, threaded

from loadrig.providers import load
from loadrig.wire.exchange import Exchange, Request
from loadrig.wire.kernel import SO_TIMESTAMPNS, lag_ns, open_stamper, out_of_order
from loadrig.words.clock import SystemClock
from loadrig.words.record import Attempt

MS = 1_000_000
BODY = OK.replace(b"transfer-encoding: chunked", b"connection: close")
REST = end() + delta("end_turn") + stop()
on_both_loops = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the platform gives no receive stamps")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("kernel"))


Sent = list[tuple[int, int]]
hold_the_loop = time.sleep


def held(*pieces: bytes, loop: str, certificate: tuple[Path, Path] | None = None) -> tuple[Attempt, Sent]:
    """The client's loop is held for 60 ms from the moment the server has the request; the first piece is sent 10 ms
    into that, the others 10 ms apart, then the rest of the reply when the loop is free again. The attempt, and when
    each piece was sent."""
    asked, free, times = threading.Event(), threading.Event(), []

    def play(sock: socket.socket) -> None:
        read_request(sock)
        asked.set()
        for piece in pieces:
            time.sleep(0.01)
            times.append(sent(sock, piece))
        free.wait(5)
        time.sleep(0.01)
        sock.sendall(REST)

    async def go(port: int) -> Attempt:
        async with new_engine(certificate and certificate[0]) as engine:
            url = f"http{'s' if certificate else ''}://127.0.0.1:{port}"
            task = asyncio.ensure_future(asker(engine, url).ask(PROMPT, trace="t.1"))
            await until(asked.is_set)
            hold_the_loop(0.06)
            free.set()
            return (await task).turn.attempts[0]

    with threaded(play, certificate and server_context(certificate)) as port:
        return run(asyncio.wait_for(go(port), 10), loop), times


@on_both_loops
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_stamp_leaves_out_how_late_the_client_was(loop: str, scheme: str, certificate: tuple[Path, Path]) -> None:
    """The loop was held for 50 ms after the token had come: its stamp is that of its arrival, and the lag is told."""
    piece = BODY + start() + blk("text") + txt("Yes")
    attempt, [(before, after)] = held(piece, loop=loop, certificate=certificate if scheme == "https" else None)

    assert (attempt.failure, attempt.stamp, attempt.stamp_late, attempt.reads_unstamped) == (None, "kernel", False, 0)
    assert before <= (attempt.first_token_ns or 0) <= after + 2 * MS
    assert 35 * MS < (attempt.read_lag_ns or 0) <= (attempt.read_lag_max_ns or 0) < 100 * MS
    assert attempt.end_ns > after + 20 * MS


@pytest.mark.parametrize("loop", ["asyncio-read", "uvloop-read"])
def test_a_reads_own_stamp_does_not(loop: str) -> None:
    """The other source says when the client read, and knows no lag."""
    attempt, [(before, _)] = held(BODY + start() + blk("text") + txt("Yes"), loop=loop)

    assert (attempt.stamp, attempt.read_lag_ns, attempt.read_lag_max_ns) == ("read", None, None)
    assert (attempt.first_token_ns or 0) > before + 35 * MS


@on_both_loops
def test_two_tokens_in_one_read_make_the_first_stamp_late(loop: str) -> None:
    """A read has the stamp of its last segment: the first token's is an upper bound then, and marked as one."""
    attempt, (first, second) = held(BODY + start() + blk("text") + txt("Yes"), txt(", it is"), loop=loop)

    assert (attempt.stamp, attempt.stamp_late) == ("kernel", True)
    assert (attempt.first_token_ns or 0) >= second[0] > first[1]


@pytest.mark.parametrize("loop", LOOPS)
def test_two_tokens_in_two_reads_do_not(loop: str) -> None:
    """Read apart, each has its own stamp, and the lag of the second does not touch the first."""
    asked, read, times = threading.Event(), threading.Event(), []

    def play(sock: socket.socket) -> None:
        read_request(sock)
        times.append(sent(sock, BODY + start() + blk("text") + txt("Yes")))
        asked.set()
        read.wait(5)
        times.append(sent(sock, txt(", it is") + REST))

    async def go(port: int) -> Attempt:
        async with new_engine() as engine:
            task = asyncio.ensure_future(asker(engine, f"http://127.0.0.1:{port}").ask(PROMPT, trace="t.1"))
            await until(asked.is_set)
            await asyncio.sleep(0.01)
            read.set()
            hold_the_loop(0.05)
            return (await task).turn.attempts[0]

    with threaded(play) as port:
        attempt = run(asyncio.wait_for(go(port), 10), loop)

    assert not attempt.stamp_late
    assert times[0][0] <= (attempt.first_token_ns or 0) < times[1][0]
    if attempt.stamp == "kernel":
        assert (attempt.read_lag_ns or 0) < 20 * MS < (attempt.read_lag_max_ns or 0)
        assert times[1][0] <= (attempt.last_token_ns or 0) <= times[1][1] + 2 * MS
    else:
        assert loop.endswith("-read")


def control(stamp_ns: int) -> list[tuple[int, int, bytes]]:
    """What comes with a read that is stamped so."""
    return [(socket.SOL_SOCKET, SO_TIMESTAMPNS, struct.pack("@ll", *divmod(stamp_ns, 1_000_000_000)))]


def test_a_stamp_is_taken_only_if_it_can_be_true() -> None:
    """From the instant of the read to five seconds before it; a clock that was set is no lag."""
    wall_ns = 1_700_000_000_000_000_000

    assert lag_ns(control(wall_ns - 1_500), wall_ns) == 1_500
    assert lag_ns(control(wall_ns - 5_000_000_000), wall_ns) == 5_000_000_000
    assert lag_ns(control(wall_ns - 5_000_000_001), wall_ns) is None
    assert lag_ns(control(wall_ns + 1), wall_ns) is None
    assert lag_ns([], wall_ns) is None


def test_a_socket_that_did_not_ask_has_no_stamp() -> None:
    """The read then stands for itself."""
    stamper = open_stamper(SystemClock())
    assert stamper is not None
    with contextlib.closing(stamper), connected(stamped=False) as (near, far):
        far.send(b"abc")
        data, _, lag = stamper.read(near)
        assert (bytes(data), lag) == (b"abc", None)


def test_an_orderly_connection_has_nothing_out_of_order() -> None:
    """The count that would make a stamp doubtful is 0 on loopback, and 0 for a socket that is none of TCP."""
    with connected(stamped=True) as (near, far), socket.socket(type=socket.SOCK_DGRAM) as other:
        far.send(b"abc")
        near.recv(3)
        assert (out_of_order(near), out_of_order(other)) == (0, 0)


def exchange(*reads: tuple[bytes, int, int | None], reordered: int = 0) -> Exchange:
    """An exchange that got these reads (bytes, stamp, lag) and is settled."""
    got = Exchange(Request(head("http://t"), "t.1.1", ()), load("anthropic").reader())
    for data, at_ns, lag in reads:
        got.received(data, at_ns, lag)
    got.settle_stamps(reordered=reordered)
    return got


OPENING, TOKEN = BODY + start(), blk("text") + txt("Yes")


def test_all_stamps_of_an_attempt_have_one_source() -> None:
    """Three reads with lags of 1, 2 and 3: kernel stamps 100, 200, 300 when all have one."""
    got = exchange((OPENING, 100, 1), (TOKEN, 200, 2), (REST, 300, 3))

    timeline = got.marks.timeline()
    assert (got.stamp, got.headers_ns, timeline.first_token_ns, got.end_ns) == ("kernel", 100, 200, 300)
    assert (timeline.first_token_lag_ns, timeline.lag_max_ns) == (2, 3)


def test_one_absent_stamp_makes_all_the_reads_own() -> None:
    """The first read had none: counted, and 200 + 2 and 300 + 3 are when the others were read."""
    got = exchange((OPENING, 100, None), (TOKEN, 200, 2), (REST, 300, 3))

    assert (got.stamp, got.reads_unstamped) == ("read", 1)
    assert (got.headers_ns, got.marks.timeline().first_token_ns, got.end_ns) == (100, 202, 303)


def test_segments_out_of_order_make_all_the_reads_own() -> None:
    """The kernel's stamp may be that of bytes that could not be read yet: it is not believed."""
    got = exchange((OPENING, 100, 1), (TOKEN, 200, 2), (REST, 300, 3), reordered=1)

    assert (got.stamp, got.reordered) == ("read", 1)
    assert (got.headers_ns, got.marks.timeline().first_token_ns, got.end_ns) == (101, 202, 303)
