"""What the simulator will say: blocks of text or tool calls, before any of it is put on the wire.

`Reading` is everything that follows from the request alone (and the attempt's seed): it may be worked out in
another process. Nothing here knows of time, of other requests or of HTTP.
"""

from __future__ import annotations

import msgspec

from loadrig.simulator.prefix import Prefixes


class Cited(msgspec.Struct, frozen=True):
    """A citation of a search result: its number, the pieces from `start` to before `end`, and what is said of them."""

    result: int
    start: int
    end: int
    text: str
    source: str
    title: str


class Text(msgspec.Struct, frozen=True, tag=True):
    """Answer text, one token a piece, and what it cites. Of its `spans`, in blocks or in the text itself, so many were
    planted: made up, or put under another source's name."""

    pieces: tuple[str, ...]
    citations: tuple[Cited, ...] = ()
    spans: int = 0
    fabricated: int = 0
    misplaced: int = 0


class Call(msgspec.Struct, frozen=True, tag=True):
    """One tool call; `pieces` joined are the JSON of its input."""

    id: str
    name: str
    pieces: tuple[str, ...]


class Reply(msgspec.Struct, frozen=True):
    """A reply as the model would give it. `thinking_tokens` come first and their text is omitted."""

    stop_reason: str
    blocks: tuple[Text | Call, ...] = ()
    thinking_tokens: int = 0

    @property
    def output_tokens(self) -> int:
        """Thinking, one a piece, and three for opening each tool call."""
        return self.thinking_tokens + sum(len(b.pieces) + (3 if isinstance(b, Call) else 0) for b in self.blocks)


class Reading(msgspec.Struct, frozen=True):
    """A request read: either `refused` (the text of a 400) or what it asked for and the reply to it."""

    refused: str | None = None
    model: str = ""
    stream: bool = False
    prompt: Prefixes = Prefixes(0)
    reply: Reply = Reply("end_turn")
    wants_usage: bool = True


def cut_to(reply: Reply, max_tokens: int) -> Reply:
    """The reply as `max_tokens` lets it through: thinking counts, and a cut reply says so in its stop reason."""
    if reply.output_tokens <= max_tokens:
        return reply
    left = max_tokens - min(reply.thinking_tokens, max_tokens)
    blocks: list[Text | Call] = []
    for block in reply.blocks:
        if left <= 0 or isinstance(block, Call):
            break  # a tool call cut in half would not be valid input: it is dropped whole
        blocks.append(block if len(block.pieces) <= left else Text(block.pieces[:left]))
        left -= len(block.pieces)
    return Reply("max_tokens", tuple(blocks), min(reply.thinking_tokens, max_tokens))
