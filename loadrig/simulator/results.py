"""Search results: blocks of found text in a prompt or in what a tool gave back, told apart by number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from loadrig.simulator.documents import Result, Source, parse
from loadrig.simulator.request import Message

_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
NONE = "-"
"""In place of a tool call's id where a block stood in the prompt itself."""


def results_of(messages: tuple[Message, ...]) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Every search result of a conversation in order: the id of the tool call that gave it, the block, its number."""
    number = 0
    for message in messages:
        for block in message.blocks:
            call = str(block.get("tool_use_id")) if block["type"] == "tool_result" else NONE
            content = block.get("content") if block["type"] == "tool_result" else [block]
            for inner in content if isinstance(content, list) else []:
                if isinstance(inner, dict) and inner.get("type") == "search_result":
                    yield call, inner, number
                    number += 1


def source_of(block: dict[str, Any], number: int, order: int) -> Source:
    """A search result as a source. Its date is the day in its title, if there is one."""
    title, texts = str(block.get("title", "")), tuple(_texts(block.get("content")))
    day = _DAY.search(title)
    citable = bool((block.get("citations") or {}).get("enabled"))
    return Source(
        order, str(block.get("source", "")), day[0] if day else None, title, parse("\n\n".join(texts)),
        result=Result(number, title, texts) if citable else None,
    )  # fmt: skip


def _texts(content: object) -> Iterator[str]:
    for piece in content if isinstance(content, list) else []:
        if isinstance(piece, dict) and piece.get("type") == "text":
            yield str(piece.get("text", ""))
