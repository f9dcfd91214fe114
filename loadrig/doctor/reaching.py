"""Whether an endpoint can be reached: name, connection, a proxy's tunnel, TLS and how long its certificate lasts.

Rules: plain sockets, one connection, one limit for all of it. What is on the way is what a run would have on its way:
the same proxy, the same certificates.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from loadrig.doctor.findings import Finding
from loadrig.wire.certificates import context_of
from loadrig.wire.head import Head, authority
from loadrig.wire.tunnel import open_tunnel
from loadrig.words.safeguard import Figure

SOON_DAYS = 14


@dataclass(frozen=True, slots=True)
class Reached:
    """`tls`: version, cipher and the certificate's last second (Unix time), where it was TLS. `problem` names the step
    that failed."""

    addresses: tuple[str, ...] = ()
    lookup_ns: int | None = None
    connect_ns: int | None = None
    tls: tuple[str, str, float | None] | None = None
    tls_ns: int | None = None
    step: str = ""
    problem: str | None = None


async def reached(head: Head, limit_s: float) -> Reached:
    """Tries it once, and lets go."""
    steps = [Reached(step="name")]
    try:
        async with asyncio.timeout(limit_s):
            await _tried(head, steps)
    except TimeoutError:
        return replace(steps[-1], problem=f"no answer within {limit_s:g} s")
    except OSError as error:  # ssl.SSLError and TunnelError are such
        told = error.strerror if not isinstance(error, ssl.SSLError) else None
        return replace(steps[-1], problem=told or str(error) or type(error).__name__)
    return steps[-1]


async def _tried(head: Head, steps: list[Reached]) -> None:
    """Adds what is known after each step that went well."""
    scheme, host, port = head.origin
    hop = (host, port) if head.proxy is None else (head.proxy.host, head.proxy.port)
    context = await asyncio.to_thread(context_of, head.certificates) if scheme == "https" else None
    loop, begin_ns = asyncio.get_running_loop(), time.perf_counter_ns()
    infos = await loop.getaddrinfo(*hop, type=socket.SOCK_STREAM)
    addresses = tuple(dict.fromkeys(str(info[4][0]) for info in infos))
    looked_ns = time.perf_counter_ns()
    steps.append(Reached(addresses, looked_ns - begin_ns, step="connection"))
    with contextlib.closing(await _connected(infos)) as sock:
        connected_ns = time.perf_counter_ns()
        steps.append(replace(steps[-1], connect_ns=connected_ns - looked_ns, step="proxy"))
        if head.proxy is not None and scheme == "https":
            await open_tunnel(sock, head.origin, head.proxy)
        steps.append(replace(steps[-1], step="TLS"))
        if context is not None:
            begin_ns = time.perf_counter_ns()
            transport, _ = await loop.create_connection(asyncio.Protocol, sock=sock, ssl=context, server_hostname=host)
            tls_ns = time.perf_counter_ns() - begin_ns
            steps.append(replace(steps[-1], tls=_told(transport.get_extra_info("ssl_object")), tls_ns=tls_ns))
            transport.abort()


async def _connected(infos: list[Any]) -> socket.socket:
    """To the first of the addresses that answers; the last one's error when none does."""
    problem = OSError("no address")
    for family, _, _, _, address in infos:
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            await asyncio.get_running_loop().sock_connect(sock, address)
        except OSError as error:
            sock.close()
            problem = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise problem


def _told(tls: ssl.SSLObject) -> tuple[str, str, float | None]:
    cipher, certificate = tls.cipher(), tls.getpeercert() or {}
    until = certificate.get("notAfter")
    lasts_s = ssl.cert_time_to_seconds(until) if isinstance(until, str) else None
    return tls.version() or "unknown", "unknown" if cipher is None else cipher[0], lasts_s


def connection(found: Reached, head: Head, now_s: float) -> Iterator[Finding]:
    """What was found of connection, proxy and TLS."""
    place = authority(*head.origin[1:])
    hop = place if head.proxy is None else f"the proxy {head.proxy}"
    if found.problem is not None and found.step in ("name", "connection"):
        what = "its name is not known" if found.step == "name" else "no connection"
        said = f"{hop}: {what}: {found.problem}"
        yield Finding("connection", "broken", said, "nothing can be asked: check the address and the network",
                      "not measurable")  # fmt: skip
        return
    lookup_ms, connect_ms = (found.lookup_ns or 0) / 1e6, (found.connect_ns or 0) / 1e6
    figures = (Figure("lookup ms", round(lookup_ms, 2)), Figure("connect ms", round(connect_ms, 2)))
    said = f"{hop} at {', '.join(found.addresses[:3])}: name {lookup_ms:.1f} ms, connect {connect_ms:.1f} ms"
    yield Finding("connection", "ok", said, "connections have a figure of their own in every attempt", figures=figures)
    if head.proxy is not None:
        yield _proxy(found, head)
    if head.origin[0] == "https" and found.step == "TLS":
        yield _tls(found, now_s)


def _proxy(found: Reached, head: Head) -> Finding:
    if found.problem is not None and found.step == "proxy":
        return Finding(
            "connection", "broken", found.problem, "nothing can be asked: see docs/wire.md", "not measurable"
        )
    said = f"requests go through {head.proxy}"
    return Finding("proxy", "ok", said, "what it takes stands in every latency; the manifest names it")


def _tls(found: Reached, now_s: float) -> Finding:
    if found.tls is None:
        means = f"nothing can be asked: {_why_no_handshake(found.problem or '')}"
        return Finding("TLS", "broken", f"no handshake: {found.problem}", means, "not measurable")
    version, cipher, until_s = found.tls
    said = f"{version}, {cipher}, {(found.tls_ns or 0) / 1e6:.1f} ms"
    means = "its time has a figure of its own in every attempt that connects"
    if until_s is None:
        return Finding("TLS", "ok", said, means)
    days = (until_s - now_s) / 86_400
    figures = (Figure("days left", round(days, 1)), Figure("handshake ms", round((found.tls_ns or 0) / 1e6, 2)))
    if days < SOON_DAYS:
        means = f"runs stop when it does: {means}"
    return Finding("TLS", "ok", f"{said}; the certificate lasts {days:.0f} days more", means, figures=figures)


def _why_no_handshake(problem: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" not in problem:
        return "does it speak TLS there, and want no other certificate of ours? Without TLS it is http://"
    if "self-signed" in problem or "issuer" in problem:
        return "a certificate of your own authority goes into ca_file of the [[model]]"
    return "the certificate is not good for this address, or not now"
