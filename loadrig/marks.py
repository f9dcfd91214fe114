"""Marks of one reply: kinds of events and the stamps of the reads that completed them, turned into quantities.

Rules: a stamp belongs to a read, and so to every event that the read completed. Content is a non-empty text, thinking
or tool-argument delta, white space included; nothing else is ever a first token. What did not happen is None, never 0.
A read may come with its lag, how long after its stamp it was made; stamp + lag is the read's own instant.
Time is passed in as integer nanoseconds; knows no clock, no JSON, no provider.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from loadrig.words.record import Gaps


class Kind(enum.IntEnum):
    """What an event was, as far as timing cares. TEXT, THINKING and TOOL are content: generated and not empty."""

    TEXT = 0
    THINKING = 1
    TOOL = 2
    EMPTY = 3  # a delta without content
    SIGNATURE = 4
    BLOCK = 5  # a block opens, with nothing in it yet
    START = 6
    PING = 7
    STOP = 8  # the reply says it is over
    ERROR = 9
    OTHER = 10


_LAST_CONTENT = Kind.TOOL  # looked up once: this is asked for every event


class Timeline(msgspec.Struct, frozen=True, gc=False):
    """Instants on the clock of the stamps. `burst`: all content events, two or more, came in one read; gaps are then
    withheld. `content_events` counts deltas, which are not tokens. `late`: the read of the first token brought further
    content, so its stamp, which is that of the read's last bytes, is an upper bound. `first_token_lag_ns` is the lag
    of that read, `lag_max_ns` the largest of all."""

    first_event_ns: int | None
    first_block_ns: int | None
    first_token_ns: int | None
    first_answer_ns: int | None
    last_token_ns: int | None
    content_events: int
    burst: bool
    gaps: Gaps | None
    late: bool = False
    first_token_lag_ns: int | None = None
    lag_max_ns: int | None = None


class Marks:
    """Collects one reply: `read` once for each read that brought bytes, then `add` for the events it completed."""

    __slots__ = ("_answer", "_at", "_block", "_content", "_event", "_lags", "_read")

    def __init__(self) -> None:
        self._at: list[int] = []  # stamps and lags of the reads, by their numbers; what follows are such numbers
        self._lags: list[int] = []
        self._read = -1
        self._event: int | None = None
        self._block: int | None = None
        self._answer: int | None = None
        self._content: list[int] = []

    def read(self, at_ns: int, lag_ns: int = 0) -> None:
        self._at.append(at_ns)
        self._lags.append(lag_ns)
        self._read += 1

    def add(self, *kinds: Kind) -> None:
        """The events that the read completed, one or more, in order."""
        read = self._read
        if self._event is None:
            self._event = read
        self._content += [read for kind in kinds if kind <= _LAST_CONTENT]
        if self._answer is None and Kind.TEXT in kinds:
            self._answer = read
        if self._block is None and Kind.BLOCK in kinds:
            self._block = read

    def take_reads_own(self) -> None:
        """Every stamp becomes the read's own instant, and nothing is known of lags: for stamps that proved wrong."""
        self._at = [at + lag for at, lag in zip(self._at, self._lags, strict=True)]
        self._lags = [0] * len(self._at)

    @property
    def last_content_ns(self) -> int | None:
        """Stamp of the latest content event; None while nothing was generated."""
        return self._at[self._content[-1]] if self._content else None

    def timeline(self) -> Timeline:
        content, at = self._content, self._at
        burst = len(content) > 1 and content[0] == content[-1]
        return Timeline(
            first_event_ns=None if self._event is None else at[self._event],
            first_block_ns=None if self._block is None else at[self._block],
            first_token_ns=at[content[0]] if content else None,
            first_answer_ns=None if self._answer is None else at[self._answer],
            last_token_ns=at[content[-1]] if content else None,
            content_events=len(content),
            burst=burst,
            gaps=None if burst else gaps([at[number] for number in content]),
            late=len(content) > 1 and content[0] == content[1],
            first_token_lag_ns=self._lags[content[0]] if content else None,
            lag_max_ns=max(self._lags, default=None),
        )


def gaps(stamps: Sequence[int]) -> Gaps | None:
    """Gaps between consecutive content events; None for fewer than two. Quantiles are order statistics: the smallest
    gap with at least that share of all gaps at or below it (nearest rank, rank = ceil(q n))."""
    found = sorted(later - earlier for earlier, later in pairwise(stamps))
    if not found:
        return None
    return Gaps(len(found), _nearest_rank(found, 50), _nearest_rank(found, 95), found[-1])


def tpot_ns(timeline: Timeline, *, output: int | None, hidden: int | None) -> int | None:
    """Time per output token: (last - first visible token) / (visible tokens - 1), in whole nanoseconds.

    `output` are the reply's output tokens, `hidden` those of them that were never shown: 0 when all thinking was
    visible, None when some was hidden and its count is unknown. None without a span to divide: unknown split, one
    token, one event, a burst. Hidden thinking has no content event, so the first content event is the first visible.
    """
    first, last = timeline.first_token_ns, timeline.last_token_ns
    if output is None or hidden is None or first is None or last is None:
        return None
    if output - hidden < 2 or timeline.content_events < 2 or timeline.burst:
        return None
    return (last - first) // (output - hidden - 1)


def _nearest_rank(ordered: Sequence[int], percent: int) -> int:
    return ordered[-(-len(ordered) * percent // 100) - 1]
