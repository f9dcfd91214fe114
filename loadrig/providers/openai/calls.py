"""Tool calls of a streamed chat completion: pieces put together, whatever way a server cuts and numbers them.

Rules: pieces belong together by their index. A piece without an index is of the last call, unless it has a name and
not that call's id. A piece that brings a name and another id than its index has begins a call of its own, and so does
one that brings a name and an object where there is a whole one already: some servers send every call under index 0.
Arguments are joined raw and never re-serialised. A call without an id, or with one that an earlier call has, gets one
of ours, because a result finds its call by it. The old `function_call` is a call too.
"""

from __future__ import annotations

from typing import Any

import msgspec

from loadrig.providers.foreign import UNREADABLE
from loadrig.words.prompt import ToolUse

_encode = msgspec.json.Encoder().encode


class Function(msgspec.Struct, frozen=True, gc=False):
    """Of a piece: the name, and some of the arguments."""

    name: str | None = None
    arguments: str | None = None


class Piece(msgspec.Struct, frozen=True, gc=False):
    """One delta of one call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None


class _Call:
    __slots__ = ("id", "name", "parts")

    def __init__(self) -> None:
        self.id = self.name = ""
        self.parts: list[str] = []


class Calls:
    """The calls of one reply, in the order in which they began."""

    __slots__ = ("_at", "_calls")

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, piece: Piece) -> tuple[bool, bool]:
        """Whether it began a call, and whether it brought arguments."""
        function = piece.function or Function()
        name, arguments = function.name or "", function.arguments or ""
        call = self._continued(piece, name, arguments)
        is_new = call is None
        if call is None:
            call = _Call()
            self._calls.append(call)
            if piece.index is not None:
                self._at[piece.index] = call
        call.id = call.id or piece.id or ""
        if name != call.name:  # said again in every piece by some, in pieces by others
            call.name += name
        if arguments:
            call.parts.append(arguments)
        return is_new, bool(arguments)

    def _continued(self, piece: Piece, name: str, arguments: str) -> _Call | None:
        last = self._calls[-1] if self._calls else None
        call = last if piece.index is None else self._at.get(piece.index)
        if call is None or not name:
            return call
        is_same = piece.id == call.id if piece.id and call.id else piece.index is not None
        is_next = arguments.lstrip().startswith("{") and _is_object("".join(call.parts))
        return call if is_same and not is_next else None

    def uses(self) -> tuple[tuple[ToolUse, ...], bool]:
        """The calls to be executed, each with an id of its own, and whether some of these are ours."""
        taken = {call.id for call in self._calls}
        used: set[str] = set()
        found, number = [], 0
        for call in self._calls:
            identity = call.id
            while not identity or identity in used:
                number += 1
                identity = f"call_{number}" if f"call_{number}" not in taken else ""
            used.add(identity)
            found.append(ToolUse(identity, call.name, "".join(call.parts) or "{}"))
        return tuple(found), number > 0


def replayed(use: ToolUse) -> dict[str, Any]:
    """The call as the next request must carry it: its arguments as they came, or wrapped where they are no object."""
    function = {"name": use.name, "arguments": _object(use.arguments)}
    return {"id": use.id, "type": "function", "function": function}


def _object(arguments: str) -> str:
    return arguments if _is_object(arguments) else _encode({"INVALID_JSON": arguments}).decode()


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(arguments.encode()), dict)
    except UNREADABLE:
        return False
