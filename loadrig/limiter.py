"""When a request may go out under a model's own limits: so many requests, and so many input tokens, a minute. Pure.

The generic cell rate algorithm with no burst (ATM Forum Traffic Management Specification 4.0, 1996, I.356): a request
that costs c goes no sooner than the one before it, whose cost was b, plus b / rate. So no minute sees more than the
limit, a time without requests saves nothing up, and while there is demand nothing is lost. Who asks first goes first.

What a request costs in tokens is known when its reply tells. Until then it is its bytes times the tokens that a byte of
this model's requests came to so far; the difference is made good by those that follow. Tokens read from a cache cost
nothing. Knows no clock: `now_ns` is passed in. Each worker has an even share of the limits, so that their sum is kept
whatever becomes of one of them; a share that its worker does not use is not lent.
"""

from __future__ import annotations

from dataclasses import dataclass

from loadrig.words.record import Usage
from loadrig.words.settings import ModelLimits

TOKENS_A_BYTE = 0.3  # of English prose, until a reply has told
_MINUTE_NS = 60_000_000_000
_WEIGHT = 0.1  # of the latest reply in the mean


class Lane:
    """One limit, of `per_minute` units."""

    def __init__(self, per_minute: float) -> None:
        self._unit_ns = _MINUTE_NS / per_minute
        self._free_ns: int | None = None  # when the next may go

    def wait_ns(self, now_ns: int) -> int:
        return 0 if self._free_ns is None else max(0, self._free_ns - now_ns)

    def take(self, at_ns: int, cost: float) -> None:
        """One goes at that instant."""
        self._free_ns = max(at_ns, self._free_ns or at_ns) + round(cost * self._unit_ns)

    def settle(self, cost: float) -> None:
        """One that went cost so much more, or less, than was taken."""
        if self._free_ns is not None:
            self._free_ns += round(cost * self._unit_ns)


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave to go in `wait_ns`; `tokens` were taken for it, for so many `size` bytes."""

    wait_ns: int
    size: int
    tokens: float


_FREE = Permit(0, 0, 0.0)


class Limiter:
    """The limits of one model in one of `workers` workers."""

    def __init__(self, limits: ModelLimits, *, workers: int = 1) -> None:
        requests, tokens = limits.requests_per_minute, limits.input_tokens_per_minute
        self._requests = None if requests is None else Lane(requests / workers)
        self._tokens = None if tokens is None else Lane(tokens / workers)
        self._tokens_a_byte: float | None = None

    def permit(self, now_ns: int, size: int) -> Permit:
        """Leave for a request of `size` bytes; it is taken for sent when its wait is over."""
        if self._requests is None and self._tokens is None:
            return _FREE
        tokens = size * (TOKENS_A_BYTE if self._tokens_a_byte is None else self._tokens_a_byte)
        lanes = [(lane, cost) for lane, cost in ((self._requests, 1.0), (self._tokens, tokens)) if lane is not None]
        wait_ns = max((lane.wait_ns(now_ns) for lane, _ in lanes), default=0)
        for lane, cost in lanes:
            lane.take(now_ns + wait_ns, cost)
        return Permit(wait_ns, size, tokens)

    def settle(self, permit: Permit, usage: Usage | None) -> None:
        """What the request used; None when nobody said, and then what was taken stands."""
        if usage is None or usage.input is None:
            return
        whole = usage.input + (usage.cache_write_5m or 0) + (usage.cache_write_1h or 0)
        if self._tokens is not None:
            self._tokens.settle(whole - permit.tokens)
        if permit.size and not usage.cache_read:
            seen, before = whole / permit.size, self._tokens_a_byte
            self._tokens_a_byte = seen if before is None else before + _WEIGHT * (seen - before)
