"""Connects: name, TCP, a proxy's tunnel, TLS, each timed or told apart.

Rules: one limit covers all of it. A tunnel is part of connecting. A name's addresses are kept for half a minute, and
looked up once for all who wait: lookups share a few threads, and a start of hundreds of connections must not queue for
them. For the same reason certificates are read once, for each set of files. TCP_NODELAY and keep-alive probes are set
on the raw socket. Where the kernel stamps what it receives the socket stays ours, with TLS on top; else the event
loop's transport has it. Whom TLS trusts: see `certificates`; a file given to the engine is trusted besides.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from dataclasses import replace

from loadrig.wire.certificates import Certificates, context_of
from loadrig.wire.connection import Connection
from loadrig.wire.exchange import Exchange
from loadrig.wire.kernel import ask_for_stamps
from loadrig.wire.link import LoopLink
from loadrig.wire.receiving import Receiver, SocketLink, open_receiver
from loadrig.wire.tls import Tls
from loadrig.wire.tunnel import TunnelError, open_tunnel
from loadrig.words.clock import Clock
from loadrig.words.errors import InputError
from loadrig.words.record import Failure, Stamp

_SHUTDOWN_S = 1.0
_ADDRESSES_NS = 30 * 1_000_000_000

Address = tuple[socket.AddressFamily, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]


class Dialer:
    """Opens connections for an engine. The TLS context is built at the first https connection, off the loop.

    `stamps`: "kernel" means the kernel's where the platform has them. Between `open` and `close`; before it, "read".
    """

    def __init__(self, clock: Clock, ca_file: str | None, stamps: Stamp) -> None:
        self._clock = clock
        self._ca_file = ca_file
        self._making: dict[Certificates | None, asyncio.Task[ssl.SSLContext]] = {}
        self._lookups: dict[tuple[str, int], asyncio.Task[list[Address]]] = {}  # under way
        self._known: dict[tuple[str, int], tuple[int, list[Address]]] = {}
        self._stamps = stamps
        self._receiver: Receiver | None = None

    def open(self) -> None:
        if self._stamps == "kernel":
            self._receiver = open_receiver(self._clock)

    def close(self) -> None:
        for task in (*self._lookups.values(), *self._making.values()):
            task.cancel()
        if self._receiver is not None:
            self._receiver.close()

    @property
    def is_behind(self) -> bool:
        """Whether there is more to be read than one turn of the loop reads; False where that is not known."""
        return self._receiver is not None and self._receiver.poller.is_behind

    async def connect(
        self, exchange: Exchange, make: Callable[[], Connection], *, limit_s: float, late: Failure
    ) -> Connection | None:
        """An open connection; or None, and the exchange has its failure (`late` when the limit passed)."""
        try:
            async with asyncio.timeout(limit_s) as exchange.connecting:
                return await self._connected(exchange, make)
        except TimeoutError:
            failure = _told_with_proxy(late, exchange)
        except ssl.SSLError as error:
            failure = _told_with_proxy(Failure("tls", str(error)), exchange)
        except InputError as error:  # a file that was there when the run began, or is not on this machine
            failure = Failure("tls", f"{error.problem}: {error.path}")
        except TunnelError as error:
            failure = Failure("connect", str(error), http_status=error.status)
        except OSError as error:
            reason = "connect" if exchange.connect_ns is None else "tls"
            failure = _told_with_proxy(Failure(reason, f"{type(error).__name__}: {error}"), exchange)
        finally:
            exchange.connecting = None
        exchange.fail(failure, self._clock.now_ns())
        return None

    async def _connected(self, exchange: Exchange, make: Callable[[], Connection]) -> Connection:
        origin, proxy, files = exchange.request.head.route
        scheme, host, _ = origin
        context = await self._tls(files) if scheme == "https" else None
        start_ns = self._clock.now_ns()
        with contextlib.ExitStack() as undo:
            hop, port = origin[1:] if proxy is None else (proxy.host, proxy.port)
            addresses = await self._addresses(hop, port)
            raw = undo.enter_context(await _tcp(addresses, hop, stamped=self._receiver is not None))
            if proxy is not None and scheme == "https":
                await open_tunnel(raw, origin, proxy)
            connected_ns = self._clock.now_ns()
            exchange.connect_ns = connected_ns - start_ns
            connection = make()
            if self._receiver is not None:
                await _own_link(connection, raw, self._receiver, context=context, host=host)
            else:
                await _loop_link(connection, raw, self._clock, context=context, host=host)
            if context is not None:
                exchange.tls_ns = self._clock.now_ns() - connected_ns
            undo.pop_all()
        return connection

    async def _addresses(self, host: str, port: int) -> list[Address]:
        until_ns, addresses = self._known.get((host, port), (0, []))
        if self._clock.now_ns() < until_ns:
            return addresses
        lookup = self._lookups.get((host, port))
        if lookup is None:
            lookup = asyncio.get_running_loop().create_task(self._look_up(host, port))
            self._lookups[host, port] = lookup
            lookup.add_done_callback(lambda _: self._lookups.pop((host, port)))
        return await asyncio.shield(lookup)  # its failure, too, is everybody's who waits for it

    async def _look_up(self, host: str, port: int) -> list[Address]:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses: list[Address] = [(family, address) for family, _, _, _, address in found]
        self._known[host, port] = (self._clock.now_ns() + _ADDRESSES_NS, addresses)
        return addresses

    async def _tls(self, files: Certificates | None) -> ssl.SSLContext:
        if files not in self._making:
            making = asyncio.to_thread(_context, files, self._ca_file)
            self._making[files] = asyncio.get_running_loop().create_task(making)
        return await asyncio.shield(self._making[files])


def _told_with_proxy(failure: Failure, exchange: Exchange) -> Failure:
    """With the proxy named, if there is one: it may be what is wrong."""
    proxy = exchange.request.head.proxy
    return failure if proxy is None else replace(failure, detail=f"{failure.detail} (through the proxy {proxy})")


async def _own_link(
    connection: Connection, raw: socket.socket, receiver: Receiver, *, context: ssl.SSLContext | None, host: str
) -> None:
    tls = None if context is None else Tls(context, host)
    if tls is not None:
        await tls.shake_hands(raw)
    SocketLink(raw, connection, receiver, tls)


async def _loop_link(
    connection: Connection, raw: socket.socket, clock: Clock, *, context: ssl.SSLContext | None, host: str
) -> None:
    loop = asyncio.get_running_loop()
    link = LoopLink(connection, clock)
    if context is None:
        await loop.create_connection(lambda: link, sock=raw)
    else:
        await loop.create_connection(
            lambda: link, sock=raw, ssl=context, server_hostname=host, ssl_shutdown_timeout=_SHUTDOWN_S
        )


async def _tcp(addresses: list[Address], host: str, *, stamped: bool) -> socket.socket:
    """A connected socket: the addresses in order, the last one's error when none answers."""
    loop = asyncio.get_running_loop()
    problem: OSError = OSError(f"no address for {host}")
    for family, address in addresses:
        with contextlib.ExitStack() as undo:
            raw = undo.enter_context(socket.socket(family, socket.SOCK_STREAM))
            raw.setblocking(False)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if stamped:
                ask_for_stamps(raw)
            try:
                await loop.sock_connect(raw, address)
            except OSError as error:
                problem = error
                continue
            undo.pop_all()
            return raw
    raise problem


def _context(files: Certificates | None, ca_file: str | None) -> ssl.SSLContext:
    context = context_of(files)
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    return context
