"""A probe, not a system: the gold documents of a question at a chosen depth of a context of a chosen length.

It knows the key. Its accuracy is how well a model reads what lies there, and no system's: a system does not know which
documents answer. Rules: everything but place and length is as in full context, but for the order, which is seeded and
not by date. What cannot be placed so fails as `not_placed` before anything is sent, with the reason; a question without
gold (a trap) is asked over as many tokens of documents and has no depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import DIRECT, ask_for
from loadrig.arms.passages import TAG_TOKENS, whole
from loadrig.context import STUFF_CEILING_TOKENS
from loadrig.corpus.placing import Unplaceable, bands_of, place_gold_at_depth
from loadrig.words.arm import Answer, Client, View
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import TurnFailed
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.record import Failure
from loadrig.words.settings import Positive

NOT_PLACED = "not_placed"
SEED = 7
_KEPT = 16  # contexts; a question's trials rarely follow one another
_DOCUMENTS = 4096  # between their tags, which takes longer than to place them


@dataclass(frozen=True, slots=True)
class PlacedGold:
    """`length`: tokens of documents, by the local estimator. `band`: where the middle of each gold document is to lie,
    `40-60%` of the tokens; several (`0-10%+90-100%`) have their share of the gold documents each. `seed`: of the other
    documents and their order."""

    length: Annotated[int, Positive] = STUFF_CEILING_TOKENS
    band: str = "40-60%"
    seed: int = SEED

    def __post_init__(self) -> None:
        bands_of(self.band)

    @property
    def name(self) -> str:
        length = f"{self.length // 1000}k" if self.length % 1000 == 0 else str(self.length)
        bands = "_".join(band.name for band in bands_of(self.band))
        return f"placed-{length}-b{bands}{'' if self.seed == SEED else f'-s{self.seed}'}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        tokens = min(self.length, corpus.tokens)
        return OVERHEAD_TOKENS + tokens + TAG_TOKENS * max(1, len(corpus.documents) * tokens // max(1, corpus.tokens))

    async def answer(self, question: Question, client: Client) -> Answer:
        context = _context(client.view, frozenset(question.gold), self)
        if isinstance(context, Unplaceable):
            raise TurnFailed(Failure(NOT_PLACED, context.reason))
        # Static, so that the probe before a run looks whether all of it reaches the model.
        parts = (Part(context.text, static=True), Part(ask_for(question.question)))
        reply = await client.ask(Prompt(DIRECT, (Ask(parts),)))
        return Answer(reply, depths=context.depths, context_tokens=context.tokens)


_tagged = lru_cache(maxsize=_DOCUMENTS)(whole)


@dataclass(frozen=True, slots=True)
class _Context:
    text: str
    depths: tuple[float, ...]
    tokens: int


@lru_cache(maxsize=_KEPT)
def _context(view: View, gold: frozenset[str], arm: PlacedGold) -> _Context | Unplaceable:
    placed = place_gold_at_depth(view.corpus.documents, gold, bands_of(arm.band), length=arm.length, seed=arm.seed)
    if isinstance(placed, Unplaceable):
        return placed
    text = "\n\n".join(map(_tagged, placed.documents))
    return _Context(text, tuple(round(depth, 4) for depth in placed.depths), placed.tokens)
