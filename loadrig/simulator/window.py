"""A context window that is smaller than it says: what does not fit is dropped, and nobody is told.

Dropped is user text, as one: from its top, so that the last of it stays, or from its middle, so that both ends do.
System, tools and what tools gave back stay whole. Sizes are tokens by the simulator's own count.
"""

from __future__ import annotations

from dataclasses import replace

from loadrig.simulator.counting import tokens, weight
from loadrig.simulator.request import Message, Request, user_texts
from loadrig.simulator.scenario import Scenario


def cut(request: Request, scenario: Scenario) -> Request:
    """The request as the window lets it through; the same one when it fits or the window is whole."""
    if not scenario.window_tokens:
        return request
    whole = "".join(user_texts(request.messages))
    if tokens(weight(whole), scenario.token_ratio) <= scenario.window_tokens:
        return request
    if scenario.window_drops == "top":
        gone = (0, len(whole) - _longest(whole, scenario.window_tokens, scenario.token_ratio, from_end=True))
    else:
        half = scenario.window_tokens / 2
        head = _longest(whole, half, scenario.token_ratio, from_end=False)
        gone = (head, len(whole) - _longest(whole, half, scenario.token_ratio, from_end=True))
    return _without(request, *gone)


def _longest(text: str, most_tokens: float, ratio: float, *, from_end: bool) -> int:
    """Characters of the longest beginning (or end) of a text that has at most so many tokens."""
    least, most = 0, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        piece = text[len(text) - middle :] if from_end else text[:middle]
        if weight(piece) * ratio <= most_tokens:
            least = middle
        else:
            most = middle - 1
    return least


def _without(request: Request, begin: int, end: int) -> Request:
    """The request less the characters from `begin` to `end` of all its user text; a block left empty goes."""
    at = 0
    messages = []
    for message in request.messages:
        blocks = []
        for block in message.blocks:
            if message.role != "user" or block["type"] != "text":
                blocks.append(block)
                continue
            text = block["text"]
            kept = text[: max(0, begin - at)] + text[max(0, end - at) :]
            at += len(text)
            if kept:
                blocks.append({**block, "text": kept})
        messages.append(Message(message.role, tuple(blocks)))
    return replace(request, messages=tuple(messages))
