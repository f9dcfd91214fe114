"""A small made-up collection, a searcher over it and a loop that runs the simulated agent; tests only."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from simulated import document

from loadrig.simulator.reading import read
from loadrig.simulator.reply import Call
from loadrig.simulator.scenario import Scenario

Documents = dict[str, tuple[str, str]]  # id -> (date, text)

SWIM: Documents = {
    "rules": ("2030-01-05", "The pool opens at 7:00 every day. A lane may hold six swimmers. Towels are lent."),
    "note-1": ("2030-02-11", "Decision: the sauna is closed on Mondays. Brenner keeps the key of the sauna."),
    "note-2": ("2030-03-20", "Decision: the sauna is open on Mondays again. The door was painted."),
    "note-3": ("2030-04-02", "A lane may hold eight swimmers from now on, which replaces the old rule of six."),
    "note-4": ("2030-05-09", "The cafe sells soup. Nobody liked the colour of the chairs."),
}
TOOLS = [
    {"name": "list_documents", "description": "lists", "input_schema": {"type": "object", "properties": {}}},
    {
        "name": "search",
        "description": "finds",
        "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
    {
        "name": "read",
        "description": "shows",
        "input_schema": {"type": "object", "properties": {"document": {"type": "string"}}, "required": ["document"]},
    },
]


def shown(documents: Documents, *identities: str) -> str:
    """The documents between tags, all or those named."""
    chosen = identities or tuple(documents)
    return "\n".join(document(i, documents[i][1], date=documents[i][0]) for i in chosen)


def answer_of(question: str, documents: str, scenario: Scenario | None = None, attempt: str = "t1.1.1") -> str:
    """The text of the reader's answer to one prompt."""
    content = [{"type": "text", "text": documents}] if documents else []
    content.append({"type": "text", "text": f"Question: {question}"})
    reply = _ask({"messages": [{"role": "user", "content": content}]}, scenario or Scenario(), attempt)
    return "".join("".join(block.pieces) for block in reply.blocks)


def run_agent(question: str, documents: Documents, *, broken: str = "") -> tuple[list[tuple[str, Any]], str]:
    """(tool calls in order, final answer) with tools over `documents`; the tool named `broken` always fails."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Question: {question}"}]
    trace: list[tuple[str, Any]] = []
    for turn in range(12):
        reply = _ask({"messages": messages, "tools": TOOLS}, Scenario(), f"t1.{turn}.1")
        if reply.stop_reason != "tool_use":
            return trace, "".join("".join(block.pieces) for block in reply.blocks)
        uses, results = [], []
        for call in reply.blocks:
            assert isinstance(call, Call)
            arguments = msgspec.json.decode("".join(call.pieces))
            trace.append((call.name, arguments))
            uses.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
            text = _use(call.name, arguments, documents) if call.name != broken else None
            result = {"type": "tool_result", "tool_use_id": call.id, "content": text or "It failed."}
            results.append(result if text is not None else {**result, "is_error": True})
        messages = [*messages, {"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    raise AssertionError("the agent did not come to an end in 12 turns")


def _ask(body: dict[str, Any], scenario: Scenario, attempt: str) -> Any:
    data = msgspec.json.encode({"model": "m", "max_tokens": 4000, "stream": True, **body})
    reading = read(data, attempt, scenario)
    assert reading.refused is None, reading.refused
    return reading.reply


def _use(name: str, arguments: dict[str, str], documents: Documents) -> str | None:
    if name == "list_documents":
        return "\n".join(f"{i} | {date} | {i} | 20 tokens" for i, (date, _) in documents.items())
    if name == "read":
        identity = arguments["document"]
        return shown(documents, identity) if identity in documents else None
    wanted = set(re.findall(r"\w+", arguments["query"].lower()))
    scored = [(len(wanted & set(re.findall(r"\w+", text.lower()))), i) for i, (_, text) in documents.items()]
    best = [i for score, i in sorted(scored, key=lambda entry: -entry[0]) if score][:2]
    return shown(documents, *best) if best else "No document contains any of these words. Try other words."
