"""What was measured of a request that another client sent over the engine; see `transport`.

Rules: the same attempt as a turn of ours would have on record, but that its end is that of the HTTP message, which is
what that client waits for, and not of the reply's last event. A reply that is no event stream has no first token.
"""

from __future__ import annotations

from loadrig.marks import Kind
from loadrig.providers import Dialect, Heard, Reader
from loadrig.wire.exchange import Exchange
from loadrig.wire.link import CLOSED
from loadrig.wire.record import Try, attempt_of
from loadrig.wire.verdict import body_error, verdict
from loadrig.words.record import Attempt, Failure


class Through:
    """A `Reader` that listens in and never ends a stream: that is for HTTP to do."""

    ended = False

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def feed(self, payload: bytes) -> Kind:
        return Kind.OTHER if self._reader.ended else self._reader.feed(payload)

    def heard(self) -> Heard:
        return self._reader.heard()


class Measured:
    """Of one request. Complete once its reply was read to the end, or closed."""

    def __init__(self, exchange: Exchange, dialect: Dialect, began_at: str) -> None:
        self._exchange = exchange
        self._dialect = dialect
        self._began_at = began_at

    def attempt(self) -> Attempt | None:
        """Every stamp, in nanoseconds of the engine's clock, and what went wrong; None while it is in flight."""
        exchange = self._exchange
        if not exchange.over:
            return None
        heard = exchange.reader.heard()
        error = heard.error or body_error(exchange, self._dialect)
        failure = self._failure(exchange, heard) if _is_plain(exchange) else verdict(exchange, heard, error)
        tried = Try(exchange, heard, error, failure, backoff_ns=0, began_at=self._began_at)
        return attempt_of(tried, exchange.marks.timeline())

    def _failure(self, exchange: Exchange, heard: Heard) -> Failure | None:
        if exchange.failure is not None:
            return verdict(exchange, heard, None)
        return None if is_whole(exchange) else Failure("incomplete", f"{exchange.lost} before the whole reply")


def is_whole(exchange: Exchange) -> bool:
    """Whether a reply came to its end by HTTP: a length, a last chunk, or a close where there is neither."""
    if exchange.failure is not None or exchange.headers_ns is None:
        return False
    framed = exchange.header("content-length") or exchange.header("transfer-encoding")
    return exchange.message_done or (not framed and (exchange.lost or "").startswith(CLOSED))


def _is_plain(exchange: Exchange) -> bool:
    """A good reply that is no event stream, as other requests than streamed turns have."""
    is_good = exchange.status is not None and exchange.status < 300
    return is_good and not (exchange.header("content-type") or "").startswith("text/event-stream")
