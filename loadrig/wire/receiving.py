"""A link over a socket of our own, plain or TLS, so that every read has the kernel's stamp beside its own.

Rules: one read a turn of the loop, whole; its stamp is taken before anything else, under TLS before decryption, and a
record cut over several reads has that of the read that completed it. Stamps of one connection never run backwards.
What cannot be sent at once goes out as the socket takes it; under TLS it is encrypted only then, and "sent" means that
the ciphertext is with the kernel. A failed send only stops sending: what the server had said by then is still read, and
its end is heard by reading. The socket leaves the poller before it is closed, because the next one may get its number.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from dataclasses import dataclass

from loadrig.wire.kernel import Stamper, open_stamper, out_of_order
from loadrig.wire.link import CLOSED, Sink
from loadrig.wire.poller import Poller
from loadrig.wire.tls import Tls
from loadrig.words.clock import Clock

_SEALED_AT_ONCE = 65_536
_NOTHING = memoryview(b"")


@dataclass(frozen=True, slots=True)
class Receiver:
    """What the links of one engine share. `close` it when they are closed."""

    stamper: Stamper
    poller: Poller

    def close(self) -> None:
        self.poller.close()
        self.stamper.close()


def open_receiver(clock: Clock) -> Receiver | None:
    """For the running loop; None where the platform gives no receive stamps."""
    stamper = open_stamper(clock)
    return None if stamper is None else Receiver(stamper, Poller())


class SocketLink:
    """A `Link` over a connected socket that does not block, and is this link's from now on."""

    def __init__(self, sock: socket.socket, sink: Sink, receiver: Receiver, tls: Tls | None = None) -> None:
        self.is_closing = False
        self._loop = asyncio.get_running_loop()
        self._sock = sock
        self._fd = sock.fileno()
        self._sink = sink
        self._stamper = receiver.stamper
        self._poller = receiver.poller
        self._tls = tls
        self._latest_ns = 0
        self._ready = _NOTHING  # goes to the socket next
        self._queue: deque[memoryview] = deque()  # plaintext behind it
        self._is_waiting = False  # for the socket to take more
        self._broken: str | None = None  # why nothing more can be sent
        self._reordered = 0
        self._poller.watch(self._fd, self._awake)
        sink.opened(self)
        if tls is not None:  # what came along with the end of the handshake
            self._opened(tls, b"", 0, None)

    @property
    def unsent(self) -> bool:
        return bool(self._ready or self._queue or self._broken)

    @property
    def reordered(self) -> int:
        return self._reordered if self.is_closing else out_of_order(self._sock)

    def fileno(self) -> int:
        return self._fd

    def write(self, data: bytes) -> None:
        if self.is_closing or self._broken:
            return
        self._queue.append(memoryview(data))
        if not self._is_waiting:
            self._push()

    def abort(self) -> None:
        """Closes the socket at once, after a TLS goodbye when that can still go out; `closed` follows."""
        if self.is_closing:
            return
        if self._tls is not None and not self._ready and not self._broken:
            with contextlib.suppress(OSError):
                self._sock.send(self._tls.goodbye())
        self._reordered = out_of_order(self._sock)
        self.is_closing = True
        self._stop_writing()
        self._poller.forget(self._fd)
        self._sock.close()
        self._loop.call_soon(self._sink.closed, "closed")

    def _awake(self, takes_more: bool) -> None:
        self._read()  # first: with an error pending, what the server had to say still counts
        if takes_more and not self.is_closing:
            self._push()

    def _read(self) -> None:
        try:
            data, read_ns, lag_ns = self._stamper.read(self._sock)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._sink.ended(f"{type(error).__name__}: {error}")
            return
        if not data:
            self._sink.ended(self._broken or (CLOSED if self._tls is None else self._tls.cut()))
            return
        if lag_ns is None:
            at_ns = read_ns
        else:
            at_ns = max(read_ns - lag_ns, self._latest_ns)
            lag_ns = read_ns - at_ns
        self._latest_ns = at_ns
        if self._tls is None:
            self._sink.received(data, at_ns, lag_ns)
        else:
            self._opened(self._tls, data, at_ns, lag_ns)

    def _opened(self, tls: Tls, data: bytes | memoryview, at_ns: int, lag_ns: int | None) -> None:
        plain = tls.opened(data)
        if plain:
            self._sink.received(plain, at_ns, lag_ns)
        if tls.ended is not None and not self.is_closing:
            self._sink.ended(tls.ended)
        elif not (self.is_closing or self._is_waiting or self._broken):
            self._push()

    def _push(self) -> None:
        """Sends what the socket takes, and comes back for the rest when it takes more."""
        try:
            while self._ready or self._refill():
                self._ready = self._ready[self._sock.send(self._ready) :]
        except (BlockingIOError, InterruptedError):
            if not self._is_waiting:
                self._is_waiting = True
                self._poller.ask_writable(self._fd, is_asked=True)
            return
        except OSError as error:
            self._broken = f"{type(error).__name__}: {error}"
            self._stop_writing()
            return
        if self._is_waiting:
            self._stop_writing()
            self._sink.drained()

    def _refill(self) -> bool:
        """The next piece to send, if there is one."""
        if self._tls is None:
            self._ready = self._queue.popleft() if self._queue else _NOTHING
        elif self._queue:
            whole = self._queue.popleft()
            if len(whole) > _SEALED_AT_ONCE:
                self._queue.appendleft(whole[_SEALED_AT_ONCE:])
            self._ready = memoryview(self._tls.sealed(whole[:_SEALED_AT_ONCE]))
        else:
            self._ready = memoryview(self._tls.outgoing())
        return bool(self._ready)

    def _stop_writing(self) -> None:
        self._ready = _NOTHING
        self._queue.clear()
        if self._is_waiting:
            self._is_waiting = False
            self._poller.ask_writable(self._fd, is_asked=False)
