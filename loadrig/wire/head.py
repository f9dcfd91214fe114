"""The request head: what is sent before the body, the same for every request of one model but for two lines.

Rules: a head comes from whoever has authority over the dialect's headers (for Anthropic the official SDK's client,
see `anthropic_head`), never from a list of names here. `OURS` is every header in which we differ from it. A key
lives in the bytes of a head and nowhere else: not in its repr, and `redacted` takes it out of any text from outside.
A proxy changes nothing of a head for an https target; for an http one it gets the whole URL in the request line.
"""

from __future__ import annotations

import ipaddress
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from loadrig.wire.certificates import Certificates
from loadrig.words.errors import InputError

# accept-encoding: a compressed stream would arrive in lumps and hide its timing. content-length: ours, of our body,
# behind the others. x-loadrig-attempt: names trial, turn and attempt to the simulator and to whoever reads traces.
OURS = ("accept-encoding", "content-length", "x-loadrig-attempt")
PLACEHOLDER_TOLD = "is asked with a placeholder key"  # ends the warning of a head without a key

Origin = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy on the way to the target. `authorization` is the value of its header, if it is to have one;
    `secrets` are the spellings of what is in it."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"http://{self._place}"

    @property
    def url(self) -> str:
        """For another client: with user and password in it, so never told."""
        if self.authorization is None:
            return str(self)
        user, _, password = b64decode(self.authorization.removeprefix("Basic ")).decode().partition(":")
        return f"http://{quote(user, safe='')}:{quote(password, safe='')}@{self._place}"

    @property
    def _place(self) -> str:
        return authority(self.host, self.port)


_TELLING = 8  # characters from which on a beginning of a secret is one
Route = tuple[Origin, Proxy | None, Certificates | None]  # connections of one route serve the same requests


@dataclass(frozen=True, slots=True)
class Head:
    """`origin` is scheme, host and port of the target; `lines` end with the line before the attempt's own."""

    origin: Origin
    lines: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    warnings: tuple[str, ...] = ()
    proxy: Proxy | None = None
    further_secrets: tuple[str, ...] = field(default=(), repr=False)  # besides the key, which `secrets` has
    certificates: Certificates | None = None

    def opening(self, attempt: str, length: int) -> bytes:
        """Everything before the body of `length` bytes. An attempt without a name goes out without its header."""
        lines = self.lines if self.proxy is None or self.origin[0] == "https" else self._for_proxy(self.proxy)
        if attempt:
            return b"%bx-loadrig-attempt: %b\r\nContent-Length: %d\r\n\r\n" % (lines, attempt.encode(), length)
        return b"%bContent-Length: %d\r\n\r\n" % (lines, length)

    def _for_proxy(self, proxy: Proxy) -> bytes:
        """`lines` as a proxy wants them that is to pass the request on."""
        method, target, rest = self.lines.split(b" ", 2)
        lines = b"%b %b%b %b" % (method, self._base.encode(), target, rest)
        if proxy.authorization is not None:
            lines += f"Proxy-Authorization: {proxy.authorization}\r\n".encode()
        return lines

    @property
    def route(self) -> Route:
        """Where a connection for its requests leads."""
        return self.origin, self.proxy, self.certificates

    @property
    def _base(self) -> str:
        scheme, host, port = self.origin
        return f"{scheme}://{authority(host, port)}"

    @property
    def url(self) -> str:
        """Where requests go, path included."""
        return self._base + self.lines.split(b" ", 2)[1].decode("latin-1")

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Headers for another client's request to the same endpoint: all but Host. The key is among them."""
        lines = self.lines.decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(":") for line in lines if line)
        return tuple((name, value.strip()) for name, _, value in pairs if name.lower() != "host")

    def redacted(self, text: str) -> str:
        """Without the secrets, and without the beginning of one that the text's end has cut."""
        for secret in (*self.secrets, *self.further_secrets, *(() if self.proxy is None else self.proxy.secrets)):
            text = _without_beginning(text.replace(secret, "[key]"), secret)
        return text


def _without_beginning(text: str, secret: str) -> str:
    """What a server said is cut to a length before it is looked through: half a secret is left out anywhere, less of
    it where the text is cut, and what is too short to tell from a word is not."""
    for length in range(len(secret) - 1, _TELLING - 1, -1):
        part = secret[:length]
        if 2 * length >= len(secret):
            text = text.replace(part, "[key]")
        elif text.endswith(part):
            return text.removesuffix(part) + "[key]"
        else:
            text = text.replace(f"{part} ...", "[key] ...")
    return text


def origin_of(url: str) -> Origin:
    """Scheme, host and port of a base URL. Raises `InputError` for anything but http and https."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"not a base URL: {url!r}", remedy="write it as http://HOST:PORT or https://HOST")
    return parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80)


def authority(host: str, port: int) -> str:
    """Host and port as they stand in a URL: an IPv6 address in brackets."""
    return f"{f'[{host}]' if ':' in host else host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether a host's name or address never leaves this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def head_lines(method: bytes, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Request line and headers as they go out: in the authority's order and case, `OURS` taken out and replaced."""
    lines = [b"%b %b HTTP/1.1" % (method, target)]
    lines += [b"%b: %b" % (name, value) for name, value in headers if name.lower().decode() not in OURS]
    return b"\r\n".join([*lines, b"Accept-Encoding: identity", b""])
