"""The simulator's own count of tokens: a rule by kinds of bytes, nobody's tokenizer.

Letters weigh a fifth of a token, digits a half, punctuation and line ends most of one, other bytes a third, blanks
nothing. On ordinary prose and code the sum comes near a modern tokenizer's; a scenario's `token_ratio` is laid on
top, so that a client's estimate is never right by accident. One pass of C code a kind: a megabyte takes a few
milliseconds.
"""

from __future__ import annotations

import math
import re
import string
from typing import Any

import msgspec

_LETTERS = string.ascii_letters.encode()
_DIGITS = string.digits.encode()
_BLANKS = b" \t\r"
_MARKS = (string.punctuation + "\n").encode()
_PER_LETTER, _PER_DIGIT, _PER_MARK, _PER_OTHER = 0.205, 0.45, 0.62, 0.35

MESSAGE_OVERHEAD = 4
TOOLS_OVERHEAD = 286
"""Tokens the API's hidden tool prompt adds when any tool is offered."""

_PIECE = re.compile(r"\s*[^\W\d_]{1,6}|\s*\d{1,3}|\s*[\W_]|\s+", re.UNICODE)


def weight(text: str) -> float:
    """Tokens in `text` before the scenario's ratio and before rounding."""
    data = text.encode("utf-8", "surrogatepass")
    size = len(data)
    letters = size - len(data.translate(None, _LETTERS))
    digits = size - len(data.translate(None, _DIGITS))
    blanks = size - len(data.translate(None, _BLANKS))
    marks = size - len(data.translate(None, _MARKS))
    others = size - letters - digits - blanks - marks
    return _PER_LETTER * letters + _PER_DIGIT * digits + _PER_MARK * marks + _PER_OTHER * others


def block_weight(block: dict[str, Any]) -> float:
    """Tokens in a content block: its text, a tool's JSON, or the blocks inside a tool result."""
    kind = block.get("type")
    if kind == "text":
        return weight(block["text"])
    if kind == "tool_result":
        content = block.get("content", "")
        inner = weight(content) if isinstance(content, str) else sum(block_weight(part) for part in content)
        return inner + MESSAGE_OVERHEAD
    if kind in ("thinking", "redacted_thinking"):
        return 0.0
    if kind == "search_result":
        found = block.get("content")
        told = weight(f"{block.get('source', '')} {block.get('title', '')}")
        return told + (sum(block_weight(part) for part in found) if isinstance(found, list) else 0.0)
    return weight(msgspec.json.encode({key: block[key] for key in block if key != "cache_control"}).decode())


def tokens(weight_sum: float, ratio: float) -> int:
    """Whole tokens for a sum of weights."""
    return math.ceil(weight_sum * ratio)


def pieces(text: str) -> list[str]:
    """The text cut into what the simulator streams, one token an event; joined they are the text again."""
    return _PIECE.findall(text)
