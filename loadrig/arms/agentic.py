"""Agentic search: the model lists, searches and reads until it answers. Our own append-only loop.

Rules: nothing already sent is ever changed; all results of a turn go back in one message, in call order, before any
text; every turn is a request of its own and pays for the whole conversation again. The cap is kept exactly: after
`turn_cap` turns without an answer the trial ends as `turn_cap`, its tokens counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import ask_for, instructions, left_out
from loadrig.arms.tools import TOOLS, Toolbox
from loadrig.words.arm import Answer, Client
from loadrig.words.corpus import Corpus, Question
from loadrig.words.prompt import Ask, Message, Part, Prompt, ToolResult, ToolResults
from loadrig.words.settings import Positive


@dataclass(frozen=True, slots=True)
class Agentic:
    """`search` is any retriever, `hits` the passages a search shows, `turn_cap` the most model calls in a trial.
    `chronology`, `rejected`: is the sentence in the instructions?"""

    search: str = "bm25"
    hits: Annotated[int, Positive] = 5
    turn_cap: Annotated[int, Positive] = 12
    chronology: bool = True
    rejected: bool = True

    @property
    def name(self) -> str:
        differs = replace(self, chronology=True, rejected=True) != Agentic()
        searching = f"-{self.search.replace(':', '.')}-h{self.hits}-t{self.turn_cap}" if differs else ""
        return f"agentic{searching}{left_out(chronology=self.chronology, rejected=self.rejected)}"

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
        toolbox = Toolbox(client, self.search, self.hits)
        system = instructions(chronology=self.chronology, rejected=self.rejected, tools=True)
        messages: tuple[Message, ...] = (Ask((Part(ask_for(question.question)),)),)
        for turn in range(1, self.turn_cap + 1):
            reply = await client.ask(Prompt(system, messages, TOOLS))
            if not reply.tool_uses:
                return Answer(reply)
            if turn < self.turn_cap:
                outputs = await client.use_tools(reply.tool_uses, toolbox)
                results = tuple(
                    ToolResult(use.id, output.text, is_error=not output.ok)
                    for use, output in zip(reply.tool_uses, outputs, strict=True)
                )
                messages = (*messages, reply.said, ToolResults(results))
        return Answer(reply, stopped="turn_cap")
