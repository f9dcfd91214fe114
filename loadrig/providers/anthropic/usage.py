"""Token counters of a streamed reply, merged.

Rules: the figures of the opening event and of later ones are cumulative. A later one that is present and positive
overwrites; null and zero do not; nothing is ever added. Missing stays None. An odd counter (negative, not a whole
number) is left out and flagged. Cache writes without a split by lifetime count as five-minute ones, and are flagged.
How the reply was served (tier, speed, place) stands in the opening event alone and is kept as it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec

from loadrig.words.record import Usage

_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Writes(msgspec.Struct, frozen=True, gc=False):
    ephemeral_5m_input_tokens: _Count | None = None
    ephemeral_1h_input_tokens: _Count | None = None


class _Details(msgspec.Struct, frozen=True, gc=False):
    thinking_tokens: _Count | None = None


class Counted(msgspec.Struct, frozen=True, gc=False):
    """A usage object as the API gives it, if nothing in it is odd; what is not named here is passed over."""

    input_tokens: _Count | None = None
    cache_creation_input_tokens: _Count | None = None
    cache_read_input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    cache_creation: _Writes | None = None
    output_tokens_details: _Details | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None


_PLAIN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_SERVED = ("service_tier", "speed", "inference_geo")


class UsageMeter:
    """Collects the usage objects of one stream in the order they came."""

    __slots__ = ("_final", "_flags", "_seen")

    def __init__(self) -> None:
        self._seen: Counted | None = None
        self._flags: dict[str, None] = {}  # a set that keeps its order
        self._final = False

    def take(self, counted: Counted | None, *, final: bool) -> None:
        """`final`: this comes from an event whose output figure is the reply's total so far, not a placeholder."""
        if counted is None:
            return
        self._seen = counted if self._seen is None else _merged(self._seen, counted)
        if final and counted.output_tokens is not None:
            self._final = True

    def take_any(self, usage: object, *, final: bool) -> None:
        """Like `take`, of JSON that may hold anything: what is odd is left out, and flagged."""
        if not isinstance(usage, dict):
            return
        served: dict[str, Any] = {name: word for name in _SERVED if isinstance(word := usage.get(name), str)}
        self.take(
            Counted(
                **self._tidy(_PLAIN, usage),
                cache_creation=_Writes(**self._tidy(_Writes.__struct_fields__, usage.get("cache_creation"))),
                output_tokens_details=_Details(
                    **self._tidy(_Details.__struct_fields__, usage.get("output_tokens_details"))
                ),
                **served,
            ),
            final=final,
        )

    def total(self, *, complete: bool) -> Usage:
        """The merged counters; `exact` only when the reply is complete and its final output figure was given."""
        seen = self._seen or Counted()
        flags = dict(self._flags)
        write_5m, write_1h = _writes(seen, flags)
        if complete and not self._final:
            flags["no final output"] = None
        details = seen.output_tokens_details
        return Usage(
            input=seen.input_tokens,
            cache_write_5m=write_5m,
            cache_write_1h=write_1h,
            cache_read=seen.cache_read_input_tokens,
            output=seen.output_tokens,
            thinking=None if details is None else details.thinking_tokens,
            exact=complete and self._final,
            flags=tuple(flags),
            service_tier=seen.service_tier,
            speed=seen.speed,
            inference_geo=seen.inference_geo,
        )

    def _tidy(self, names: Iterable[str], source: object) -> Mapping[str, Any]:
        """The counters of those names that are whole numbers from 0."""
        kept: dict[str, int] = {}
        for name in names:
            value = source.get(name) if isinstance(source, dict) else None
            if type(value) is int and value >= 0:  # not a truth value, which is an int to isinstance
                kept[name] = value
            elif value is not None:
                label = name.removesuffix("_tokens").removesuffix("_input")
                is_negative = isinstance(value, int | float) and value < 0
                self._flags[f"negative {label}" if is_negative else f"odd {label}"] = None
        return kept


def _merged(first: Counted, last: Counted) -> Counted:
    return Counted(
        _later(first.input_tokens, last.input_tokens),
        _later(first.cache_creation_input_tokens, last.cache_creation_input_tokens),
        _later(first.cache_read_input_tokens, last.cache_read_input_tokens),
        _later(first.output_tokens, last.output_tokens),
        _later_writes(first.cache_creation, last.cache_creation),
        _later_details(first.output_tokens_details, last.output_tokens_details),
        last.service_tier or first.service_tier,
        last.speed or first.speed,
        last.inference_geo or first.inference_geo,
    )


def _later(first: int | None, last: int | None) -> int | None:
    return last if last or first is None else first


def _later_writes(first: _Writes | None, last: _Writes | None) -> _Writes | None:
    if first is None or last is None:
        return first or last
    return _Writes(
        _later(first.ephemeral_5m_input_tokens, last.ephemeral_5m_input_tokens),
        _later(first.ephemeral_1h_input_tokens, last.ephemeral_1h_input_tokens),
    )


def _later_details(first: _Details | None, last: _Details | None) -> _Details | None:
    if first is None or last is None:
        return first or last
    return _Details(_later(first.thinking_tokens, last.thinking_tokens))


def _writes(seen: Counted, flags: dict[str, None]) -> tuple[int | None, int | None]:
    """The total belongs to the two lifetimes once: what the split does not cover counts as five-minute."""
    total, split = seen.cache_creation_input_tokens, seen.cache_creation
    short, long = (None, None) if split is None else (split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens)
    if total is None:
        return short, long
    if not total and short is None and long is None:
        return 0, 0
    rest = total - (short or 0) - (long or 0)
    if rest > 0:
        flags["write split unknown"] = None
    elif rest < 0:
        flags["write split exceeds total"] = None
    return (short or 0) + max(rest, 0), long or 0
