"""Which calls of a run asked the endpoint to keep a prefix of their prompt, and which: read off the bytes on file.

A call asked when its body has the key `cache_control`; a text cannot hold it, for there its quotes are escaped. What it
asked to be kept is everything up to the last such key, and what stands at the body's end, for instructions and tools
come before all messages. How many tokens may be replied is no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType

from loadrig.words.prompt import Lifetime

ASKS = b'"cache_control":'
_HOUR = b'"ttl":"1h"'
LIFETIMES: Mapping[int, Lifetime] = MappingProxyType({300: "5m", 3600: "1h"})
"""By seconds."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix by the hash of its bytes; `share`: of all bytes of its prompt. `is_whole`: a conversation is kept as it
    stands, for its own next turn, so that others of the arm have other bytes."""

    digest: str
    lifetime_s: int
    share: float
    is_whole: bool


@dataclass(frozen=True, slots=True)
class _Mark:
    """Of a fragment with a breakpoint: what it comes to up to there."""

    digest: str
    size: int
    lifetime_s: int


class Prefixes:
    """Finds the prefix of a call; `prompts`: the fragments of the run's prompts, by hash."""

    def __init__(self, prompts: Mapping[str, bytes]) -> None:
        self._sizes: dict[str, int] = {}
        self._marks: dict[str, _Mark] = {}
        self._found: dict[tuple[str, ...], Prefix | None] = {}
        for digest, text in prompts.items():
            self._sizes[digest] = len(text)
            if ASKS in text:
                self._marks[digest] = _mark(text)

    def __bool__(self) -> bool:
        """Whether any call of the run asked."""
        return bool(self._marks)

    def of(self, prompt: tuple[str, ...]) -> Prefix | None:
        """What the call with these fragments asked to be kept; None for nothing."""
        if self._marks.keys().isdisjoint(prompt):
            return None
        if prompt not in self._found:
            self._found[prompt] = self._prefix(prompt)
        return self._found[prompt]

    def _prefix(self, prompt: tuple[str, ...]) -> Prefix:
        last = max(place for place, digest in enumerate(prompt) if digest in self._marks)
        mark, before = self._marks[prompt[last]], prompt[1:last]
        told = "\n".join((*before, mark.digest, prompt[-1]))
        sizes = [self._sizes.get(digest, 0) for digest in prompt]
        kept = sum(sizes[1:last]) + mark.size + sizes[-1]
        return Prefix(
            _digest(told.encode()), mark.lifetime_s, min(1.0, kept / max(1, sum(sizes))), last == len(prompt) - 1
        )


def _mark(text: bytes) -> _Mark:
    at = text.rindex(ASKS)
    end = text.index(b"}", at) + 1
    return _Mark(_digest(text[:end]), end, 3600 if _HOUR in text[at:end] else 300)


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=16).hexdigest()
