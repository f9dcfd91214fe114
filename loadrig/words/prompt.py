"""What an arm says to a model and what comes back, free of any provider's dialect.

A conversation is append-only: an arm adds messages behind those already sent and never changes one, because
providers cache, and bind reasoning blocks to, the exact prefix. `Said` is therefore opaque: the assistant's
content exactly as the dialect must replay it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec


@dataclass(frozen=True, slots=True)
class Part:
    """A block of user text. `static` says that the same text goes out in many trials (serialised once)."""

    text: str
    static: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """A user message of one or more text blocks; what varies from question to question comes last."""

    parts: tuple[Part, ...]


class Said(msgspec.Struct, frozen=True, gc=False):
    """The assistant's message as the dialect gave it (JSON of its content), to be replayed verbatim."""

    content: bytes


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one tool call, matched by its id."""

    call_id: str
    text: str
    is_error: bool = False


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


@dataclass(frozen=True, slots=True)
class Prompt:
    """One call's whole input. Corpus text never goes into `system`."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call the model made. `arguments` is the joined raw JSON text (`{}` when there was none)."""

    id: str
    name: str
    arguments: str


class Reply(msgspec.Struct, frozen=True, gc=False):
    """A complete reply. `stop` is the dialect's stop reason mapped to ours; unknown ones are `other`."""

    text: str
    stop: Literal["end", "tools", "max_tokens", "refusal", "other"]
    tool_uses: tuple[ToolUse, ...]
    said: Said
