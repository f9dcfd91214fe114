"""The null target's event loop: epoll, two queues, and a log of what was sent when.

Rules: token 1 is due `first_ns` after the request's last byte arrived, token i `step_ns` after token i - 1, whatever
became of that one; so both queues are in order of their due times and no heap is needed. With a step of 0 the whole
reply is one write. A stamp is taken before the write it belongs to. Instants are `time.perf_counter_ns`; the request's
arrival is the kernel's receive stamp where the platform gives one, so that the target's own queue is no part of it;
for some seconds after somebody set the wall clock, which stamps are of, it is the read. One request at a time a
connection, kept open. Linux only (epoll).
"""

from __future__ import annotations

import json
import re
import select
import socket
import ssl
import struct
import sys
import time
from collections import deque
from dataclasses import dataclass

from loadrig.simulator.null.transcript import pieces

_STAMP = 35  # SO_TIMESTAMPNS, which the socket module does not name
_STAMP_BYTES = struct.Struct("qq")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
_ATTEMPT = re.compile(rb"\r\nx-loadrig-attempt:[ \t]*([^\r]*)", re.IGNORECASE)
_READ = 262_144
_LONGEST_NS = 5_000_000_000  # that a request may have lain in the queue
_SET_NS = 1_000_000  # the wall clock was, when it is ahead of ours by so much more or less than before
_NOT_YET = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_now = time.perf_counter_ns


@dataclass(frozen=True, slots=True)
class Schedule:
    """`tokens` text deltas a reply, the first `first_ns` after the request, then one a `step_ns` (0: all at once).
    `model` is the name that the reply gives to its model."""

    tokens: int = 100
    first_ns: int = 0
    step_ns: int = 0
    model: str = "null"


class _Connection:
    """A client's connection and the reply in progress on it; `place` is the number of pieces sent."""

    __slots__ = (
        "attempt",
        "due",
        "first",
        "inbox",
        "last",
        "late",
        "pending",
        "place",
        "received",
        "shaking",
        "socket",
    )

    def __init__(self, of: socket.socket, *, shaking: bool) -> None:
        self.socket = of
        self.shaking = shaking
        self.inbox = bytearray()
        self.pending = b""
        self.attempt = ""
        self.received = self.due = self.first = self.last = self.late = self.place = 0


