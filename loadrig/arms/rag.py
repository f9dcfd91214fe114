"""Retrieval: the k best chunks (or whole documents) for the question, then one turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from loadrig.arms import citable
from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import ask_for, instructions, left_out
from loadrig.arms.passages import in_document_order, of_hits, tokens_of_hits
from loadrig.arms.quotes import answer_of
from loadrig.words.arm import Answer, Client, Unit
from loadrig.words.corpus import Corpus, Hit, Question
from loadrig.words.prompt import Ask, Part, Prompt, SearchResult
from loadrig.words.settings import Positive

Citing = Literal["off", "asked", "blocks"]
NO_HIT = "No document of the collection contains any word of the question."


@dataclass(frozen=True, slots=True)
class Rag:
    """`k` hits of `retriever`, as chunks or whole documents (`unit`), best first (`rank`) or as they stand in the
    corpus (`document`). A question none of whose words is known goes out without documents, and says so. `chronology`,
    `rejected`: is the sentence in the instructions? `citations`: are the exact words `asked` for that each claim rests
    on, or are hits `blocks` of which the endpoint itself says what was cited?"""

    retriever: str = "bm25"
    k: Annotated[int, Positive] = 5
    unit: Unit = "chunk"
    order: Literal["rank", "document"] = "rank"
    chronology: bool = True
    rejected: bool = True
    citations: Citing = "off"

    @property
    def name(self) -> str:
        marks = ("-docs" if self.unit == "document" else "") + ("-inorder" if self.order == "document" else "")
        marks += {"off": "", "asked": "-quotes", "blocks": "-blocks"}[self.citations]
        sentences = left_out(chronology=self.chronology, rejected=self.rejected)
        return f"rag-{self.retriever.replace(':', '.')}-k{self.k}{marks}{sentences}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return (self.retriever,)

    def prompt_tokens(self, corpus: Corpus) -> int:
        return OVERHEAD_TOKENS + tokens_of_hits(corpus, self.k, self.unit)

    async def answer(self, question: Question, client: Client) -> Answer:
        hits = await self._hits(question, client)
        shown = citable.of_hits(client.view, hits) if self.citations == "blocks" else ()
        prompt = self._prompt(question, shown or self._between_tags(client, hits), cites=self.citations)
        return answer_of(await client.ask(prompt), quoted=self.citations == "asked", retrieved=hits)

    async def prompt(self, question: Question, client: Client) -> tuple[Prompt, tuple[Hit, ...]]:
        """What is asked, and the hits that stand in it. No citations: a reply in a form can hold none."""
        hits = await self._hits(question, client)
        return self._prompt(question, self._between_tags(client, hits)), hits

    async def _hits(self, question: Question, client: Client) -> tuple[Hit, ...]:
        hits = await client.search(self.retriever, question.question, self.k, unit=self.unit)
        return in_document_order(client.view, hits) if self.order == "document" else hits

    def _between_tags(self, client: Client, hits: tuple[Hit, ...]) -> tuple[Part, ...]:
        return (Part(of_hits(client.view, hits) if hits else NO_HIT),)

    def _prompt(
        self, question: Question, shown: tuple[Part, ...] | tuple[SearchResult, ...], *, cites: Citing = "off"
    ) -> Prompt:
        system = instructions(
            chronology=self.chronology, rejected=self.rejected, quotes=cites == "asked", results=cites == "blocks"
        )
        return Prompt(system, (Ask((*shown, Part(ask_for(question.question)))),))
