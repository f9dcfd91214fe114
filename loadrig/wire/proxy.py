"""Which proxy a model's requests go through: the plan's word first, else the environment's, by the usual names.

Rules: a plan's `proxy` is a URL, or "off". Else HTTPS_PROXY or HTTP_PROXY, by the target's scheme, then ALL_PROXY, each
in small letters before capitals, less the hosts that NO_PROXY names; and never for this machine's own addresses. HTTP
proxies only: another kind is an `InputError` rather than a way round it. A proxy stands in every latency, so it is
said. What its URL has of user and password is in no text from here. Pure: opens nothing (see `tunnel`).
"""

from __future__ import annotations

import ipaddress
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from loadrig.wire.head import Head, Origin, Proxy, is_loopback
from loadrig.words.errors import InputError

OFF = "off"
_REMEDY = 'write it as http://HOST:PORT, or go without: proxy = "off" in the [[model]]'
SHORTEST_SECRET = 6  # a shorter password is a word that may stand anywhere


def through(head: Head, wanted: str | None, environment: Mapping[str, str]) -> Head:
    """The head of requests that go through the proxy there is, with a warning that says so; else the head as it is.

    `wanted` is what the plan says. Raises `InputError` for a proxy that cannot be used.
    """
    scheme, host, _ = head.origin
    found = ("the plan", wanted) if wanted is not None else _from_environment(head.origin, environment)
    if found is None or found[1] == OFF:
        return head
    place, url = found
    proxy = proxy_of(url, place)
    told = f"requests to {host} go through the proxy {proxy} ({place}): its time stands in every latency"
    if scheme == "https":
        told += "; a new connection's tunnel through it in connect_ns"
    return replace(head, proxy=proxy, warnings=(*head.warnings, told))


def proxy_of(url: str, place: str) -> Proxy:
    """The proxy of a URL. `place` is where it is named, for errors."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme and parts.scheme != "http":
        raise InputError(f"{place} names a proxy of a kind that is not supported: {told_url(url)}", remedy=_REMEDY)
    if not parts.hostname:
        raise InputError(f"{place} names no proxy: {told_url(url)!r}", remedy=_REMEDY)
    if parts.username is None:
        return Proxy(parts.hostname, port or 80)
    user, password = unquote(parts.username), unquote(parts.password or "")
    token = b64encode(f"{user}:{password}".encode()).decode()
    secrets = (token, f"{parts.username}:{parts.password or ''}", f"{user}:{password}", password)
    kept = tuple(secret for secret in dict.fromkeys(secrets) if len(secret) >= SHORTEST_SECRET)
    return Proxy(parts.hostname, port or 80, f"Basic {token}", kept)


def told_url(url: str) -> str:
    """A proxy's URL as it may be told: without user and password."""
    return re.sub(r"^([\w+.-]+://)?.*@", r"\1", url)


def _from_environment(origin: Origin, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Name and value of the variable that holds for this target."""
    scheme, host, port = origin
    if is_loopback(host) or is_exempt(host, port, _spelled("no_proxy", environment)[1]):
        return None
    for name in (f"{scheme}_proxy", "all_proxy"):
        spelled, value = _spelled(name, environment)
        if value:
            return spelled, value
    return None


def _spelled(name: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """In small letters if it is set so, be it to nothing; else in capitals."""
    spelled = name if name in environment else name.upper()
    return spelled, environment.get(spelled, "").strip()


def is_exempt(host: str, port: int, no_proxy: str) -> bool:
    """Whether a NO_PROXY list covers a target: `*`, a name (and all below it), an address or a network of them, each
    with `:port` or without."""
    return any(_covers(entry.lower(), host, port) for entry in no_proxy.replace(",", " ").split())


def _covers(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # not both of them are addresses
    name, colon, its_port = entry.rpartition(":")
    if not colon:
        name = entry
    elif its_port != str(port):
        return False
    name = name.strip("[]").removeprefix("*").removeprefix(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))
