"""Schemas as request bodies hold them."""

from __future__ import annotations

import msgspec


def compact(schema: str) -> bytes:
    """JSON text of a schema without white space, keys in the order given."""
    return msgspec.json.format(schema.encode(), indent=-1)
