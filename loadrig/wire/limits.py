"""Limits of one exchange: which comes due next, and who looks.

Rules: first_byte and first_token run from the moment the request is handed to its connection, gap from the latest
content event (a ping does not feed it), total is an instant given from outside. No event moves a timer: a watchdog
looks now and then, works out what is due, and sleeps on.
"""

from __future__ import annotations

from loadrig.wire.exchange import Exchange
from loadrig.words.record import Failure
from loadrig.words.settings import LimitSettings

_S = 1_000_000_000


def next_due(exchange: Exchange, limits: LimitSettings, deadline_ns: int | None) -> tuple[int, str]:
    """Instant and name of the limit that comes due first, as things stand."""
    sent_ns = exchange.sent_ns or exchange.begin_ns
    content_ns = exchange.marks.last_content_ns
    if exchange.first_byte_ns is None:
        due = sent_ns + int(limits.first_byte * _S), "first_byte"
    elif content_ns is None:
        due = sent_ns + int(limits.first_token * _S), "first_token"
    else:
        due = content_ns + int(limits.gap * _S), "gap"
    return due if deadline_ns is None or due[0] <= deadline_ns else (deadline_ns, "total")


class Watch:
    """Fails the exchange when a limit passes; see `loadrig.wire.watchdog`. `due_ns`: when to look first."""

    __slots__ = ("_deadline_ns", "_exchange", "_limits", "_most_ns", "due_ns")

    def __init__(self, exchange: Exchange, limits: LimitSettings, deadline_ns: int | None, *, now_ns: int) -> None:
        self._exchange = exchange
        self._limits = limits
        self._deadline_ns = deadline_ns
        # Looking this often, nobody is late for a limit that began after the last look.
        self._most_ns = int(min(limits.first_byte, limits.first_token, limits.gap) * _S)
        self.due_ns = now_ns + self._most_ns
        if deadline_ns is not None and deadline_ns < self.due_ns:
            self.due_ns = deadline_ns

    def look(self, now_ns: int) -> int | None:
        due_ns, phase = next_due(self._exchange, self._limits, self._deadline_ns)
        if now_ns < due_ns:
            return min(due_ns, now_ns + self._most_ns)
        self._exchange.fail(timeout(phase, self._limits), now_ns)
        return None


def timeout(phase: str, limits: LimitSettings) -> Failure:
    """The failure of a passed limit, in words."""
    told = {
        "connect": f"no connection within {limits.connect:g} s",
        "first_byte": f"no reply within {limits.first_byte:g} s",
        "first_token": f"no token within {limits.first_token:g} s",
        "gap": f"no further content for {limits.gap:g} s",
        "total": f"the trial's limit of {limits.total:g} s passed",
    }
    return Failure("timeout", told[phase], phase)
