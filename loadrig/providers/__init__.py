"""Dialects: how a prompt becomes a request body and how streamed events become a reply, for one kind of endpoint.

A dialect is pure: no I/O, no clock. It meets `Dialect` below and has one line in `TABLE`; arms and wire never name
one. A second dialect needs its module and that line, nothing else: where its request head comes from stands in its
`Endpoint`, what ends its stream is for its reader to say.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol, cast

import msgspec

from loadrig.marks import Kind
from loadrig.words.errors import InputError
from loadrig.words.prompt import Citation, Prompt, Said, ToolUse
from loadrig.words.record import Usage
from loadrig.words.settings import ModelSettings, TokenLimit

TABLE: Mapping[str, str] = MappingProxyType({
    "anthropic": "loadrig.providers.anthropic.dialect:DIALECT",
    "openai": "loadrig.providers.openai.dialect:DIALECT",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a dialect is spoken. `base_url` is the provider's own; `path` is appended to whatever base is used.

    `key_variable` names the environment variable with the key. `head` is `module:attr` of the function that gives the
    request head (see `loadrig.wire.head`): text, so that nothing here imports upward. `count_path`, where there is one,
    answers a request's body less the keys `count_without` with `{"input_tokens": n}`. `keeps_on_request`: a prompt can
    say which prefix is to be kept; `cites`: blocks of found text can be cited by the endpoint itself. Where not, a body
    leaves the wish out, or shows the texts in another way. `limits`: names that the limit of a reply's tokens may have,
    where there are several.
    """

    base_url: str
    path: str
    key_variable: str
    head: str
    count_path: str | None = None
    count_without: tuple[str, ...] = ()
    keeps_on_request: bool = True
    cites: bool = True
    limits: tuple[TokenLimit, ...] = ()


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error as the endpoint words it. `code` is a finer machine-readable name, when there is one.

    `overloaded`, `rate_limited` and `spend_limit` translate the dialect's names; a spend limit never passes by waiting.
    `hint` is ours: what the code means for a load test.
    """

    type: str
    message: str
    code: str | None = None
    overloaded: bool = False
    rate_limited: bool = False
    spend_limit: bool = False
    hint: str | None = None

    @property
    def told(self) -> str:
        """Type and message, then code and hint, for a reader of the record; empty when the endpoint said nothing."""
        told = f"{self.type}: {self.message}" if self.type else self.message
        if self.code is None:
            return f"{told} ({self.hint})" if self.hint else told
        return f"{told} ({self.code}: {self.hint})" if self.hint else f"{told} ({self.code})"


class Heard(msgspec.Struct, frozen=True, gc=False):
    """What a reader has understood so far; the whole reply when `complete`.

    `stop` is `stop_reason` mapped; None as long as there is none. `stop_details` is JSON text as given. `malformed`
    says what made the stream unreadable. `hidden_thinking`: the model thought, and (some of) it was not shown. `id`:
    the endpoint's name for this one reply.
    """

    text: str
    tool_uses: tuple[ToolUse, ...]
    said: Said
    complete: bool
    usage: Usage
    stop: Literal["end", "tools", "max_tokens", "refusal", "other"] | None = None
    stop_reason: str | None = None
    stop_details: str | None = None
    model: str | None = None
    hidden_thinking: bool = False
    error: ApiError | None = None
    malformed: str | None = None
    notes: tuple[str, ...] = ()
    id: str | None = None
    citations: tuple[Citation, ...] = ()


class Reader(Protocol):
    """Reads one reply. `feed` never raises: what it cannot understand is kept, or ends the stream as malformed."""

    @property
    def ended(self) -> bool:
        """True once nothing of interest can follow: the reply's own end, an error event, an unreadable event."""
        ...

    def feed(self, payload: bytes) -> Kind:
        """Takes one event's payload and says what it was."""
        ...

    def heard(self) -> Heard:
        """May be asked at any time; what a broken stream left is in it too."""
        ...


class Dialect(Protocol):
    """One page that every part above relies on."""

    @property
    def endpoint(self) -> Endpoint: ...

    def body(self, prompt: Prompt, model: ModelSettings) -> tuple[bytes, ...]:
        """The request body in fragments whose join is the JSON text. Static parts are serialised once and come back
        as the same object; a longer conversation's fragments begin with those of the shorter one."""
        ...

    def reader(self) -> Reader: ...

    def error(self, body: bytes) -> ApiError:
        """Understands the body of a reply with an error status; whatever it is, some text of it comes back."""
        ...


def load(name: str) -> Dialect:
    """The dialect called `name` in the table, or `module:attr`. Raises `InputError` for a name not in it."""
    place = name if ":" in name else TABLE.get(name)
    if place is None:
        raise InputError(f"unknown provider {name!r}", remedy=f"use one of: {', '.join(sorted(TABLE))}")
    module, _, attribute = place.partition(":")
    return cast("Dialect", getattr(importlib.import_module(module), attribute))
