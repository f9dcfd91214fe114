"""Replies in a form: what a schema asks for is told by its shape, never by its names.

One list of texts is the question in parts. Of any other form every field is filled by what it is of: a text is the
answer, yes or no whether there was evidence for it, a number how much of the question the evidence covers, one of
several names that which the instructions describe as fitting the question. Dials make it worse on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import msgspec

from loadrig.simulator.choosing import choose
from loadrig.simulator.reader import FLOOR
from loadrig.simulator.request import Block
from loadrig.simulator.splitting import split


@dataclass(frozen=True, slots=True)
class Grasp:
    """What was made of a request: the answer to its question, the share of the question that the evidence covers, and
    what its instructions say. `misfiles`: the share of choices that are another one; `overconfident`: how far a number
    is moved to 1, 1 all the way."""

    question: str
    answer: str
    evidence: float
    instructions: str
    chance: Random
    misfiles: float = 0.0
    overconfident: float = 0.0


def in_parts(form: Block | None, question: str) -> str | None:
    """The JSON of a form that is one list of texts; None for another form, or none."""
    properties = form.get("properties") if form is not None else None
    if not isinstance(properties, dict) or len(properties) != 1:
        return None
    ((name, schema),) = properties.items()
    if not isinstance(schema, dict) or schema.get("type") != "array" or schema.get("items") != {"type": "string"}:
        return None
    return msgspec.json.encode({name: split(question)}).decode()


def filled(form: Block, grasp: Grasp) -> str:
    """The JSON of a form of any shape."""
    return msgspec.json.encode(_value(form, grasp)).decode()


def _value(schema: Block, grasp: Grasp) -> object:
    if kinds := [kind for kind in schema.get("enum", ()) if isinstance(kind, str)]:
        return _choice(kinds, f"{grasp.instructions} {schema.get('description', '')}", grasp)
    if schema.get("type") == "object":
        return {name: _value(of, grasp) for name, of in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [_value(schema["items"], grasp)]
    confidence = grasp.evidence + (1.0 - grasp.evidence) * grasp.overconfident
    plain = {"boolean": grasp.evidence >= FLOOR, "number": round(confidence, 2), "integer": round(confidence)}
    return plain.get(schema.get("type", ""), grasp.answer)


def _choice(kinds: list[str], instructions: str, grasp: Grasp) -> str:
    chosen = choose(kinds, instructions, grasp.question)
    others = [kind for kind in kinds if kind != chosen]
    return grasp.chance.choice(others) if others and grasp.chance.random() < grasp.misfiles else chosen
