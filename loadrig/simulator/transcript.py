"""What an agent's conversation holds so far: tool calls, their results, and the documents those showed.

Everything is read off the messages of the request; nothing is remembered between requests. A document read whole
replaces the passages of it that searches showed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from loadrig.simulator.documents import Source, find_documents, parse
from loadrig.simulator.request import Message
from loadrig.simulator.results import results_of, source_of


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of one kind: its name and the parameter that takes the query or the document."""

    name: str
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class Toolset:
    """The tools the reader can use, told apart by their parameters and names."""

    search: Tool | None = None
    read: Tool | None = None
    listing: Tool | None = None


@dataclass(slots=True)
class Transcript:
    """`turns` counts the assistant's messages; `listed` maps ids to the text of their line in a listing."""

    turns: int = 0
    queries: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    """Ids of documents that were asked for, whether or not they came."""
    failed: set[str] = field(default_factory=set)
    """Names of tools whose last call was an error."""
    listings: int = 0
    listed: dict[str, str] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    is_told_to_answer: bool = False
    """The last results refused a call and said to answer now."""


_ANSWER = re.compile(r"\banswer now\b", re.IGNORECASE)
_QUERY = ("query", "q", "text", "terms", "keywords", "pattern", "words")
_DOCUMENT = ("document", "document_id", "doc", "doc_id", "id", "path", "file", "name")


def toolset(tools: tuple[dict[str, Any], ...]) -> Toolset:
    """Tell search, read and list tools apart; tools of other kinds are left alone."""
    search = read = listing = None
    for tool in tools:
        name, schema = str(tool.get("name", "")), tool.get("input_schema") or {}
        properties = schema.get("properties") or {}
        query = next((key for key in _QUERY if key in properties), None)
        document = next((key for key in _DOCUMENT if key in properties), None)
        if query is not None:
            search = search or Tool(name, query)
        elif document is not None:
            read = read or Tool(name, document)
        elif "list" in name.lower() and not schema.get("required"):
            listing = listing or Tool(name)
    return Toolset(search, read, listing)


def transcribe(messages: tuple[Message, ...], tools: Toolset, given: list[Source]) -> Transcript:
    """Read the conversation from its start; `given` are documents the first message already held."""
    transcript = Transcript(sources=list(given))
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    shown: dict[str, list[tuple[dict[str, Any], int]]] = {}
    for call, result, number in results_of(messages):
        shown.setdefault(call, []).append((result, number))
    for message in messages:
        if message.role == "assistant":
            transcript.turns += 1
        for block in message.blocks:
            if block["type"] == "tool_use":
                calls[block["id"]] = (block["name"], block.get("input") or {})
            elif block["type"] == "tool_result" and block.get("tool_use_id") in calls:
                name, arguments = calls[block["tool_use_id"]]
                found = shown.get(block["tool_use_id"], [])
                _note(transcript, tools, name, arguments=arguments, block=block, shown=found)
    transcript.is_told_to_answer = any(
        block["type"] == "tool_result" and block.get("is_error") and _ANSWER.search(_text(block.get("content", "")))
        for block in messages[-1].blocks
    )
    return transcript


def _note(
    transcript: Transcript, tools: Toolset, name: str, *,
    arguments: dict[str, Any], block: dict[str, Any], shown: list[tuple[dict[str, Any], int]],
) -> None:  # fmt: skip
    text, failed = _text(block.get("content", "")), bool(block.get("is_error"))
    (transcript.failed.add if failed else transcript.failed.discard)(name)
    if tools.search is not None and name == tools.search.name:
        transcript.queries.append(str(arguments.get(tools.search.parameter, "")))
    elif tools.read is not None and name == tools.read.name:
        identity = str(arguments.get(tools.read.parameter, ""))
        transcript.asked.add(identity)
        if not failed:
            transcript.sources = [source for source in transcript.sources if source.id != identity]
    elif tools.listing is not None and name == tools.listing.name:
        transcript.listings += 1
        if not failed:
            transcript.listed.update(_listed(text))
        return
    if not failed:
        _add(transcript, text)
        _add_results(transcript, shown, whole=tools.read is not None and name == tools.read.name)


def _add(transcript: Transcript, text: str) -> None:
    have = {(source.id, id(source.parsed)) for source in transcript.sources}
    for attributes, inner in find_documents(text):
        identity, parsed = attributes.get("id"), parse(inner)
        whole = identity in transcript.asked and "passage" in attributes
        if (identity, id(parsed)) in have or whole:
            continue
        date, title = attributes.get("date"), attributes.get("title")
        transcript.sources.append(Source(len(transcript.sources), identity, date, title, parsed))


def _add_results(transcript: Transcript, shown: list[tuple[dict[str, Any], int]], *, whole: bool) -> None:
    have = {(source.id, id(source.parsed)) for source in transcript.sources}
    for block, number in shown:
        source = source_of(block, number, len(transcript.sources))
        if (source.id, id(source.parsed)) not in have and (whole or source.id not in transcript.asked):
            transcript.sources.append(source)


def _listed(text: str) -> dict[str, str]:
    tagged = find_documents(text)
    if tagged:
        return {a["id"]: f"{a.get('title', '')} {a.get('date', '')}" for a, _ in tagged if "id" in a}
    lines = (line.strip() for line in text.splitlines())
    return {line.split("|")[0].strip().split()[0]: line for line in lines if line.split("|")[0].strip()}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text")
