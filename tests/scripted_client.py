"""A client for arms under test: replies as scripted, searches a real index, remembers every prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache

from loadrig import corpus, retrievers
from loadrig.corpus.view import CallerView, view_of
from loadrig.words.arm import ToolOutput, ToolRunner, Unit
from loadrig.words.corpus import Corpus, Hit
from loadrig.words.prompt import Prompt, Reply, Said, ToolUse
from loadrig.words.record import Purpose
from loadrig.words.settings import CorpusSettings


@cache
def tiny() -> Corpus:
    """The tiny corpus."""
    return corpus.load(CorpusSettings(path="corpora/tiny"))


def says(text: str) -> Reply:
    """A reply of text that ends the conversation."""
    return Reply(text, "end", (), Said(b'[{"type":"text"}]'))


def calls(*uses: tuple[str, str]) -> Reply:
    """A reply that calls tools, each given as name and argument text; ids are t1, t2, ..."""
    made = tuple(ToolUse(f"t{n}", name, arguments) for n, (name, arguments) in enumerate(uses, start=1))
    return Reply("", "tools", made, Said(b'[{"type":"tool_use"}]'))


class ScriptedClient:
    """Implements `loadrig.words.arm.Client` over a corpus; `prompts` are those sent, in order."""

    def __init__(self, replies: Iterable[Reply], over: Corpus | None = None, caller: tuple[str, ...] = ()) -> None:
        self.over = over or tiny()
        self.prompts: list[Prompt] = []
        self.purposes: list[Purpose] = []
        self.outputs: list[ToolOutput] = []
        self.built: str | None = None
        self._replies = iter(replies)
        self._caller = caller
        self._view = view_of(self.over, caller)

    @property
    def view(self) -> CallerView:
        return self._view

    @property
    def run(self) -> str:
        return "run"

    async def ask(self, prompt: Prompt, *, purpose: Purpose = "answer") -> Reply:
        self.prompts.append(prompt)
        self.purposes.append(purpose)
        return next(self._replies)

    async def search(self, retriever: str, query: str, k: int, *, unit: Unit = "chunk") -> tuple[Hit, ...]:
        return retrievers.load(retriever)(self.over).search(query, k, self._caller, unit=unit)

    async def use_tools(self, uses: tuple[ToolUse, ...], runner: ToolRunner) -> tuple[ToolOutput, ...]:
        outputs = await asyncio.gather(*(runner(use) for use in uses))
        self.outputs.extend(outputs)
        return tuple(outputs)
