"""Whose segments came out of order: an exchange may be looked at only when its connection serves the next."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

from asking import head
from scripted_server import LAST_CHUNK, OK
from stream_events import reply

from loadrig.providers import load
from loadrig.wire.connection import Connection, Keeper
from loadrig.wire.exchange import Exchange, Request
from loadrig.wire.link import Link
from loadrig.words.clock import SystemClock

WHOLE = OK + b"%x\r\n%b\r\n" % (len(reply()), reply()) + LAST_CHUNK


class _Link:
    """Takes everything, and has received so many segments out of order."""

    unsent = is_closing = False

    def __init__(self, sock: socket.socket) -> None:
        self.reordered = 0
        self._sock = sock

    def fileno(self) -> int:
        return self._sock.fileno()

    def write(self, data: bytes) -> None: ...


class _Pool:
    def opened(self, connection: Connection) -> None: ...
    def idle(self, connection: Connection) -> None: ...


def test_each_exchange_has_its_own() -> None:
    """Two in the first reply and one in the second, asked for when both have come: 2 and 1, not 3 and 0."""

    async def go() -> list[int]:
        with socket.socket() as sock:
            link, route = _Link(sock), head("http://t").route
            connection = Connection(route, SystemClock(), cast("Keeper", _Pool()))
            connection.opened(cast("Link", link))
            exchanges = [Exchange(Request(head("http://t"), "", (b"{}",)), load("anthropic").reader()) for _ in "12"]
            for exchange, reordered in zip(exchanges, (2, 1), strict=True):
                connection.start(exchange)
                link.reordered += reordered
                connection.received(WHOLE, 100, 1)
            return [connection.reordered_in(exchange) for exchange in exchanges]

    assert asyncio.run(go()) == [2, 1]
