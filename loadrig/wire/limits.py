"""Limits of one exchange: which comes due next, and a single timer that looks.

Rules: first_byte and first_token run from the moment the request is handed to its connection, gap from the latest
content event (a ping does not feed it), total is an instant given from outside. The timer is never moved by an
event: it wakes, works out what is due, and sleeps on.
"""

from __future__ import annotations

import asyncio

from loadrig.wire.exchange import Exchange
from loadrig.words.clock import Clock
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
    """Fails the exchange when a limit passes. `cancel` when it is over."""

    def __init__(self, exchange: Exchange, limits: LimitSettings, deadline_ns: int | None, *, clock: Clock) -> None:
        self._exchange = exchange
        self._limits = limits
        self._deadline_ns = deadline_ns
        self._clock = clock
        # Waking this often, the timer is always there before a limit that began after it was set.
        self._most_ns = int(min(limits.first_byte, limits.first_token, limits.gap) * _S)
        self._handle: asyncio.TimerHandle | None = None
        self._look()

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()

    def _look(self) -> None:
        now_ns = self._clock.now_ns()
        due_ns, phase = next_due(self._exchange, self._limits, self._deadline_ns)
        if now_ns >= due_ns:
            self._exchange.fail(timeout(phase, self._limits), now_ns)
            return
        wait_ns = min(due_ns - now_ns, self._most_ns)
        self._handle = asyncio.get_running_loop().call_later(wait_ns / _S, self._look)


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