class Target:
    """Serves until `stop`, or until standard input closes when `watched` is true."""

    def __init__(self, schedule: Schedule, *, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self._schedule = schedule
        self._tls = tls
        parts = pieces(schedule.tokens, schedule.model)
        self._pieces = parts if schedule.step_ns else (b"".join(parts),)
        self._listener = socket.create_server(("127.0.0.1", port), backlog=4096)
        self._listener.setblocking(False)
        if tls is None and sys.platform == "linux":
            self._listener.setsockopt(socket.SOL_SOCKET, _STAMP, 1)  # connections inherit it
        self._epoll = select.epoll()
        self._epoll.register(self._listener, select.EPOLLIN)
        self._open: dict[int, _Connection] = {}
        self._firsts: deque[_Connection] = deque()
        self._steps: deque[_Connection] = deque()
        self._log: list[tuple[str, int, int, int, int, int]] = []
        self._is_stopped = False
        self._ahead_ns, self._believed_from_ns = time.time_ns() - _now(), 0

    @property
    def url(self) -> str:
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}"

    def stop(self) -> None:
        self._is_stopped = True

    def run(self, *, watched: bool = False) -> None:
        """The event loop. Waits in `select` on the epoll descriptor: epoll's own timeout has whole milliseconds."""
        if watched:
            self._epoll.register(sys.stdin.fileno(), select.EPOLLIN)
        listener, epoll = self._listener.fileno(), self._epoll
        while not self._is_stopped:
            wait_ns = self._send_due()
            if wait_ns is None or wait_ns > 0:
                select.select([epoll], [], [], None if wait_ns is None else wait_ns / 1e9)
            for number, happened in epoll.poll(0):
                connection = self._open.get(number)
                if connection is not None:
                    self._serve(connection, happened)
                elif number == listener:
                    self._accept()
                else:
                    self._is_stopped = True

    def _send_due(self) -> int | None:
        """Sends what is due, at most one piece a connection and turn; nanoseconds to the next, None without one."""
        waits = [wait_ns for queue in (self._firsts, self._steps) if (wait_ns := self._send_due_of(queue)) is not None]
        return min(waits, default=None)

    def _send_due_of(self, queue: deque[_Connection]) -> int | None:
        for _ in range(len(queue)):
            connection = queue[0]
            now_ns = _now()
            if connection.due > now_ns:
                return connection.due - now_ns
            queue.popleft()
            place = connection.place
            if place < 0:  # gone meanwhile
                continue
            if place == 0:
                connection.first = now_ns
            connection.late = max(connection.late, now_ns - connection.due)
            connection.last = now_ns
            connection.place = place = place + 1
            self._send(connection, self._pieces[place - 1])
            if place < len(self._pieces):
                connection.due += self._schedule.step_ns
                self._steps.append(connection)
            elif not connection.pending:
                self._end(connection)
        return 0 if queue else None

    def _send(self, connection: _Connection, data: bytes) -> None:
        if connection.pending:
            connection.pending += data
            return
        try:
            sent = connection.socket.send(data)
        except _NOT_YET:
            sent = 0
        except OSError:
            self._drop(connection)
            return
        if sent < len(data):
            connection.pending = data[sent:]
            self._epoll.modify(connection.socket, select.EPOLLIN | select.EPOLLOUT)

    def _flush(self, connection: _Connection) -> None:
        data, connection.pending = connection.pending, b""
        if connection.place == len(self._pieces):
            connection.last = _now()
        self._send(connection, data)
        if not connection.pending and connection.place >= 0:
            self._epoll.modify(connection.socket, select.EPOLLIN)
            if connection.place == len(self._pieces):
                self._end(connection)

    def _end(self, connection: _Connection) -> None:
        """Notes the reply. Its end left with its last token, in one write."""
        if connection.place > 0:
            c = connection
            self._log.append((c.attempt, c.received, c.first, c.last, c.last, c.late))
            connection.place = 0

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except BlockingIOError:
                return
            accepted.setblocking(False)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                accepted = self._tls.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)
            self._open[accepted.fileno()] = _Connection(accepted, shaking=self._tls is not None)
            self._epoll.register(accepted, select.EPOLLIN)

    def _serve(self, connection: _Connection, happened: int) -> None:
        if happened & select.EPOLLOUT and connection.pending:
            self._flush(connection)
        try:
            if connection.shaking:
                assert isinstance(connection.socket, ssl.SSLSocket)
                connection.socket.do_handshake()
                connection.shaking = False
            while True:
                data, at_ns = self._read(connection.socket)
                if not data:
                    self._drop(connection)
                    return
                connection.inbox += data
                self._take(connection, at_ns)
                if self._tls is None and len(data) < _READ:
                    return
        except _NOT_YET:
            return
        except OSError:
            self._drop(connection)

    def _read(self, of: socket.socket) -> tuple[bytes, int]:
        """Bytes and their arrival: the kernel's stamp, mapped to our clock by asking both clocks now."""
        if self._tls is not None:
            return of.recv(_READ), _now()
        data, notes, _, _ = of.recvmsg(_READ, 64)
        now_ns = _now()
        if not notes:
            return data, now_ns
        wall_ns = time.time_ns()
        if wall_ns - _now() > self._ahead_ns + _SET_NS or wall_ns - now_ns < self._ahead_ns - _SET_NS:
            self._ahead_ns, self._believed_from_ns = wall_ns - now_ns, now_ns + _LONGEST_NS
        seconds, rest = _STAMP_BYTES.unpack(notes[0][2])
        ago_ns = wall_ns - (seconds * 1_000_000_000 + rest)
        is_true = now_ns >= self._believed_from_ns and 0 <= ago_ns < _LONGEST_NS
        return data, now_ns - ago_ns if is_true else now_ns

    def _take(self, connection: _Connection, at_ns: int) -> None:
        """Answers the request once it is whole."""
        inbox = connection.inbox
        end = inbox.find(b"\r\n\r\n")
        if end < 0:
            return
        found = _LENGTH.search(inbox, 0, end)
        if len(inbox) < end + 4 + (int(found[1]) if found else 0):
            return
        attempt = _ATTEMPT.search(inbox, 0, end)
        is_question = inbox.startswith(b"POST")
        connection.attempt = "" if attempt is None else attempt[1].decode("latin-1")
        inbox.clear()
        if not is_question:
            self._send(connection, self._truth())
            return
        connection.received, connection.place, connection.late = at_ns, 0, 0
        connection.due = at_ns + self._schedule.first_ns
        self._firsts.append(connection)

    def _truth(self) -> bytes:
        """A JSON array with one request a line, in the order they ended."""
        names = ("attempt", "received_ns", "first_token_ns", "last_token_ns", "end_ns", "late_ns")
        lines = (json.dumps(dict(zip(names, row, strict=True))) for row in self._log)
        body = ("[" + ",\n".join(lines) + "]").encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        return head + body

    def _drop(self, connection: _Connection) -> None:
        self._open.pop(connection.socket.fileno(), None)
        connection.socket.close()  # which takes it out of epoll, too
        connection.place = -1
        connection.pending = b""
