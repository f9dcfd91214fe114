"""Decomposition: the question is split, documents are looked for to each part, and all is answered in one turn.

Rules: the parts come as JSON of a fixed form. Any other reply - a refusal, one cut off, other JSON, no part - leaves
the question itself as its only part, and the record says why (`route_note`); a call that fails, fails the trial, as in
every arm. `route` says whether the question was `split` or asked `whole`. Hits stand by rank: the best of each part in
order of the parts, then the second of each, and so on; one that several parts found stands once, where it was first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Annotated

import msgspec

from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import SPLITTING, ask_for, instructions, left_out
from loadrig.arms.passages import of_hits, tokens_of_hits
from loadrig.arms.rag import NO_HIT
from loadrig.words.arm import Answer, Client, Unit
from loadrig.words.corpus import Corpus, Hit, Question
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.settings import Positive

FORM = (
    '{"type":"object","properties":{"questions":{"type":"array","items":{"type":"string"}}},'
    '"required":["questions"],"additionalProperties":false}'
)
MOST_PARTS = 4
SPLIT_TOKENS = 1_000  # a few short questions, and room for a model that thinks before it


class _Parts(msgspec.Struct):
    questions: list[str]


@dataclass(frozen=True, slots=True)
class Split:
    """What is searched for, and why it is the question itself where it should have been split."""

    parts: tuple[str, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Decompose:
    """`k` hits of `retriever` for each of at most `parts` parts, as chunks or whole documents (`unit`). `chronology`,
    `rejected`: is the sentence in the instructions?"""

    retriever: str = "bm25"
    k: Annotated[int, Positive] = 5
    parts: Annotated[int, Positive] = MOST_PARTS
    unit: Unit = "chunk"
    chronology: bool = True
    rejected: bool = True

    @property
    def name(self) -> str:
        marks = (f"-p{self.parts}" if self.parts != MOST_PARTS else "") + ("-docs" if self.unit != "chunk" else "")
        sentences = left_out(chronology=self.chronology, rejected=self.rejected)
        return f"decompose-{self.retriever.replace(':', '.')}-k{self.k}{marks}{sentences}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return (self.retriever,)

    def prompt_tokens(self, corpus: Corpus) -> int:
        """Both turns of a question with two parts."""
        return 2 * OVERHEAD_TOKENS + tokens_of_hits(corpus, 2 * self.k, self.unit)

    async def answer(self, question: Question, client: Client) -> Answer:
        split = await self._split(question.question, client)
        found = [await client.search(self.retriever, part, self.k, unit=self.unit) for part in split.parts]
        hits = merged(found)
        documents = of_hits(client.view, hits) if hits else NO_HIT
        system = instructions(chronology=self.chronology, rejected=self.rejected)
        prompt = Prompt(system, (Ask((Part(documents), Part(ask_for(question.question)))),))
        reply = await client.ask(prompt)
        route = "split" if len(split.parts) > 1 else "whole"
        return Answer(reply, retrieved=hits, route=route, route_note=split.note)

    async def _split(self, question: str, client: Client) -> Split:
        asked = Prompt(SPLITTING, (Ask((Part(ask_for(question)),)),), form=FORM, max_tokens=SPLIT_TOKENS)
        reply = await client.ask(asked, purpose="decompose")
        if reply.stop != "end":
            return Split((question,), f"the reply stopped: {reply.stop}")
        return parts_of(reply.text, question, self.parts)


def parts_of(text: str, question: str, most: int) -> Split:
    """The first `most` parts that a reply names, each once; the question itself when it names none."""
    try:
        named = msgspec.json.decode(text, type=_Parts).questions
    except msgspec.DecodeError:
        return Split((question,), "the reply has not the form")
    parts = tuple(dict.fromkeys(part for one in named if (part := one.strip())))
    return Split(parts[:most]) if parts else Split((question,), "the reply names no part")


def merged(found: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """The hits of all parts by rank, those of equal rank in order of the parts, each passage once."""
    ranked: Iterable[Hit | None] = chain.from_iterable(zip_longest(*found))
    first: dict[tuple[str, str | None], Hit] = {}
    for hit in ranked:
        if hit is not None:
            first.setdefault((hit.doc, hit.chunk), hit)
    return tuple(first.values())
