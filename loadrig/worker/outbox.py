"""Records on their way to the driver, with the prompt parts that it has not been sent yet.

Rules: a batch is at most 256 records and about a megabyte, for it is encoded in one go (a quarter of a millisecond), on
a loop that streams wait for, and kept until it is acknowledged; one record that is larger goes alone. Not fewer: a full
batch goes at once, and over Ray an exchange costs some 3 ms, whatever is in it. A prompt part goes once a worker, with
the first record that needs it or before. Sizes are reckoned from the texts, which is what can be large.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from loadrig.words.record import Record

MOST_RECORDS = 256
MOST_BYTES = 1_000_000
_BESIDE_TEXTS = 1_500  # bytes of a record, and again of each of its turns


class Outbox:
    """What has not been handed over, first in, first out."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Record, dict[str, bytes], int]] = deque()
        self._bytes = 0
        self._known: set[str] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """There is a batch's worth."""
        return len(self._waiting) >= MOST_RECORDS or self._bytes >= MOST_BYTES

    def add(self, record: Record, fragments: Mapping[str, bytes]) -> None:
        """`fragments` are the parts of the record's prompts, by content hash."""
        fresh = {digest: part for digest, part in fragments.items() if digest not in self._known}
        self._known.update(fresh)
        size = size_of(record) + sum(map(len, fresh.values()))
        self._bytes += size
        self._waiting.append((record, fresh, size))

    def take(self) -> tuple[tuple[Record, ...], dict[str, bytes]]:
        """The next batch: records and prompt parts."""
        records: list[Record] = []
        parts: dict[str, bytes] = {}
        taken = 0
        while self._waiting and len(records) < MOST_RECORDS:
            if records and taken + self._waiting[0][2] > MOST_BYTES:
                break
            record, fresh, size = self._waiting.popleft()
            records.append(record)
            parts |= fresh
            taken += size
        self._bytes -= taken
        return tuple(records), parts


def size_of(record: Record) -> int:
    """About how many bytes a record is as JSON."""
    turns = record.turns
    texts = sum(len(turn.text) + sum(len(call.input) for call in turn.tool_calls) for turn in turns)
    return _BESIDE_TEXTS * (1 + len(turns)) + len(record.answer) + texts
