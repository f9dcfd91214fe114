"""From a figure back to the trial behind it.

An exact quantile is the value of one trial, so there is always one to look at. Of several with the same value it is the
first by its id.
"""

from __future__ import annotations

from collections.abc import Iterable

from loadrig.measures import measure
from loadrig.stats import rank
from loadrig.words.record import Record, succeeded


def trial_at(records: Iterable[Record], name: str, *shares: float) -> tuple[str | None, ...]:
    """The ids of the trials that stand at these quantiles of the measure `name` among the successes of timed records,
    one each; None without a success that has it."""
    value = measure(name).value
    known = sorted((found, r.trial) for r in records if succeeded(r) and (found := value(r)) is not None)
    return tuple(known[rank(share, len(known)) - 1][1] if known else None for share in shares)
