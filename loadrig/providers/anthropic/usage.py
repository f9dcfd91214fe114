"""Token counters of a streamed reply, merged.

Rules: the figures of the opening event and of later ones are cumulative. A later one that is present and positive
overwrites; null and zero do not; nothing is ever added. Missing stays None. An odd counter (negative, not a whole
number) is left out and flagged. Cache writes without a split by lifetime count as five-minute ones, and are flagged.
How the reply was served (tier, speed, place) stands in the opening event alone and is kept as it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loadrig.words.record import Usage

_WRITE = "cache_creation_input_tokens"
_WRITE_5M = "ephemeral_5m_input_tokens"
_WRITE_1H = "ephemeral_1h_input_tokens"
_SERVED = ("service_tier", "speed", "inference_geo")
_PLAIN = ("input_tokens", _WRITE, "cache_read_input_tokens", "output_tokens")


class UsageMeter:
    """Collects the usage objects of one stream in the order they came."""

    __slots__ = ("_final", "_flags", "_seen", "_served")

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._flags: dict[str, None] = {}  # a set that keeps its order
        self._final = False
        self._served: dict[str, str] = {}

    def take(self, usage: object, *, final: bool) -> None:
        """`final`: this comes from an event whose output figure is the reply's total so far, not a placeholder."""
        if not isinstance(usage, dict):
            return
        self._put(_PLAIN, usage)
        self._nested(usage, "cache_creation", (_WRITE_5M, _WRITE_1H))
        self._nested(usage, "output_tokens_details", ("thinking_tokens",))
        for name in _SERVED:
            if isinstance(word := usage.get(name), str):
                self._served[name] = word
        output = usage.get("output_tokens")
        if final and type(output) is int and output >= 0:
            self._final = True

    def total(self, *, complete: bool) -> Usage:
        """The merged counters; `exact` only when the reply is complete and its final output figure was given."""
        flags = dict(self._flags)
        write_5m, write_1h = self._writes(flags)
        if complete and not self._final:
            flags["no final output"] = None
        seen = self._seen.get
        return Usage(
            input=seen("input_tokens"),
            cache_write_5m=write_5m,
            cache_write_1h=write_1h,
            cache_read=seen("cache_read_input_tokens"),
            output=seen("output_tokens"),
            thinking=seen("thinking_tokens"),
            exact=complete and self._final,
            flags=tuple(flags),
            **self._served,
        )

    def _writes(self, flags: dict[str, None]) -> tuple[int | None, int | None]:
        """The total belongs to the two lifetimes once: what the split does not cover counts as five-minute."""
        total, short, long = self._seen.get(_WRITE), self._seen.get(_WRITE_5M), self._seen.get(_WRITE_1H)
        if total is None or (short is None and long is None and total == 0):
            return (short, long) if total is None else (0, 0)
        rest = total - (short or 0) - (long or 0)
        if rest > 0:
            flags["write split unknown"] = None
        elif rest < 0:
            flags["write split exceeds total"] = None
        return (short or 0) + max(rest, 0), long or 0

    def _nested(self, usage: Mapping[str, Any], key: str, names: tuple[str, ...]) -> None:
        inner = usage.get(key)
        if isinstance(inner, dict):
            self._put(names, inner)

    def _put(self, names: Iterable[str], source: Mapping[str, Any]) -> None:
        seen = self._seen
        for name in names:
            value = source.get(name)
            if type(value) is int and value >= 0:  # not a truth value, which is an int to isinstance
                if value or name not in seen:
                    seen[name] = value
            elif value is not None:
                label = name.removesuffix("_tokens").removesuffix("_input")
                is_negative = isinstance(value, int | float) and value < 0
                self._flags[f"negative {label}" if is_negative else f"odd {label}"] = None
