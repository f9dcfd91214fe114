"""The prompt cache: which prefixes are warm, for whom and until when.

Rules: one cache per API key (the digest already holds the model); a prefix below the minimum is never kept and
nobody is told; an entry is usable once the response that writes it has begun, and dies a lifetime after the request
that last wrote or read it began; a read refreshes it for nothing. Times come from the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loadrig.simulator.prefix import Breakpoint, Prefixes

SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Charge:
    """The prompt's tokens by kind; their sum is the whole prompt."""

    input: int
    write_5m: int = 0
    write_1h: int = 0
    read: int = 0

    @property
    def uncached(self) -> int:
        """Tokens that must be prefilled."""
        return self.input + self.write_5m + self.write_1h

    def untold(self) -> Charge:
        """The same where writing costs nothing more and is not told: what was written is plain input."""
        return Charge(self.uncached, read=self.read)

    def reported(self, factor: float) -> Charge:
        """What a provider says it was that reports `factor` times the tokens."""
        if factor == 1.0:
            return self
        return Charge(*(round(factor * count) for count in (self.input, self.write_5m, self.write_1h, self.read)))


@dataclass(slots=True)
class PromptCache:
    """Warm prefixes: (key, digest) -> (usable from, dies at, lifetime), times in nanoseconds."""

    minimum_tokens: int
    _entries: dict[tuple[str, bytes], tuple[int, int]] = field(default_factory=dict)

    def charge(self, key: str, prompt: Prefixes, now_ns: int) -> Charge:
        """What a request that begins at `now_ns` pays; refreshes the entries it reads."""
        marks = [mark for mark in prompt.breakpoints if mark.points[0].tokens >= self.minimum_tokens]
        if not marks:
            return Charge(prompt.tokens)
        read = max((self._read(key, mark, now_ns) for mark in marks), default=0)
        written = {300: 0, 3600: 0}
        done = read
        for mark in marks:
            written[mark.lifetime_s] += max(0, mark.points[0].tokens - done)
            done = max(done, mark.points[0].tokens)
        return Charge(prompt.tokens - done, written[300], written[3600], read)

    def _read(self, key: str, mark: Breakpoint, now_ns: int) -> int:
        for point in mark.points:
            entry = self._entries.get((key, point.digest))
            if entry is not None and entry[0] <= now_ns < entry[1]:
                self._entries[key, point.digest] = (entry[0], max(entry[1], now_ns + mark.lifetime_s * SECOND_NS))
                return point.tokens
        return 0

    def began(self, key: str, prompt: Prefixes, *, request_ns: int, response_ns: int) -> None:
        """The response to a request began: what it wrote is usable from now, for a lifetime from its request."""
        for mark in prompt.breakpoints:
            point = mark.points[0]
            if point.tokens >= self.minimum_tokens:
                dies = request_ns + mark.lifetime_s * SECOND_NS
                entry = self._entries.get((key, point.digest))
                if entry is None or entry[1] <= request_ns:
                    self._entries[key, point.digest] = (response_ns, dies)
        if len(self._entries) > 50_000:
            self._entries = {name: entry for name, entry in self._entries.items() if entry[1] > response_ns}
