"""Whether the target lets us in at all. Pure.

A wrong key or a missing right fails every trial alike, in milliseconds: a run would be over in seconds, with thousands
of failures and nothing learnt. When the first `ENOUGH` trials that ended were all refused with 401, 403 or a proxy's
407 there is nothing to go on for. One trial that ended otherwise, and the target has let us in: later refusals
are results.
"""

from __future__ import annotations

from loadrig.wire.retry import REFUSED
from loadrig.words.record import Failure, Record

ENOUGH = 3


class Admission:
    """Told of every record; knows when to give up."""

    def __init__(self) -> None:
        self._admitted = False
        self._refused = 0
        self._last: Failure | None = None

    def add(self, record: Record) -> None:
        """Counts one written record. A trial that was not run says nothing."""
        if self._admitted or record.outcome == "not_run":
            return
        if record.failure is not None and record.failure.http_status in REFUSED:
            self._refused += 1
            self._last = record.failure
        else:
            self._admitted = True

    @property
    def denied(self) -> str | None:
        """Why the run need not go on, in words; None as long as it may."""
        if self._admitted or self._refused < ENOUGH or self._last is None:
            return None
        is_proxy = self._last.reason == "connect"
        return (
            f"the {'proxy' if is_proxy else 'target'} refuses us: HTTP {self._last.http_status}, {self._last.detail}; "
            f"stopped after {self._refused} trials, all refused. Correct "
            f"{'its URL' if is_proxy else 'the key or its rights'}, then --resume this run with --retry failed"
        )
