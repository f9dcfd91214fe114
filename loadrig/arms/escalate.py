"""Retrieval first, and more before the model only where the answer says that it cannot be given, or is not sure enough.

The first turn is that of a rag arm, asked in a form: the answer, whether the documents hold it, and how sure it is. The
answer shown and graded is the form's own, never its JSON. Exactly the floor is sure enough; a confidence that is
missing, or none, is not. Over the ceiling the whole is not put before a model: the agent searches on, or the first
answer is kept. What the first turn cost is part of the question's cost; a failed turn fails the trial.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Literal

import msgspec

from loadrig.arms.agentic import Agentic
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.context import RAG_CONFIDENCE_FLOOR, RAG_TOP_K, STUFF_CEILING_TOKENS, may_be_stuffed, needs_escalation
from loadrig.words.arm import Answer, Client, View
from loadrig.words.corpus import Corpus, Hit, Question
from loadrig.words.prompt import Prompt, Reply
from loadrig.words.settings import NotNegative, Share

FORM = (
    '{"type":"object","properties":{'
    '"answer":{"type":"string","description":"the answer, as it is to be shown"},'
    '"answerable":{"type":"boolean","description":"whether the documents given say it"},'
    '"confidence":{"type":"number","description":"from 0 to 1, how likely the answer is right"}},'
    '"required":["answer","answerable","confidence"],"additionalProperties":false}'
)
SURE = (
    "Reply with the answer itself, with whether the documents given to you say it, "
    "and with how likely it is that the answer is right, from 0 to 1."
)

FIRST, WHOLE, SEARCH = Rag(k=RAG_TOP_K), FullContext(), Agentic()


@dataclass(frozen=True, slots=True)
class Said:
    """A reply in the form. None: not said, or nothing that can be meant; `text`: the answer, or all of the reply."""

    text: str
    answerable: bool | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Escalate:
    """`to`: what follows a first answer that will not do; `over`: the same where the caller's documents are more than
    `ceiling_tokens`. The three tables are the options of the arms that do the work."""

    to: Literal["full_context", "agentic"] = "full_context"
    over: Literal["agentic", "keep"] = "agentic"
    floor: Annotated[float, Share] = RAG_CONFIDENCE_FLOOR
    ceiling_tokens: Annotated[int, NotNegative] = STUFF_CEILING_TOKENS
    rag: Rag = FIRST
    full_context: FullContext = WHOLE
    agentic: Agentic = SEARCH

    def __post_init__(self) -> None:
        # `mixed_rights` is no option of the work: where rights are mixed an arm is refused without it
        if self.to == "agentic" and replace(self.full_context, mixed_rights=False) != WHOLE:
            raise ValueError("to = 'agentic' never puts all documents before a model: leave out [arm.full_context]")
        if self.to == "agentic" and (self.over, self.ceiling_tokens) != ("agentic", STUFF_CEILING_TOKENS):
            raise ValueError("to = 'agentic' knows no ceiling: leave out over and ceiling_tokens")

    @property
    def name(self) -> str:
        return "-".join(("escalate", *marks(self)))

    @property
    def retrievers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.rag.retrievers, *self.agentic.retrievers)))

    def prompt_tokens(self, corpus: Corpus) -> int:
        """At most: as if every question were escalated."""
        after = [self._after(corpus.tokens)] if corpus.documents else []
        return self.rag.prompt_tokens(corpus) + sum(arm.prompt_tokens(corpus) for arm in after if arm is not None)

    def primes(self, view: View, caller: tuple[str, ...], run: str) -> tuple[Prompt, ...]:
        """What full context asks beforehand, where it may be asked at all."""
        whole = isinstance(self._after(tokens_of(view)), FullContext)
        return self.full_context.primes(view, caller, run) if whole else ()

    async def answer(self, question: Question, client: Client) -> Answer:
        prompt, hits = await self.rag.prompt(question, client)
        reply = await client.ask(msgspec.structs.replace(prompt, system=f"{prompt.system} {SURE}", form=FORM))
        said, why = judged(reply, self.floor)
        after = self._after(tokens_of(client.view)) if why else None
        if after is None:
            kept = f"{why}; kept, over the ceiling" if why else None
            return _kept(reply, said, hits, kept)
        answer = await after.answer(question, client)
        way = "full_context" if isinstance(after, FullContext) else "agentic"
        return msgspec.structs.replace(
            answer, retrieved=answer.retrieved or hits, route=f"rag>{way}", route_note=why, confidence=said.confidence
        )

    def _after(self, tokens: int) -> FullContext | Agentic | None:
        if self.to == "agentic":
            return self.agentic
        if may_be_stuffed(tokens, self.ceiling_tokens):
            return self.full_context
        return self.agentic if self.over == "agentic" else None


def said_in(text: str) -> Said:
    """What a reply in the form says. Whatever is not of the form's types counts as not said."""
    try:
        found = msgspec.json.decode(text, type=dict[str, object])
    except msgspec.DecodeError:
        return Said(text)
    answer, answerable, confidence = (found.get(name) for name in ("answer", "answerable", "confidence"))
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        confidence = None
    return Said(
        answer if isinstance(answer, str) else text,
        answerable if isinstance(answerable, bool) else None,
        None if confidence is None else float(confidence),
    )


def judged(reply: Reply, floor: float) -> tuple[Said, str | None]:
    """What a reply says, and why more is needed; None where it is enough."""
    said = said_in(reply.text)
    if not needs_escalation(said.confidence, answerable=said.answerable, floor=floor):
        return said, None
    if said.answerable is False:
        return said, "not answerable"
    if said.confidence is None or said.answerable is None:
        return said, "no confidence" if reply.stop == "end" else f"no confidence: {reply.stop}"
    return said, "confidence below the floor"


@lru_cache(maxsize=32)
def tokens_of(view: View) -> int:
    """Tokens of all that a caller may see, by the local estimator."""
    return view.corpus.tokens


def marks(arm: object) -> list[str]:
    """What an arm's name says of the options in which it differs from one that was given none."""
    usual = type(arm)()
    found = []
    for name in getattr(arm, "__dataclass_fields__", ()):
        value = getattr(arm, name)
        if name != "by" and value != getattr(usual, name):
            found.append(value.name if hasattr(value, "name") else f"{name.split('_')[0]}-{value}")
    return found


def _kept(reply: Reply, said: Said, hits: tuple[Hit, ...], why: str | None) -> Answer:
    plain = msgspec.structs.replace(reply, text=said.text)
    return Answer(plain, retrieved=hits, route="rag", route_note=why, confidence=said.confidence)
