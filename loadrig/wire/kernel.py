"""The kernel's receive stamps (Linux, SO_TIMESTAMPNS): when bytes arrived, however late the client came to read them.

Rules: a stamp is wall time, so both clocks are looked at at every read, and it becomes an instant of the engine's clock
there and then: `now - (wall - stamp)`. The wall is looked at first: what passes between the two looks (0.1 us, at most
20) makes an instant late, never early, so nothing seems to arrive before it was sent. Accepted are lags from 0 to 5 s,
else the stamp counts as absent. A wall clock that is set would move what was in the queue while it was. But the wall is
ahead of Linux's monotonic clock by an amount that setting it alone changes (both are slewed alike), so each look tells:
from the read that sees another amount on, no stamp is believed for as long as a stamp may be old. The kernel stamps
packets only while some socket asks for it, and takes milliseconds to begin: the guard, an idle socket that asks from
the engine's start to its end, keeps that on. A stamp belongs to the last segment in the queue, not to the first.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import time
from collections.abc import Iterable

from loadrig.words.clock import Clock

SO_TIMESTAMPNS = 35  # both the option and the type of the control message; Python has no name for it
LONGEST_LAG_NS = 5_000_000_000
_TIMESPEC = struct.Struct("@ll")
_CONTROL_BYTES = 64
_BUFFER_BYTES = 262_144
_WIDE_NS = 20_000  # between the looks at the two clocks
_TCP_INFO_BYTES, _OUT_OF_ORDER_AT = 228, 224  # struct tcp_info, tcpi_rcv_ooopack (Linux 5.5)

Read = tuple[memoryview, int, int | None]


class Stamper:
    """Reads sockets together with their stamps, all of one engine into one buffer. `close` it: it holds the guard."""

    def __init__(self, clock: Clock, guard: socket.socket) -> None:
        self._now_ns = clock.now_ns
        self._guard = guard
        self._buffers = [bytearray(_BUFFER_BYTES)]
        self._view = memoryview(self._buffers[0])
        self._least_ns, self._most_ns = self._ahead()
        self._believed_from_ns = 0

    def read(self, sock: socket.socket) -> Read:
        """One read: the bytes (valid until the next; none at the end), the instant of the read, and its lag: how much
        earlier the kernel had them, None without a stamp. Raises OSError like the socket, BlockingIOError too."""
        size, control, _, _ = sock.recvmsg_into(self._buffers, _CONTROL_BYTES)
        now_ns = self._now_ns
        read_ns = now_ns()
        wall_ns, after_ns = time.time_ns(), now_ns()
        if after_ns - read_ns > _WIDE_NS:  # interrupted
            wall_ns, after_ns = time.time_ns(), now_ns()
        if wall_ns - after_ns > self._most_ns or wall_ns - read_ns < self._least_ns:  # it was set
            self._least_ns, self._most_ns = self._ahead()
            self._believed_from_ns = read_ns + LONGEST_LAG_NS
        lag = lag_ns(control, wall_ns) if read_ns >= self._believed_from_ns else None
        return self._view[:size], read_ns, None if lag is None else max(lag - (after_ns - read_ns), 0)

    def _ahead(self) -> tuple[int, int]:
        """Between what the wall clock is ahead of the engine's, widened by what an instant may be late anyway."""
        looks = []
        for _ in range(3):
            before_ns, wall_ns, after_ns = self._now_ns(), time.time_ns(), self._now_ns()
            looks.append((after_ns - before_ns, wall_ns - after_ns, wall_ns - before_ns))
        _, least_ns, most_ns = min(looks)
        return least_ns - _WIDE_NS, most_ns + _WIDE_NS

    def close(self) -> None:
        self._guard.close()


def open_stamper(clock: Clock) -> Stamper | None:
    """None where the platform gives no receive stamps."""
    if sys.platform != "linux":
        return None
    with contextlib.ExitStack() as undo:
        guard = undo.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        try:
            ask_for_stamps(guard)
        except OSError:
            return None
        undo.pop_all()
    return Stamper(clock, guard)


def ask_for_stamps(sock: socket.socket) -> None:
    """To be called before it connects: what is queued earlier has no stamp."""
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def lag_ns(control: Iterable[tuple[int, int, bytes]], wall_ns: int) -> int | None:
    """How long before `wall_ns` the kernel had the bytes, by the control messages of a read; None without a stamp that
    can be true."""
    for level, kind, payload in control:
        if kind == SO_TIMESTAMPNS and level == socket.SOL_SOCKET:
            seconds, nanoseconds = _TIMESPEC.unpack(payload)
            lag = wall_ns - (seconds * 1_000_000_000 + nanoseconds)
            return lag if 0 <= lag <= LONGEST_LAG_NS else None
    return None


def out_of_order(sock: socket.socket) -> int:
    """How many segments this connection received out of order so far; 0 where the kernel does not tell."""
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    except OSError:
        return 0
    return int.from_bytes(info[_OUT_OF_ORDER_AT:_TCP_INFO_BYTES], sys.byteorder)
