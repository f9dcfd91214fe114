"""What an exchange came to, as data: a `Failure`, or None for a complete reply. Pure.

Rules: the first thing that went wrong decides: our own limit or a broken protocol, then the HTTP status, then what
the stream said, then what it failed to say. Statuses: 429 rate_limited, 529 overloaded, as is any other 5xx that the
dialect understands as such, others http_4xx and http_5xx; a proxy's 407 is connect.
A stream that stops after its stop reason is complete, with a note; one that stops before is incomplete however
politely it ended. Details carry the endpoint's own words, never a key.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from loadrig.providers import ApiError, Dialect, Heard
from loadrig.wire.exchange import Exchange
from loadrig.wire.tunnel import refused
from loadrig.words.record import Failure

_KEPT = ("ratelimit", "retry-after")  # whatever prefix a provider puts before them


def verdict(exchange: Exchange, heard: Heard, error: ApiError | None) -> Failure | None:
    """`error` is the endpoint's own error, from the body (see `body_error`) or from the stream."""
    failure = exchange.failure or _by_status(exchange, error) or _by_stream(exchange, heard)
    if failure is None:
        return None
    return replace(failure, detail=exchange.request.head.redacted(failure.detail))


def body_error(exchange: Exchange, dialect: Dialect) -> ApiError | None:
    """What an error reply says; None for any other."""
    if exchange.status is None or exchange.status < 400:
        return None
    return dialect.error(bytes(exchange.error_body))


def notes(exchange: Exchange, heard: Heard) -> tuple[str, ...]:
    """What a reader of the record should know of a reply that went well all the same."""
    found = [*exchange.notes, *heard.notes]
    if heard.complete and not exchange.reader.ended:
        found.append("the stream broke off after its stop reason")
    return tuple(found)


def rate_limit_headers(exchange: Exchange) -> tuple[tuple[str, str], ...]:
    """The headers that tell about rate limits, as they came."""
    return tuple([header for header in exchange.headers if _is_kept(header[0])])


@lru_cache(maxsize=256)
def _is_kept(name: str) -> bool:
    """Asked for every header of every reply, and servers repeat themselves."""
    return any(word in name for word in _KEPT)


def _by_status(exchange: Exchange, error: ApiError | None) -> Failure | None:
    status = exchange.status
    if status is None:
        return Failure("incomplete", f"no reply: {exchange.lost}")
    if status < 300:
        return None
    if status < 400:
        place = exchange.header("location") or "nowhere"
        return Failure("protocol", f"redirect to {place} not followed", http_status=status)
    proxy = exchange.request.head.proxy
    if status == 407 and proxy is not None:  # its own answer, in the place of the target's
        wanted = [value.encode() for name, value in exchange.headers if name == "proxy-authenticate"]
        return Failure("connect", refused(proxy, status, wanted=wanted), http_status=status)
    detail = "" if error is None else error.told
    reason = {429: "rate_limited", 529: "overloaded"}.get(status, "http_5xx" if status >= 500 else "http_4xx")
    if reason == "http_5xx" and error is not None and error.overloaded:
        reason = "overloaded"
    detail = detail or f"HTTP {status} without a body"
    if proxy is not None and exchange.request.head.origin[0] == "http":  # whose answer it is cannot be told
        detail += f" (through the proxy {proxy})"
    return Failure(reason, detail, http_status=status)


def _by_stream(exchange: Exchange, heard: Heard) -> Failure | None:
    status = exchange.status
    if heard.malformed is not None:
        return Failure("protocol", heard.malformed, http_status=status)
    if heard.error is not None:
        reason = "overloaded" if heard.error.overloaded else "stream_error"
        reason = "rate_limited" if heard.error.rate_limited else reason
        return Failure(reason, heard.error.told, http_status=status)
    if heard.complete:
        return None
    kind = exchange.header("content-type") or "no content type"
    if exchange.marks.timeline().first_event_ns is None and not kind.startswith("text/event-stream"):
        return Failure("protocol", f"the reply is {kind}, not an event stream", http_status=status)
    how = "the stream ended" if exchange.lost is None else f"the connection ended ({exchange.lost})"
    return Failure("incomplete", f"{how} before the reply was complete", http_status=status)
