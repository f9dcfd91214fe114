"""An arm and a retriever that mix callers up, each as such a thing is got wrong; for proofs that must see it.

The arm keeps the longest text that it put together for anybody, and shows it to everyone. The retriever looks through
all documents, whoever asks.
"""

from __future__ import annotations

from dataclasses import dataclass

from loadrig.arms.instructions import DIRECT, ask_for
from loadrig.arms.passages import whole
from loadrig.retrievers import Retriever, load
from loadrig.words.arm import Answer, Client, Unit
from loadrig.words.corpus import EVERYTHING, Corpus, Hit, Question
from loadrig.words.prompt import Ask, Part, Prompt

_kept: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Shared:
    """Full context whose text is remembered by the run's name and not by who may see it."""

    @property
    def name(self) -> str:
        return "shared"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        return corpus.tokens

    async def answer(self, question: Question, client: Client) -> Answer:
        own = "\n\n".join(whole(one) for one in client.view.corpus.documents)
        _kept[client.run] = max(own, _kept.get(client.run, ""), key=len)
        documents = Part(_kept[client.run], static=True, cache="5m")
        return Answer(await client.ask(Prompt(DIRECT, (Ask((documents, Part(ask_for(question.question)))),))))


@dataclass(frozen=True)
class Unfiltered:
    """BM25 that sees everything for everyone."""

    inner: Retriever

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        return self.inner.search(query, k, (EVERYTHING,), unit=unit)


def build(corpus: Corpus) -> Unfiltered:
    return Unfiltered(load("bm25")(corpus))
