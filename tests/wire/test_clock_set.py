"""A wall clock that is set while replies come: no instant moves, and for a while the reads' own stamps stand in for the
kernel's, which are of that clock."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from asking import PROMPT, asker, new_engine, run, until
from scripted_server import OK
from stamping import connected, stamping  # noqa: F401 - a fixture that all tests use
from stream_events import blk, delta, end, start, stop, txt
from threaded_server import read_request, sent, threaded

from loadrig.wire.kernel import SO_TIMESTAMPNS, Stamper, open_stamper
from loadrig.words.clock import SystemClock
from loadrig.words.record import Attempt

MS, SECOND = 1_000_000, 1_000_000_000
HOUR = 3_600 * SECOND
REPLY = OK.replace(b"transfer-encoding: chunked", b"connection: close") + start() + blk("text") + txt("Yes")
REST = end() + delta("end_turn") + stop()
true_wall_ns = time.time_ns
hold_the_loop = time.sleep
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the platform gives no receive stamps")


class Clocks(SystemClock):
    """Both clocks of a machine, of which `set` moves the wall alone and `wait` both. What the kernel had stamped before
    keeps its time."""

    def __init__(self) -> None:
        self._waited_ns = 0
        self._since = [(0, 0)]  # from this true wall time on, the wall is ahead of it by so much

    def set(self, by_ns: int) -> None:
        self._since.append((true_wall_ns(), self._since[-1][1] + by_ns))

    def wait(self, for_ns: int) -> None:
        self._waited_ns += for_ns
        self.set(for_ns)

    def now_ns(self) -> int:
        return super().now_ns() + self._waited_ns

    def wall_ns(self) -> int:
        return self.shown(true_wall_ns())

    def shown(self, true_ns: int) -> int:
        """What the wall clock showed then."""
        return true_ns + next(ahead_ns for since_ns, ahead_ns in reversed(self._since) if since_ns <= true_ns)


class Stamped(socket.socket):
    """A socket whose stamps are of those clocks."""

    clocks: Clocks

    def recvmsg_into(self, *given: Any) -> Any:
        size, control, flags, sender = super().recvmsg_into(*given)
        return size, [(level, kind, self._shown(payload)) for level, kind, payload in control], flags, sender

    def _shown(self, stamp: bytes) -> bytes:
        seconds, rest_ns = struct.unpack("@ll", stamp)
        return struct.pack("@ll", *divmod(self.clocks.shown(seconds * SECOND + rest_ns), SECOND))


Reading = tuple[Clocks, Stamper, Stamped, socket.socket]


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reading]:
    """Clocks, a stamper that goes by them, and the two ends of a connection."""
    clocks = Clocks()
    monkeypatch.setattr(time, "time_ns", clocks.wall_ns)
    stamper = open_stamper(clocks)
    assert stamper is not None
    with contextlib.closing(stamper), connected(stamped=True) as (near, far), Stamped(fileno=near.detach()) as ours:
        ours.clocks = clocks
        yield clocks, stamper, ours, far


def lag_of_next(reading: Reading) -> int | None:
    """Of bytes that are sent now."""
    _, stamper, near, far = reading
    far.send(b"x")
    return stamper.read(near)[2]


@pytest.mark.parametrize("by_ns", [-3 * HOUR, -SECOND, -20 * MS, MS, 20 * MS, 3 * SECOND, 3 * HOUR])
def test_what_came_before_the_clock_was_set_has_no_stamp(reading: Reading, by_ns: int) -> None:
    """Read 30 ms after it came, in which the clock was set: neither 3 s of lag nor 10 ms nor 31, but none."""
    clocks, stamper, near, far = reading
    far.send(b"x")
    hold_the_loop(0.03)
    clocks.set(by_ns)

    assert stamper.read(near)[2] is None


def test_stamps_are_believed_again_when_none_can_be_older_than_the_setting(reading: Reading) -> None:
    """Five seconds after the read that saw it: what was in some queue then has come out, or is too old."""
    clocks = reading[0]
    assert lag_of_next(reading) is not None
    clocks.set(3 * SECOND)
    found = []
    for _ in range(3):
        found.append(lag_of_next(reading))
        clocks.wait(2_490 * MS)
    clocks.wait(20 * MS)

    assert found == [None, None, None]
    assert 0 <= (lag_of_next(reading) or -1) < SECOND


def test_a_clock_that_only_goes_on_is_believed(reading: Reading) -> None:
    """A night without a byte is no setting."""
    reading[0].wait(9 * HOUR)

    assert 0 <= (lag_of_next(reading) or -1) < SECOND


@pytest.mark.parametrize("ahead_ns", [-3 * HOUR, -20 * MS, 3 * SECOND, 3 * HOUR])
def test_no_latency_moves_with_the_wall_clock(monkeypatch: pytest.MonkeyPatch, ahead_ns: int) -> None:
    """It is set while the first token waits to be read: that came after it was asked for, and within the second."""
    asked, free, times, ahead = threading.Event(), threading.Event(), [], [0]
    monkeypatch.setattr(time, "time_ns", lambda: true_wall_ns() + ahead[0])

    def play(sock: socket.socket) -> None:
        read_request(sock)
        asked.set()
        hold_the_loop(0.01)
        times.append(sent(sock, REPLY))
        ahead[0] = ahead_ns
        free.wait(5)
        sock.sendall(REST)

    async def go(port: int) -> Attempt:
        async with new_engine() as engine:
            task = asyncio.ensure_future(asker(engine, f"http://127.0.0.1:{port}").ask(PROMPT, trace="t.1"))
            await until(asked.is_set)
            hold_the_loop(0.06)
            free.set()
            return (await task).turn.attempts[0]

    with threaded(play) as port:
        attempt = run(asyncio.wait_for(go(port), 10))

    assert (attempt.failure, attempt.stamp) == (None, "read")
    assert attempt.reads_unstamped > 0
    assert times[0][0] <= (attempt.first_token_ns or 0) <= attempt.end_ns < attempt.begin_ns + SECOND


def test_the_kernels_stamp_is_what_is_moved_here(reading: Reading) -> None:
    """The bytes of the message are those of a timespec: an hour forwards is an hour in them."""
    clocks, _, near, far = reading
    clocks.set(HOUR)
    far.send(b"x")
    control = near.recvmsg_into([bytearray(1)], 64)[1]
    ((level, kind, stamp),) = control

    assert (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS)
    assert abs(struct.unpack("@ll", stamp)[0] - true_wall_ns() // SECOND - 3_600) <= 1
