"""The agent's three tools over a caller's view: list, search, read. They reach the view and nothing else.

Rules: a wrong name, wrong arguments or an unknown document is an output for the model, never an exception; a path
is looked up as an id among the visible documents, so nothing outside the corpus can be named, and what the caller
may not see is answered exactly as what does not exist. Patterns are not offered: a query is words for a retriever,
so no input can make the matching run away. A listing shows no text, hence credits no document. What the model or a
title says is defused where it is said again, so that no result can hold a document that none is.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from loadrig.arms import citable
from loadrig.arms.passages import defused, of_hits, whole
from loadrig.words.arm import Client, ToolOutput
from loadrig.words.prompt import Tool, ToolUse

TOOLS = (
    Tool(
        "list_documents",
        "Lists every document of the collection: id, date, title and size in tokens. Shows no text.",
        '{"type":"object","properties":{},"additionalProperties":false}',
    ),
    Tool(
        "search",
        "Finds the passages that best match the words of a query and shows their text with the document's id.",
        '{"type":"object","properties":{"query":{"type":"string","description":"Words to look for"}},'
        '"required":["query"],"additionalProperties":false}',
    ),
    Tool(
        "read",
        "Shows the whole text of one document.",
        '{"type":"object","properties":{"document":{"type":"string","description":"A document\'s id"}},'
        '"required":["document"],"additionalProperties":false}',
    ),
)
NAMES = ", ".join(tool.name for tool in TOOLS)


class _Search(msgspec.Struct, forbid_unknown_fields=True):
    query: str


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    document: str


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Runs one trial's tool calls; `retriever` and `hits` say what `search` searches with and how much it shows.
    `blocks`: texts are shown as blocks that can be cited, not between tags."""

    client: Client
    retriever: str
    hits: int
    blocks: bool = False

    async def __call__(self, use: ToolUse) -> ToolOutput:
        try:
            match use.name:
                case "list_documents":
                    return self._list()
                case "search":
                    return await self._search(msgspec.json.decode(use.arguments, type=_Search).query)
                case "read":
                    return self._read(msgspec.json.decode(use.arguments, type=_Read).document)
                case _:
                    return _refused(f"There is no tool {use.name!r}. The tools are: {NAMES}.")
        except msgspec.DecodeError as error:
            return _refused(f"The arguments of {use.name} are not as its schema asks: {error}.")

    def _list(self) -> ToolOutput:
        documents = self.client.view.corpus.documents
        rows = (f"{d.id} | {d.date or 'undated'} | {d.title or ''} | {d.tokens} tokens" for d in documents)
        return ToolOutput(defused("\n".join(rows)))

    async def _search(self, query: str) -> ToolOutput:
        hits = await self.client.search(self.retriever, query, self.hits)
        if not hits:
            return ToolOutput("No document contains any of these words. Try other words.", hits=0)
        docs = tuple(dict.fromkeys(hit.doc for hit in hits))
        chunks = tuple(hit.chunk for hit in hits if hit.chunk is not None)
        shown = citable.of_hits(self.client.view, hits) if self.blocks else ()
        text = "" if shown else of_hits(self.client.view, hits)
        return ToolOutput(text, docs=docs, hits=len(hits), shown=shown, passages=chunks)

    def _read(self, identity: str) -> ToolOutput:
        document = self.client.view.documents.get(identity.strip())
        if document is None:
            return _refused(f"There is no document {identity!r}. list_documents shows the ids.")
        if self.blocks:
            return ToolOutput("", docs=(document.id,), shown=(citable.whole(document),))
        return ToolOutput(whole(document), docs=(document.id,))


def _refused(why: str) -> ToolOutput:
    return ToolOutput(defused(why), ok=False)
