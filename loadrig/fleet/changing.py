"""A change of documents in mid-run as the driver knows it: when it is, what each worker is told, and what it tells.

Rules: the instant is fixed when the first stage begins, so many seconds after it, in closed and open loop alike. It is
mapped to each worker's clock beforehand: all of them change at that instant, not when the next exchange comes. The
workers' clocks are compared with every exchange, and the best round trip counts. What has happened is on file when it
has: a run that is killed and taken up again knows which documents hold.
"""

from __future__ import annotations

from loadrig.fleet.hours import Offset
from loadrig.log import RunLog
from loadrig.words.change import Adopted, Adoption, Made
from loadrig.words.clock import SystemClock
from loadrig.worker.messages import Batch


class Changing:
    """`session`: which going at the run this is, from 1."""

    def __init__(self, after_s: float, session: int, log: RunLog) -> None:
        self._after_ns, self._session, self._log = round(after_s * 1e9), session, log
        self._clock = SystemClock()
        self._at_ns: int | None = None
        self._is_made = False
        self._offsets: dict[str, Offset] = {}
        self._told: dict[str, Adoption] = {}

    def begin(self, begin_ns: int) -> None:
        """A stage begins then; the first one counts."""
        if self._at_ns is None:
            self._at_ns = begin_ns + self._after_ns

    def at_ns(self, worker: str) -> int | None:
        """The instant on the worker's clock, as well as it is known by now; None before the first stage."""
        return None if self._at_ns is None else self._at_ns + self._offset(worker).ahead_ns

    def heard(self, worker: str, batch: Batch, *, sent_ns: int) -> None:
        """An answer to what was sent at `sent_ns`; puts on file what is new by it. Raises `LogError`."""
        offset, back_ns = self._offset(worker), self._clock.now_ns()
        offset.add(sent_ns=sent_ns, heard_ns=batch.heard_ns, answered_ns=batch.answered_ns, back_ns=back_ns)
        if not self._is_made and self._at_ns is not None and back_ns >= self._at_ns:
            self._is_made = True
            ahead_ns = {name: one.ahead_ns for name, one in self._offsets.items()}
            self._log.change(Made(self._session, self._clock.label(), self._at_ns, ahead_ns))
        if batch.adoption is not None and batch.adoption != self._told.get(worker):
            self._told[worker] = batch.adoption
            self._log.change(Adopted(worker, self._session, batch.adoption, offset.ahead_ns, offset.error_ns))

    def _offset(self, worker: str) -> Offset:
        return self._offsets.setdefault(worker, Offset())
