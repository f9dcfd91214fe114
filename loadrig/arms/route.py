"""Each question its own way: looked up, searched for step by step, or answered from all documents at once.

Rules: a router, which sees the question and no document, says of which kind it is; the kind says the way. What the
router cannot tell is tried with retrieval and escalated. A set over the ceiling is retrieved from, whatever the router
says. The way, and why where it is not plain, are on the record: `lookup>rag`, `whole_set>full_context`,
`unsure>rag>full_context`, `fallback>rag`. A classifier's tokens, money and time are the question's own. A classifier's
turn that fails fails the trial, as any turn does: what the target does wrong is not to be hidden by the router.

It does not know whether the router was right: accuracy by route tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from loadrig.arms.agentic import Agentic
from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.escalate import FIRST, SEARCH, WHOLE, Escalate, marks, tokens_of
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.arms.routing import By, Kind, by_rules, classification, kind_in
from loadrig.context import RAG_CONFIDENCE_FLOOR, STUFF_CEILING_TOKENS, may_be_stuffed
from loadrig.words.arm import Answer, Arm, Client, View
from loadrig.words.corpus import Corpus, Question
from loadrig.words.prompt import Prompt
from loadrig.words.settings import NotNegative, Share

FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class Route:
    """`by`: the question's wording, or a turn of the same model. `unsure`: what is done with a question of which the
    router cannot tell. `floor`, `ceiling_tokens`: as in `Escalate`. The three tables are the options of the ways."""

    by: By = "rules"
    unsure: Literal["escalate", "rag"] = "escalate"
    floor: Annotated[float, Share] = RAG_CONFIDENCE_FLOOR
    ceiling_tokens: Annotated[int, NotNegative] = STUFF_CEILING_TOKENS
    rag: Rag = FIRST
    full_context: FullContext = WHOLE
    agentic: Agentic = SEARCH

    def __post_init__(self) -> None:
        if self.unsure == "rag" and self.floor != RAG_CONFIDENCE_FLOOR:
            raise ValueError("floor is about escalation: it wants unsure = 'escalate'")

    @property
    def name(self) -> str:
        return "-".join(("route", self.by, *marks(self)))

    @property
    def retrievers(self) -> tuple[str, ...]:
        return self._escalate().retrievers

    def prompt_tokens(self, corpus: Corpus) -> int:
        """At most: as if every question went the dearest way."""
        ways: list[Arm] = [self.rag, self.agentic, self._escalate()]
        if self._fits(corpus.tokens):
            ways.append(self.full_context)
        asked = OVERHEAD_TOKENS if self.by == "classifier" else 0
        return asked + max(arm.prompt_tokens(corpus) for arm in ways)

    def primes(self, view: View, caller: tuple[str, ...], run: str) -> tuple[Prompt, ...]:
        """What full context asks beforehand, where it may be asked at all."""
        return self.full_context.primes(view, caller, run) if self._fits(tokens_of(view)) else ()

    async def answer(self, question: Question, client: Client) -> Answer:
        kind, fallback = await self._kind(question.question, client)
        way, arm, over = self._way(kind, tokens_of(client.view))
        answer = await arm.answer(question, client)
        notes = [note for note in (fallback, over, answer.route_note) if note]
        route = ">".join((kind or FALLBACK, answer.route or way))
        return msgspec.structs.replace(answer, route=route, route_note="; ".join(notes) or None)

    async def _kind(self, question: str, client: Client) -> tuple[Kind | None, str | None]:
        if self.by == "rules":
            return by_rules(question), None
        return kind_in(await client.ask(classification(question), purpose="classify"))

    def _way(self, kind: Kind | None, tokens: int) -> tuple[str, Arm, str | None]:
        """What the way is called, the arm that goes it, and what kept the kind from its own."""
        if kind == "multi_hop":
            return "agentic", self.agentic, None
        if kind == "whole_set" and self._fits(tokens):
            return "full_context", self.full_context, None
        if kind == "unsure" and self.unsure == "escalate":
            return "rag", self._escalate(), None
        return "rag", self.rag, "over the ceiling" if kind == "whole_set" else None

    def _fits(self, tokens: int) -> bool:
        return may_be_stuffed(tokens, self.ceiling_tokens)

    def _escalate(self) -> Escalate:
        return Escalate(
            floor=self.floor, ceiling_tokens=self.ceiling_tokens,
            rag=self.rag, full_context=self.full_context, agentic=self.agentic,
        )  # fmt: skip
