"""What an arm says to a model and what comes back, free of any provider's dialect.

A conversation is append-only: an arm adds messages behind those already sent and never changes one, because
providers cache, and bind reasoning blocks to, the exact prefix. `Said` is therefore opaque: the assistant's
content exactly as the dialect must replay it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

Lifetime = Literal["5m", "1h"]


class Part(msgspec.Struct, frozen=True, gc=False):
    """A block of user text. `static` says that the same text goes out in many trials (serialised once); `cache` that
    the endpoint is to keep the prompt up to the end of this block for so long."""

    text: str
    static: bool = False
    cache: Lifetime | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A found text as a block of its own, which the model can cite: `source` is the document's id, `texts` its pieces,
    each of them the smallest thing that can be pointed to."""

    source: str
    title: str
    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def static(self) -> bool:
        return False  # what was found for one question


class Ask(msgspec.Struct, frozen=True, gc=False):
    """A user message of one or more blocks; what varies from question to question comes last."""

    parts: tuple[Part | SearchResult, ...]


class Said(msgspec.Struct, frozen=True, gc=False):
    """The assistant's message as the dialect gave it (JSON of its content), to be replayed verbatim."""

    content: bytes


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one tool call, matched by its id. `shown` takes the place of `text` when there is any."""

    call_id: str
    text: str
    is_error: bool = False
    shown: tuple[SearchResult, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResults:
    """All results of one turn in one user message, results before any text."""

    results: tuple[ToolResult, ...]
    text: str | None = None


Message = Ask | Said | ToolResults


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool offered to the model; `schema` is JSON text of an object schema, fixed bytes for every trial."""

    name: str
    description: str
    schema: str


class Prompt(msgspec.Struct, frozen=True, gc=False):
    """One call's whole input. Corpus text never goes into `system`. `form` is JSON text of a schema that the reply's
    text must meet; `max_tokens` takes the place of the model's own; `cache`: how long the endpoint is to keep the whole
    of it, for the next turn of the conversation."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    form: str | None = None
    max_tokens: int | None = None
    cache: Lifetime | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call the model made. `arguments` is the joined raw JSON text (`{}` when there was none)."""

    id: str
    name: str
    arguments: str


class Citation(msgspec.Struct, frozen=True, gc=False):
    """A span the model says it relies on: `text` as it cites it, `source` the document's id it names for it. Whether
    the span stands in what was sent is found out by whoever reads the records."""

    text: str
    source: str | None = None


class Reply(msgspec.Struct, frozen=True, gc=False):
    """A complete reply. `stop` is the dialect's stop reason mapped to ours; unknown ones are `other`. `citations` are
    those the endpoint itself gave. `tokens`: of prompt and output of the turn, as far as they were reported; None:
    nothing was."""

    text: str
    stop: Literal["end", "tools", "max_tokens", "refusal", "other"]
    tool_uses: tuple[ToolUse, ...]
    said: Said
    citations: tuple[Citation, ...] = ()
    tokens: int | None = None
