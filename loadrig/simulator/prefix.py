"""The prompt as a cache sees it: cumulative tokens and a running digest at each block, tools first, then system.

Two prompts share a prefix when every byte up to the breakpoint is the same. It knows nothing of time, of keys or
of what is cached.
"""

from __future__ import annotations

import hashlib

import msgspec

from loadrig.simulator.counting import MESSAGE_OVERHEAD, TOOLS_OVERHEAD, block_weight, tokens
from loadrig.simulator.request import BadRequestError, Block, Request

LOOKBACK_BLOCKS = 20
"""How far before a breakpoint an entry written by an earlier request may lie and still be found."""


class Point(msgspec.Struct, frozen=True):
    """The prompt up to and with one block: its digest and its tokens."""

    digest: bytes
    tokens: int


class Breakpoint(msgspec.Struct, frozen=True):
    """A place the request marked as cacheable; `points` reach back from it, itself first."""

    lifetime_s: int
    points: tuple[Point, ...]


class Prefixes(msgspec.Struct, frozen=True):
    """All tokens of the prompt and its breakpoints in order."""

    tokens: int
    breakpoints: tuple[Breakpoint, ...] = ()


def prefixes(request: Request, ratio: float) -> Prefixes:
    """Walk the prompt once. Raises BadRequestError for a cache_control that is not of a known kind."""
    running = hashlib.sha256(request.model.encode())
    total = float(TOOLS_OVERHEAD) if request.tools else 0.0
    points: list[Point] = []
    marks: list[tuple[int, int]] = []
    for place, block in _walk(request):
        if place == "message":
            total += MESSAGE_OVERHEAD
            continue
        total += block_weight(block)
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        running.update(place.encode() + msgspec.json.encode(bare))
        points.append(Point(running.copy().digest(), tokens(total, ratio)))
        if block.get("cache_control") is not None:
            marks.append((len(points) - 1, _lifetime_s(block["cache_control"])))
    if request.automatic_cache is not None and points:
        marks.append((len(points) - 1, _lifetime_s(request.automatic_cache)))
    found = tuple(
        Breakpoint(lifetime_s, tuple(reversed(points[max(0, at - LOOKBACK_BLOCKS) : at + 1])))
        for at, lifetime_s in marks
    )
    return Prefixes(tokens(total, ratio), found)


def _walk(request: Request) -> list[tuple[str, Block]]:
    walk: list[tuple[str, Block]] = [("tools", block) for block in request.tools]
    walk += [("system", block) for block in request.system]
    for message in request.messages:
        walk.append(("message", {}))
        walk += [(message.role, block) for block in message.blocks]
    return walk


def _lifetime_s(control: object) -> int:
    if not isinstance(control, dict) or control.get("type") != "ephemeral":
        raise BadRequestError("cache_control.type: Input should be 'ephemeral'")
    lifetime = control.get("ttl", "5m")
    if lifetime not in ("5m", "1h"):
        raise BadRequestError("cache_control.ttl: Input should be '5m' or '1h'")
    return 300 if lifetime == "5m" else 3600
