"""Names for requests that come without one: their body, and how often it has come.

A request that carries `x-loadrig-attempt` is seeded by it. A stranger's is seeded by what it sends, so that the same
requests in the same order have the same fate in every run; and by how often it came, so that whoever is turned away and
asks again is not turned away for ever.
"""

from __future__ import annotations

from collections import OrderedDict

MOST = 65_536  # bodies remembered; of those sent least lately the count begins again


class Seen:
    """Counts bodies by their digest."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, int] = OrderedDict()

    def named(self, digest: str) -> str:
        """`DIGEST.1.n` for the n-th time, in the shape of an attempt's name: trial, turn, try."""
        times = self._times.pop(digest, 0) + 1
        self._times[digest] = times
        if len(self._times) > MOST:
            self._times.popitem(last=False)
        return f"{digest}.1.{times}"
