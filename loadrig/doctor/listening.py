"""What a dialect's own reader makes of a reply that was seen from outside, event by event with its read. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from loadrig.marks import Kind
from loadrig.outside import LATE, TOO_LONG, Seen
from loadrig.providers import ApiError, Dialect, Heard
from loadrig.sse import Decoder
from loadrig.words.record import Usage

CONTENT = (Kind.TEXT, Kind.THINKING, Kind.TOOL)
FULL = (429, 503, 529)  # too much just now
LONGEST = 160  # of what an endpoint said


@dataclass(frozen=True, slots=True)
class Listened:
    """`events`: number of the read that completed it, and kind. `at_start`: the usage when the first content came (at
    the end, where there is none). `error`: the endpoint's own, where it gave an error status."""

    seen: Seen
    events: tuple[tuple[int, Kind], ...]
    heard: Heard
    at_start: Usage
    error: ApiError | None

    @property
    def is_stream(self) -> bool:
        return _is_stream(self.seen)

    @property
    def is_good(self) -> bool:
        """A whole reply of this dialect."""
        return self.seen.status == 200 and self.heard.complete and self.heard.error is None

    @property
    def is_under_way(self) -> bool:
        """It was coming, and ended by our limit alone."""
        return self.seen.is_late and self.is_stream and bool(self.content_reads)

    @property
    def is_unasked(self) -> bool:
        """Nothing came, or it was turned away for now: what was asked for may be there all the same."""
        return self.seen.status is None or self.seen.status in FULL

    @property
    def content_reads(self) -> tuple[int, ...]:
        """The reads that brought content, each once for each piece of it."""
        return tuple(read for read, kind in self.events if kind in CONTENT)

    def at_ns(self, read: int) -> int:
        """When a read was made, since the request began."""
        return self.seen.pieces[read][0] - self.seen.began_ns

    @property
    def told(self) -> str:
        """What came, for who must be told that it was nothing good. In bounds; of the endpoint's words the first."""
        return _short(_nothing_good(self))


def listened(seen: Seen, dialect: Dialect) -> Listened:
    """Feeds what was seen to the dialect's reader."""
    reader, decoder = dialect.reader(), Decoder()
    events: list[tuple[int, Kind]] = []
    at_start: Usage | None = None
    if seen.status is not None and seen.status < 300 and _is_plain(seen):
        for number, (_, data) in enumerate(seen.pieces):
            for payload in decoder.feed(data):
                if reader.ended:
                    break
                kind = reader.feed(payload)
                events.append((number, kind))
                if at_start is None and kind in CONTENT:
                    at_start = reader.heard().usage
    heard = reader.heard()
    error = dialect.error(seen.body) if seen.status is not None and seen.status >= 400 else None
    return Listened(seen, tuple(events), heard, heard.usage if at_start is None else at_start, error)


def _nothing_good(reply: Listened) -> str:
    seen, heard = reply.seen, reply.heard
    if seen.status is None:
        return f"no reply came: {(seen.problem or 'nothing is known').replace(LATE, 'none within')}"
    if reply.error is not None:
        return f"HTTP {seen.status} {reply.error.told}"
    return _in_the_stream(seen, heard) if _is_stream(seen) else _of_its_head(seen)


def _of_its_head(seen: Seen) -> str:
    if 300 <= (seen.status or 0) < 400:
        return f"HTTP {seen.status}, a redirect to {seen.header('location') or 'nowhere'}: not followed"
    if not _is_plain(seen):
        return _encoded(seen)
    return f"HTTP {seen.status} with {seen.header('content-type') or 'no content type'}, no event stream"


def _in_the_stream(seen: Seen, heard: Heard) -> str:
    if not _is_plain(seen):
        return _encoded(seen)
    if heard.error is not None:
        return f"an error in the stream: {heard.error.told}"
    if heard.malformed:
        return heard.malformed
    if (seen.problem or "").startswith((LATE, TOO_LONG)):  # ended by us
        return f"the reply was not complete: {seen.problem}"
    return f"the stream ended before the reply was complete{f' ({seen.problem})' if seen.problem else ''}"


def _encoded(seen: Seen) -> str:
    encoding = seen.header("content-encoding")
    return f"the reply is {encoding}-encoded although identity was asked for: loadrig refuses it"


def _is_stream(seen: Seen) -> bool:
    return (seen.header("content-type") or "").startswith("text/event-stream")


def _is_plain(seen: Seen) -> bool:
    return seen.header("content-encoding") in (None, "identity")


def _short(text: str) -> str:
    """In one line. A text without blanks is cut all the same."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 4]} ..."
