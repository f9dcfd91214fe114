"""Our own retry policy: whether another attempt may follow a failure, and after how long. Pure.

Rules: connect, rate_limited, overloaded and http_5xx may be tried again, unless the reply had begun; the server's own
`x-should-retry` overrides that for its error statuses, either way. A spend limit never: waiting does not lift it.
`retry-after-ms` and `retry-after` (seconds or date) are kept, never shortened; over the ceiling the turn fails
rather than wait. A date counts from the reply's own `date`, by the clock that set it; ours counts where there is none.
Nonsense, a past date or none: own back-off, 0.5 s doubling up to 8 s, less up to a quarter of jitter
drawn from a hash of the attempt's label, so that a rerun waits alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import blake2b

from loadrig.providers import ApiError
from loadrig.words.record import Failure
from loadrig.words.settings import RetrySettings

_RETRIED = frozenset({"connect", "rate_limited", "overloaded", "http_5xx"})
REFUSED = (401, 403, 407)  # asking again changes nothing, even where it is a proxy's answer to a connect
_FIRST_S, _LONGEST_S = 0.5, 8.0


@dataclass(frozen=True, slots=True)
class Pause:
    """`ns` to wait before the next attempt; None: there is none, and `why` says so when a reader would ask."""

    ns: int | None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """What the server said about trying again: whether, and after how many seconds; None: it did not say."""

    again: bool | None = None
    after_s: float | None = None


def wish_of(headers: dict[str, str], now: datetime) -> Wish:
    """The wish in a reply's headers (lower-case names)."""
    again = {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())
    return Wish(again, asked_seconds(headers, now))


def pause_before_next(
    failure: Failure, error: ApiError | None, *, wish: Wish, label: str, attempt: int, policy: RetrySettings
) -> Pause:
    """After attempt number `attempt` (from 1) failed."""
    if attempt > policy.attempts or not _is_passing(failure, wish):
        return Pause(None)
    if error is not None and error.spend_limit:
        return Pause(None, "a spend limit: not tried again")
    if wish.again is False:
        return Pause(None, "the server said not to try again (x-should-retry)")
    if wish.after_s is None:
        return Pause(int(min(backoff_s(attempt, label), policy.ceiling_s) * 1e9))
    if wish.after_s > policy.ceiling_s:
        return Pause(None, f"retry-after {wish.after_s:g} s is over the ceiling of {policy.ceiling_s:g} s")
    return Pause(math.ceil(wish.after_s * 1e9))


def _is_passing(failure: Failure, wish: Wish) -> bool:
    """Whether the same request may fare better later: no reply had begun, and we or the server say so."""
    status = failure.http_status
    if status is not None and status < 400:
        return False
    may = failure.reason in _RETRIED and status not in REFUSED
    return may or (status is not None and wish.again is True)


def asked_seconds(headers: dict[str, str], now: datetime) -> float | None:
    """Seconds the server asked us to wait; None when it did not, or asked for nonsense or the past. `now` is ours."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    date = _date(text)
    if date is None:
        return None
    wait_s = (date - (_date(headers.get("date", "")) or now)).total_seconds()
    return wait_s if wait_s > 0 else None


def backoff_s(attempt: int, label: str) -> float:
    """0.5 s x 2^(attempt - 1), at most 8 s, less jitter of 0 to 25 %."""
    draw = int.from_bytes(blake2b(label.encode(), digest_size=8).digest()) / 2**64
    return min(_FIRST_S * 2.0 ** min(attempt - 1, 8), _LONGEST_S) * (1 - 0.25 * draw)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)  # "-0000": UTC of unknown origin


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 < value < math.inf else None
