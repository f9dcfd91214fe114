"""One HTTP exchange as it happens: a connection feeds it, a turn reads it when it is over.

Rules: the stamp of a read is taken before its bytes are looked at and belongs to every event they complete. All stamps
of an exchange have one source: if one read of it had none from the kernel, or if segments came out of order, which can
make the kernel's too early, all of them become the reads' own. An exchange is over when the reply has said so, when the
HTTP message ends, when the connection is gone or when a `Failure` was set; nothing that comes later changes it. Error
bodies are kept up to a bound. Redirects are not followed. Parses HTTP (httptools); knows no sockets and no timers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache

import httptools
import msgspec

from loadrig.marks import Marks
from loadrig.providers import Reader
from loadrig.sse import Decoder
from loadrig.wire.head import Head
from loadrig.words.record import Failure, Stamp

_MOST_ERROR_BYTES = 65_536
_MOST_HEADER_BYTES = 262_144


class Request(msgspec.Struct, frozen=True, gc=False):
    """What is sent: `label` is the attempt's name (`trial.turn.attempt`), the join of `fragments` the body."""

    head: Head
    label: str
    fragments: tuple[bytes, ...]


class Exchange:
    """Instants are nanoseconds of the engine's clock, None when they did not come to pass."""

    def __init__(self, request: Request, reader: Reader) -> None:
        self.request = request
        self.reader = reader
        self.marks = Marks()
        self.begin_ns = 0
        self.connect_ns: int | None = None  # this one and the next are durations
        self.tls_ns: int | None = None
        self.sent_ns: int | None = None
        self.uploaded_ns: int | None = None
        self.first_byte_ns: int | None = None
        self.headers_ns: int | None = None
        self.end_ns = 0
        self.stamp: Stamp = "read"
        self.reads_unstamped = 0  # by the kernel
        self.reordered = 0  # segments
        self.reused = False
        self.status: int | None = None
        self.headers: list[tuple[str, str]] = []
        self.error_body = bytearray()
        self.failure: Failure | None = None
        self.lost: str | None = None  # how the connection went away, when it did so before the end
        self.over = False
        self.message_done = False
        self.reusable = False
        self.notes: list[str] = []
        self.let_go: Callable[[], None] | None = None  # called once, when nothing more can come
        self.connecting: asyncio.Timeout | None = None  # while it waits for a connection
        self.tap: Callable[[bytes], None] | None = None  # hears of the headers, and gets a good reply's body
        self._at_ns = self._lag_ns = 0  # of the present read, as the next two are of theirs
        self._headers_lag_ns = self._end_lag_ns = 0
        self._header_bytes = 0
        self._body: list[bytes] = []  # what one read brought: servers send a chunk an event, and a read may have many
        self.on_body = self._body.append  # called by the parser, once a chunk: so it is no method of ours
        self._decoder = Decoder()
        # It refers back to us: let go with the last byte, or every exchange would wait for the garbage collector.
        self._parser: httptools.HttpResponseParser | None = None

    def received(self, data: bytes | memoryview, at_ns: int, lag_ns: int | None = None) -> None:
        """The bytes of one read, stamped `at_ns`, by the kernel if the read's own lag behind that is given."""
        if lag_ns is None:
            self.reads_unstamped += 1
            lag_ns = 0
        self._at_ns, self._lag_ns = at_ns, lag_ns
        if self.first_byte_ns is None:
            self.first_byte_ns = at_ns
        self.marks.read(at_ns, lag_ns)
        if self.headers_ns is None:
            self._header_bytes += len(data)
        problem: Failure | None = None
        if self._parser is None:
            self._parser = httptools.HttpResponseParser(self)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            problem = Failure("protocol", "the server switched protocols", http_status=101)
        except httptools.HttpParserError as error:
            self.reusable = False
            if not self.message_done:  # else noise behind a whole message
                problem = Failure("protocol", f"not HTTP/1.1: {error}")
        if self._body:
            self._take_body()
        if problem is not None and not self.reader.ended:
            self.fail(problem, at_ns)
        if self.headers_ns is None and self._header_bytes > _MOST_HEADER_BYTES:
            self.fail(Failure("protocol", f"more than {_MOST_HEADER_BYTES} bytes of headers"), at_ns)
        if self.message_done:
            self._parser = None
        if self.message_done or self.reader.ended:
            self._finish(at_ns)

    def settle_stamps(self, *, reordered: int) -> None:
        """Once, when it is over: whose stamps they are. `reordered`: segments that came out of order meanwhile."""
        self.reordered = reordered
        if self.first_byte_ns is not None and not self.reads_unstamped and not reordered:
            self.stamp = "kernel"
            return
        self.marks.take_reads_own()
        if self.headers_ns is not None:
            self.headers_ns += self._headers_lag_ns
        self.end_ns += self._end_lag_ns

    def gone(self, how: str, at_ns: int) -> None:
        """The connection ended. A message without a length ends that way; whether it is whole, the reader knows."""
        if not self.over:
            self.lost = how
            self._finish(at_ns)
        self._parser = None
        self.release()

    def fail(self, failure: Failure, at_ns: int) -> None:
        """Ends it, unless it is over already."""
        if not self.over:
            self.failure = failure
            self._finish(at_ns)
            self.release()

    def release(self) -> None:
        """Lets go whoever waits for it, once."""
        let_go, self.let_go = self.let_go, None
        if let_go is not None:
            let_go()

    def _take_body(self) -> None:
        """What this read brought of a body: of a reply that is no good one the error's text."""
        body = self._body
        data = body[0] if len(body) == 1 else b"".join(body)
        body.clear()
        if self.over:
            return
        if self.status is None or self.status >= 300:
            self.error_body += data[: _MOST_ERROR_BYTES - len(self.error_body)]
        else:
            self._read_events(data)

    def _read_events(self, data: bytes) -> None:
        """The events that this read completed."""
        if self.tap is not None:
            self.tap(data)
        reader, kinds = self.reader, []
        feed = reader.feed
        for payload in self._decoder.feed(data):
            kinds.append(feed(payload))
            if reader.ended:
                break
        if kinds:
            self.marks.add(*kinds)

    def _finish(self, at_ns: int) -> None:
        if not self.over:
            self.over = True
            self.end_ns = at_ns
            self._end_lag_ns = self._lag_ns if at_ns == self._at_ns else 0  # 0: an instant of our own, not a read's

    @property
    def is_clean(self) -> bool:
        """Over, and nothing against using its connection further has come up."""
        return self.over and self.failure is None

    @property
    def unanswered(self) -> bool:
        """The connection went away before the first byte of a reply."""
        return self.lost is not None and self.first_byte_ns is None

    def again(self, note: str) -> None:
        """Ready to be sent once more, on another connection; begin stays where it was."""
        self.over, self.lost = False, None
        self.sent_ns = self.uploaded_ns = None
        self.reused = False
        self.notes.append(note)

    def header(self, name: str) -> str | None:
        """First value of a response header, by its lower-case name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    # What follows is called by the parser.

    def on_message_begin(self) -> None:
        if self.message_done:  # bytes behind the reply: this connection cannot be trusted again
            self.reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.headers_ns is None:
            self.headers.append((_lower(name), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        status = self._parser.get_status_code()
        if status < 200:  # informational: the reply is still to come
            self.headers.clear()
            return
        if self.headers_ns is None:
            self.status = status
            self.headers_ns, self._headers_lag_ns = self._at_ns, self._lag_ns
            encoding = self.header("content-encoding") or "identity"
            if encoding != "identity":
                problem = f"the reply is {encoding}-encoded although identity was asked for"
                self.fail(Failure("protocol", problem, http_status=status), self._at_ns)
            if self.tap is not None:
                self.tap(b"")

    def on_message_complete(self) -> None:
        if self.headers_ns is not None and not self.message_done:
            assert self._parser is not None
            self.message_done = True
            self.reusable = self._parser.should_keep_alive()


@lru_cache(maxsize=256)
def _lower(name: bytes) -> str:
    """Servers repeat themselves."""
    return name.decode("latin-1").lower()
