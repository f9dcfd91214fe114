"""A tunnel through an HTTP proxy (CONNECT): what is said over a new connection before the target's own TLS begins.

Rules: the connection is the caller's, and so are its limits. Anything but a 2xx answer is an error that names the proxy
and repeats its status line; what a proxy wants for a 407 is in it. Nothing of the target's may have come by then.
"""

from __future__ import annotations

import asyncio
import re
import socket

from loadrig.wire.head import Origin, Proxy, authority

_MOST_BYTES = 65_536
_READ_BYTES = 4_096
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})(?: ([^\r\n]*))?\r?\n")
_WANTED = re.compile(rb"\nproxy-authenticate:[ \t]*([^\r\n]*)", re.IGNORECASE)


class TunnelError(OSError):
    """The proxy gave no tunnel. `status` is its answer's, None where that was no answer."""

    def __init__(self, problem: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(problem)


async def open_tunnel(sock: socket.socket, origin: Origin, proxy: Proxy) -> None:
    """Asks the proxy at the other end of a connected, non-blocking socket for the way to `origin`. Raises OSError."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(sock, _request(origin, proxy))
    answer = b""
    while (end := answer.find(b"\r\n\r\n")) < 0:
        data = await loop.sock_recv(sock, _READ_BYTES)
        if not data:
            raise TunnelError(f"the proxy {proxy} closed the connection before it had answered")
        answer += data
        if len(answer) > _MOST_BYTES:
            raise TunnelError(f"the proxy {proxy} answered with more than {_MOST_BYTES} bytes of headers")
    found = _STATUS_LINE.match(answer)
    if found is None:
        raise TunnelError(f"the proxy {proxy} did not answer in HTTP/1: {told(answer[:60])}")
    status = int(found[1])
    if not 200 <= status < 300:
        raise TunnelError(refused(proxy, status, found[2] or b"", wanted=_WANTED.findall(answer)), status)
    if len(answer) > end + 4:
        raise TunnelError(f"the proxy {proxy} sent {len(answer) - end - 4} bytes behind its answer")


def refused(proxy: Proxy, status: int, phrase: bytes = b"", wanted: list[bytes] | None = None) -> str:
    """What a proxy's refusal is told as. `wanted`: the ways to say who one is that it offers with a 407."""
    offers = f"; it wants {told(b', '.join(wanted))}" if wanted else ""
    how = "" if status != 407 else "; user and password belong in its URL" if not proxy.authorization else ""
    return " ".join(f"the proxy {proxy} refused: HTTP {status} {told(phrase)}".split()) + offers + how


def told(text: bytes) -> str:
    """Foreign bytes for a person, in bounds."""
    return text[:200].decode("latin-1").strip()


def _request(origin: Origin, proxy: Proxy) -> bytes:
    place = authority(*origin[1:])
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if proxy.authorization is not None:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    return "\r\n".join([*lines, "", ""]).encode()
