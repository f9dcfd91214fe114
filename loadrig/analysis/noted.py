"""What was odd about replies that came to nothing bad: notes of turns, counted, as warnings.

A reply that broke off behind its stop reason, an event of no known kind, a request sent again because its connection
had been closed: each is on record with its turn, and many of a kind say something about the target.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loadrig.log import RunFolder

MOST = 5


def warned(run: RunFolder) -> Iterator[str]:
    """A sentence for each of the most frequent notes: on how many of all turns."""
    turns = [turn for record in run.records for turn in record.turns]
    found = Counter(note for turn in turns for note in dict.fromkeys(turn.notes))
    for note, n in found.most_common(MOST):
        yield f"{n} of {len(turns)} turns: {note}"
