"""Retrieval: the k best chunks (or whole documents) for the question, then one turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import ask_for, instructions, left_out
from loadrig.arms.passages import in_document_order, of_hits
from loadrig.words.arm import Answer, Client, Unit
from loadrig.words.corpus import Corpus, Hit, Question
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.settings import Positive

NO_HIT = "No document of the collection contains any word of the question."


@dataclass(frozen=True, slots=True)
class Rag:
    """`k` hits of `retriever`, as chunks or whole documents (`unit`), best first (`rank`) or as they stand in the
    corpus (`document`). A question none of whose words is known goes out without documents, and says so. `chronology`,
    `rejected`: is the sentence in the instructions?"""

    retriever: str = "bm25"
    k: Annotated[int, Positive] = 5
    unit: Unit = "chunk"
    order: Literal["rank", "document"] = "rank"
    chronology: bool = True
    rejected: bool = True

    @property
    def name(self) -> str:
        marks = ("-docs" if self.unit == "document" else "") + ("-inorder" if self.order == "document" else "")
        sentences = left_out(chronology=self.chronology, rejected=self.rejected)
        return f"rag-{self.retriever.replace(':', '.')}-k{self.k}{marks}{sentences}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return (self.retriever,)

    def prompt_tokens(self, corpus: Corpus) -> int:
        pieces = corpus.chunks if self.unit == "chunk" else corpus.documents
        mean = sum(piece.tokens for piece in pieces) / max(1, len(pieces))
        return OVERHEAD_TOKENS + round(min(self.k, len(pieces)) * (mean + 25))

    async def answer(self, question: Question, client: Client) -> Answer:
        prompt, hits = await self.prompt(question, client)
        return Answer(await client.ask(prompt), retrieved=hits)

    async def prompt(self, question: Question, client: Client) -> tuple[Prompt, tuple[Hit, ...]]:
        """What is asked, and the hits that stand in it."""
        hits = await client.search(self.retriever, question.question, self.k, unit=self.unit)
        if self.order == "document":
            hits = in_document_order(client.view, hits)
        documents = of_hits(client.view, hits) if hits else NO_HIT
        system = instructions(chronology=self.chronology, rejected=self.rejected)
        return Prompt(system, (Ask((Part(documents), Part(ask_for(question.question)))),)), hits
