"""Token counters of a streamed chat completion, merged.

Rules: figures are cumulative. A later one that is present and positive overwrites; null and zero do not; nothing is
ever added, though some servers repeat them in every chunk. Missing stays None. An odd counter (negative, not a whole
number) is left out and flagged. The figures are final when they come with the finish reason or behind it.

`prompt_tokens` has the cached tokens in it, so uncached input = prompt - cached - written. Reasoning lies inside
`completion_tokens`; a server whose `total_tokens` shows that it counted it beside them is put right, and flagged. What
was written to a cache has no lifetime here: it counts as five minutes, and is flagged.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

import msgspec

from loadrig.providers.foreign import mapping
from loadrig.words.record import Usage

_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Prompt(msgspec.Struct, frozen=True, gc=False):
    cached_tokens: _Count | None = None
    cache_write_tokens: _Count | None = None
    cache_creation_tokens: _Count | None = None


class _Completion(msgspec.Struct, frozen=True, gc=False):
    reasoning_tokens: _Count | None = None


class Counted(msgspec.Struct, frozen=True, gc=False):
    """A usage object as the API describes it, if nothing in it is odd; what is not named here is passed over."""

    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    total_tokens: _Count | None = None
    prompt_tokens_details: _Prompt | None = None
    completion_tokens_details: _Completion | None = None


# The API's names, and what they are called in a flag.
_PLAIN: Mapping[str, str] = MappingProxyType(
    {"prompt_tokens": "input", "completion_tokens": "output", "total_tokens": "total"}
)
_OF_PROMPT: Mapping[str, str] = MappingProxyType({
    "cached_tokens": "cache_read",
    "cache_write_tokens": "cache_write",
    "cache_creation_tokens": "cache_write",  # as gateways call it
})  # fmt: skip
_OF_COMPLETION: Mapping[str, str] = MappingProxyType({"reasoning_tokens": "thinking"})
_WRITTEN = "write split unknown"
_BESIDE = "thinking counted beside output"


class UsageMeter:
    """Collects the usage objects of one stream in the order they came."""

    __slots__ = ("_final", "_flags", "_seen")

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._flags: dict[str, None] = {}  # a set that keeps its order
        self._final = False

    def take(self, counted: Counted, *, final: bool) -> None:
        """`final`: the reply had said by then why it ended, so nothing will be generated any more."""
        prompt, completion = counted.prompt_tokens_details, counted.completion_tokens_details
        self._keep("input", counted.prompt_tokens)
        self._keep("output", counted.completion_tokens)
        self._keep("total", counted.total_tokens)
        if prompt is not None:
            self._keep("cache_read", prompt.cached_tokens)
            self._keep("cache_write", prompt.cache_write_tokens)
            self._keep("cache_write", prompt.cache_creation_tokens)
        if completion is not None:
            self._keep("thinking", completion.reasoning_tokens)
        if final and counted.completion_tokens is not None:
            self._final = True

    def take_any(self, usage: object, *, final: bool) -> None:
        """Like `take`, of JSON that may hold anything: what is odd is left out, and flagged."""
        if not isinstance(usage, dict):
            return
        self.take(
            Counted(
                **self._tidy(_PLAIN, usage),
                prompt_tokens_details=_Prompt(**self._tidy(_OF_PROMPT, usage.get("prompt_tokens_details"))),
                completion_tokens_details=_Completion(
                    **self._tidy(_OF_COMPLETION, usage.get("completion_tokens_details"))
                ),
            ),
            final=final,
        )

    @property
    def thinking(self) -> int:
        """Reasoning tokens reported so far."""
        return self._seen.get("thinking", 0)

    def total(self, *, complete: bool, generated: bool = False) -> Usage:
        """The merged counters; `exact` only when the reply is complete and its final figures were given. `generated`:
        the reply has something in it, so that an output of 0 is none that was counted."""
        seen, flags = self._seen, dict(self._flags)
        output, thinking = seen.get("output"), seen.get("thinking")
        if output is not None and thinking and seen.get("total") == seen.get("input", 0) + output + thinking:
            output += thinking
            flags[_BESIDE] = None
        written = seen.get("cache_write")
        if written:
            flags[_WRITTEN] = None
        counted = self._final and not (generated and output == 0)
        if complete and not counted:
            flags["output not counted" if self._final else "no final output"] = None
        return Usage(
            input=self._uncached(flags),
            cache_write_5m=written,
            cache_write_1h=None if written is None else 0,
            cache_read=seen.get("cache_read"),
            output=output,
            thinking=thinking,
            exact=complete and counted,
            flags=tuple(flags),
        )

    def _uncached(self, flags: dict[str, None]) -> int | None:
        """What of the prompt no cache had a part in. Where the parts exceed the whole it was told without them."""
        prompt = self._seen.get("input")
        if prompt is None:
            return None
        rest = prompt - self._seen.get("cache_read", 0) - self._seen.get("cache_write", 0)
        if rest < 0:
            flags["cached exceeds input"] = None
        return rest if rest >= 0 else prompt

    def _keep(self, name: str, value: int | None) -> None:
        if value or (value is not None and name not in self._seen):
            self._seen[name] = value

    def _tidy(self, names: Mapping[str, str], source: object) -> dict[str, int]:
        """The counters of those names that are whole numbers from 0."""
        kept: dict[str, int] = {}
        for name, label in names.items():
            value = mapping(source).get(name)
            if type(value) is int and value >= 0:  # not a truth value, which is an int to isinstance
                kept[name] = value
            elif value is not None:
                is_negative = isinstance(value, int | float) and value < 0
                self._flags[f"negative {label}" if is_negative else f"odd {label}"] = None
        return kept
