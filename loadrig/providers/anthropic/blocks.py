"""Content blocks of a streamed message: collected as they come, given back as text, tool calls and replayable JSON.

Rules: a block keeps every field of its opening, whatever its type, so that unknown ones survive a replay. Tool
arguments are joined raw and never re-serialised. Reasoning blocks keep their signature. An empty text block is left
out of a replay: the API rejects one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from loadrig.words.prompt import Citation, Said, ToolUse

_encode = msgspec.json.Encoder().encode


class Block:
    """One block: its opening object, and what deltas added. `parts` are text, thinking or argument pieces."""

    __slots__ = ("citations", "opening", "parts", "signature", "type")

    def __init__(self, opening: dict[str, Any]) -> None:
        self.opening = opening
        self.type = _string(opening.get("type"))
        self.parts: list[str] = []
        self.signature: str | None = None
        self.citations: list[Any] = []

    @property
    def text(self) -> str:
        return _string(self.opening.get("text")) + "".join(self.parts) if self.type == "text" else ""

    @property
    def thinking(self) -> str:
        return _string(self.opening.get("thinking")) + "".join(self.parts)

    @property
    def arguments(self) -> str:
        """Joined argument JSON as it came; that of the opening when no piece came; `{}` when there is none."""
        return "".join(self.parts) or _encode(self.opening.get("input") or {}).decode()

    def replay(self) -> Any:
        """The block as the next request must carry it; None for one that must be left out."""
        block = dict(self.opening)
        match self.type:
            case "text":
                block["text"] = self.text
                if self.citations:
                    block["citations"] = [*(block.get("citations") or ()), *self.citations]
                return block if block["text"] else None
            case "thinking":
                block["thinking"] = self.thinking
                if self.signature is not None:
                    block["signature"] = self.signature
            case _ if "input" in block or self.parts:
                block["input"] = _object(self.arguments)
        return block


def tool_uses(blocks: list[Block]) -> tuple[ToolUse, ...]:
    """Calls that we must execute, in the order the model made them (server-side tools are not ours)."""
    return tuple(
        ToolUse(_string(block.opening.get("id")), _string(block.opening.get("name")), block.arguments)
        for block in blocks
        if block.type == "tool_use"
    )


def citations(blocks: list[Block]) -> tuple[Citation, ...]:
    """Spans that the model's text is said to rest on, in its order; of a kind that names no span, none."""
    return tuple(
        Citation(cited["cited_text"], source if isinstance(source := cited.get("source"), str) else None)
        for block in blocks
        for cited in block.citations
        if isinstance(cited, dict) and isinstance(cited.get("cited_text"), str)
    )


def said(blocks: list[Block]) -> Said:
    """The assistant message's content as a JSON array, ready to be put into the next request."""
    return Said(_encode([block for made in blocks if (block := made.replay()) is not None]))


def _object(arguments: str) -> msgspec.Raw | dict[str, str]:
    """Valid JSON goes back as it came; what is not an object is wrapped, as the API wants one."""
    raw = arguments.encode()
    try:
        valid = isinstance(msgspec.json.decode(raw), dict)
    except (msgspec.DecodeError, RecursionError):
        valid = False
    return msgspec.Raw(raw) if valid else {"INVALID_JSON": arguments}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
