"""Replies in a form: what a schema asks for is told by its shape, never by its names.

One list of texts is the question in parts. A form of another shape is left to others.
"""

from __future__ import annotations

import msgspec

from loadrig.simulator.request import Block
from loadrig.simulator.splitting import split


def in_parts(form: Block | None, question: str) -> str | None:
    """The JSON of a form that is one list of texts; None for another form, or none."""
    properties = form.get("properties") if form is not None else None
    if not isinstance(properties, dict) or len(properties) != 1:
        return None
    ((name, schema),) = properties.items()
    if not isinstance(schema, dict) or schema.get("type") != "array" or schema.get("items") != {"type": "string"}:
        return None
    return msgspec.json.encode({name: split(question)}).decode()
