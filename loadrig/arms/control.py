"""The control arm: the question alone, no documents. It runs first; a question it answers rightly was known to the
model beforehand and is dropped from the accuracy of every arm."""

from __future__ import annotations

from dataclasses import dataclass

from loadrig.arms.instructions import DIRECT, ask_for
from loadrig.words.arm import Answer, Client
from loadrig.words.corpus import Corpus, Question
from loadrig.words.prompt import Ask, Part, Prompt

OVERHEAD_TOKENS = 220  # instructions, question and message framing: an estimate used before a run only


@dataclass(frozen=True, slots=True)
class Control:
    """No options: the same instructions as the other arms, and nothing to read."""

    @property
    def name(self) -> str:
        return "control"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:  # noqa: ARG002 - the corpus does not enter this arm
        return OVERHEAD_TOKENS

    async def answer(self, question: Question, client: Client) -> Answer:
        prompt = Prompt(DIRECT, (Ask((Part(ask_for(question.question)),)),))
        return Answer(await client.ask(prompt))
