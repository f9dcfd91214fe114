"""What replies tell of the limits that a model's requests run under: the limit, and what is left of it. Pure.

Two ways of naming them are read: `anthropic-ratelimit-input-tokens-remaining` and `x-ratelimit-remaining-tokens`.
Kinds: requests, tokens (all, or the tightest limit in force), input_tokens, output_tokens. A header whose value is no
whole number tells nothing. The newest reply of a model counts, by when its attempt began. What was left a minute ago
says nothing any more: limits are filled up again by the minute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from loadrig.words.record import Record

KEPT_NS = 60_000_000_000
_KIND = "(?P<kind>requests|tokens|input-tokens|output-tokens)"
_SIDE = "(?P<side>limit|remaining)"
_HEADER = (
    re.compile(f"anthropic-ratelimit-{_KIND}-{_SIDE}"),
    re.compile(f"x-ratelimit-{_SIDE}-{_KIND}"),
)
_WHOLE = re.compile(r"\d{1,15}")


@dataclass(frozen=True, slots=True)
class Left:
    """Of one kind: what is allowed a minute and what is left of that; null when a reply did not tell."""

    limit: int | None = None
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    began_at: str
    heard_ns: int
    left: dict[str, Left]


class Headroom:
    """The newest reading of each model. Times are passed in."""

    def __init__(self) -> None:
        self._readings: dict[str, _Reading] = {}

    def record(self, record: Record, now_ns: int) -> None:
        for turn in record.turns:
            for attempt in turn.attempts:
                known = self._readings.get(record.model)
                if not attempt.rate_limit or (known is not None and known.began_at > attempt.began_at):
                    continue
                if left := told(attempt.rate_limit):
                    self._readings[record.model] = _Reading(attempt.began_at, now_ns, left)

    def left(self, now_ns: int) -> dict[tuple[str, str], Left]:
        """By model and kind, as far as replies of the last minute told."""
        return {
            (model, kind): left
            for model, reading in self._readings.items()
            if now_ns - reading.heard_ns < KEPT_NS
            for kind, left in reading.left.items()
        }


def told(headers: Iterable[tuple[str, str]]) -> dict[str, Left]:
    """What a reply's headers say, by kind; empty when they say nothing."""
    sides: dict[str, dict[str, int]] = {}
    for name, value in headers:
        found = _HEADER[0].fullmatch(name) or _HEADER[1].fullmatch(name)
        if found is not None and _WHOLE.fullmatch(value.strip()):
            sides.setdefault(found["kind"].replace("-", "_"), {})[found["side"]] = int(value)
    return {kind: Left(**given) for kind, given in sides.items()}
