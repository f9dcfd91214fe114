"""Agentic search: the model lists, searches and reads until it answers. Our own append-only loop.

Rules: nothing already sent is ever changed; all results of a turn go back in one message, in call order, before any
text; every turn is a request of its own and pays for the whole conversation again. The cap is kept exactly: after
`turn_cap` turns without an answer the trial ends as `turn_cap`, its tokens counted. One that goes round in circles ends
as `loop`, one whose tokens are spent as `budget`, each after being told once: see `watching`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from loadrig.arms.caching import Cache, lifetime, suffix, system_for
from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import ask_for, instructions, left_out
from loadrig.arms.quotes import answer_of
from loadrig.arms.tools import TOOLS, Toolbox
from loadrig.arms.watching import Limits, Watch, withholding
from loadrig.words.arm import Answer, Client
from loadrig.words.corpus import Corpus, Question
from loadrig.words.prompt import Ask, Message, Part, Prompt, ToolResult, ToolResults
from loadrig.words.settings import Positive


@dataclass(frozen=True, slots=True)
class Agentic:
    """`search` is any retriever, `hits` the passages a search shows, `turn_cap` the most model calls in a trial.
    `chronology`, `rejected`: is the sentence in the instructions? `results`: texts come between tags or as blocks that
    can be cited; `citations`: are the exact words asked for that each claim rests on? `token_budget`: prompt and output
    tokens by which it must answer. `same_call`: how often the same call is run; `idle_turns`: turns in a row that show
    nothing new before it is told. `cache`: how long the endpoint is to keep each turn's conversation, which the next
    one goes on from."""

    search: str = "bm25"
    hits: Annotated[int, Positive] = 5
    turn_cap: Annotated[int, Positive] = 12
    chronology: bool = True
    rejected: bool = True
    results: Literal["text", "blocks"] = "text"
    citations: Literal["off", "asked"] = "off"
    token_budget: Annotated[int, Positive] | None = None
    same_call: Annotated[int, Positive] = 2
    idle_turns: Annotated[int, Positive] = 4
    cache: Cache = "off"

    @property
    def name(self) -> str:
        usual = Agentic()
        is_usual = (self.search, self.hits, self.turn_cap) == (usual.search, usual.hits, usual.turn_cap)
        marks = (
            "" if is_usual else f"-{self.search.replace(':', '.')}-h{self.hits}-t{self.turn_cap}",
            "-blocks" if self.results == "blocks" else "",
            "-quotes" if self.citations == "asked" else "",
            "" if self.token_budget is None else f"-b{self.token_budget}",
            "" if self.same_call == usual.same_call else f"-c{self.same_call}",
            "" if self.idle_turns == usual.idle_turns else f"-i{self.idle_turns}",
        )
        kept = suffix(self.cache, cold=False, prime=True)
        return f"agentic{''.join(marks)}{left_out(chronology=self.chronology, rejected=self.rejected)}{kept}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return (self.search,)

    def prompt_tokens(self, corpus: Corpus) -> int:
        """Five turns, the conversation growing by a search's passages or a document in each."""
        chunk = sum(c.tokens for c in corpus.chunks) / max(1, len(corpus.chunks))
        step = (self.hits * chunk + corpus.tokens / max(1, len(corpus.documents))) / 2
        turns = min(5, self.turn_cap)
        return round(turns * (OVERHEAD_TOKENS + 300) + step * turns * (turns - 1) / 2)

    async def answer(self, question: Question, client: Client) -> Answer:
        toolbox = Toolbox(client, self.search, self.hits, blocks=self.results == "blocks")
        watch = Watch(Limits(self.same_call, self.idle_turns, self.token_budget))
        messages: tuple[Message, ...] = (Ask((Part(ask_for(question.question)),)),)
        system, kept = self._system(), lifetime(self.cache)
        if kept is not None:
            system = system_for(system, self.name, question.caller, run=None)
        for turn in range(1, self.turn_cap + 1):
            reply = await client.ask(Prompt(system, messages, TOOLS, cache=kept))
            if not reply.tool_uses:
                return answer_of(reply, quoted=self.citations == "asked")
            if turn < self.turn_cap:
                verdict = watch.look(reply)
                if verdict.ended is not None:
                    return Answer(reply, stopped=verdict.ended)
                outputs = await client.use_tools(reply.tool_uses, withholding(toolbox, verdict.answers))
                watch.saw(reply.tool_uses, outputs)
                results = tuple(
                    ToolResult(use.id, output.text, is_error=not output.ok, shown=output.shown)
                    for use, output in zip(reply.tool_uses, outputs, strict=True)
                )
                messages = (*messages, reply.said, ToolResults(results))
        return Answer(reply, stopped="turn_cap")

    def _system(self) -> str:
        return instructions(
            chronology=self.chronology, rejected=self.rejected, tools=True,
            quotes=self.citations == "asked", results=self.results == "blocks",
        )  # fmt: skip
