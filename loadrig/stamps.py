"""Whose stamps the replies of a stage have, counted: for the manifest and the report alike.

Counted are attempts to which a reply began (its headers came), of measured and tail trials. Kernel + read = replies.
late    kernel stamps that are upper bounds, as the read of the first token brought more content (coalesced)
early   attempts whose connection met segments out of order: a stamp could have been early, so the reads' own are taken
absent  attempts with a read that the kernel had not stamped: so the reads' own are taken
The read lag of an attempt is how much later than the kernel's stamp the client read its first token: the client's own
part, which kernel stamps leave out. It is known of attempts with kernel stamps only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loadrig.words.record import Attempt, Record


@dataclass(slots=True)
class StampCount:
    """How many; `add` counts one more."""

    replies: int = 0
    kernel: int = 0
    read: int = 0
    late: int = 0
    early: int = 0
    absent: int = 0

    def add(self, attempt: Attempt) -> None:
        self.replies += 1
        self.kernel += attempt.stamp == "kernel"
        self.read += attempt.stamp == "read"
        self.late += attempt.stamp == "kernel" and attempt.stamp_late
        self.early += attempt.reordered > 0
        self.absent += attempt.reads_unstamped > 0


def replies_of(record: Record) -> Iterable[Attempt]:
    """The attempts of a trial that count here."""
    if record.phase == "warmup":
        return ()
    return (attempt for turn in record.turns for attempt in turn.attempts if attempt.headers_ns is not None)
