"""Readiness of many sockets through one epoll of our own, which the event loop watches as if it were one socket.

Why not `loop.add_reader` for each: uvloop calls a reader a last time when its socket has an error, and then never again
without a word. Bytes that come together with a reset would be read and the reset not be heard, and the exchange would
sit there until a limit ended it. An epoll has no such errors, and tells them of the sockets in it. It is also cheaper
to enter and to leave. Rules: level-triggered; `forget` before the socket is closed; a bounded number of sockets in a
turn, those that had to wait first in the next, so that hundreds of streams in step do not hold the loop. Linux only.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

_READ = select.EPOLLIN
_BOTH = select.EPOLLIN | select.EPOLLOUT
_MOST_A_TURN = 64  # well under a millisecond of reading


class Poller:
    """Belongs to the running loop; `close` it, after which it takes no socket any more."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._calls: dict[int, Callable[[bool], None]] = {}
        self.is_behind = False  # there was more to be read than one turn reads
        self._loop.add_reader(self._epoll.fileno(), self._turn)

    def watch(self, fd: int, call: Callable[[bool], None]) -> None:
        """`call` whenever there is something to read, the end or an error included; its argument says whether the
        socket takes more, too, if that was asked for. Raises OSError when closed."""
        if self._epoll.closed:
            raise ConnectionAbortedError("the engine is closed")
        self._epoll.register(fd, _READ)
        self._calls[fd] = call

    def ask_writable(self, fd: int, *, is_asked: bool) -> None:
        self._epoll.modify(fd, _BOTH if is_asked else _READ)

    def forget(self, fd: int) -> None:
        del self._calls[fd]
        if not self._epoll.closed:
            self._epoll.unregister(fd)

    def close(self) -> None:
        if not self._epoll.closed:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()

    def _turn(self) -> None:
        calls = self._calls
        found = self._epoll.poll(0, _MOST_A_TURN)
        self.is_behind = len(found) == _MOST_A_TURN
        for fd, events in found:
            call = calls.get(fd)
            if call is not None:  # else an earlier one of this turn closed it
                call(bool(events & select.EPOLLOUT))
