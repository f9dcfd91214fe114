"""Full context: every document in every prompt, chronological, the question last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import DIRECT, ask_for
from loadrig.arms.passages import whole
from loadrig.words.arm import Answer, Client, View
from loadrig.words.corpus import Corpus, Question
from loadrig.words.prompt import Ask, Part, Prompt


@dataclass(frozen=True, slots=True)
class FullContext:
    """The documents' block is one static part: the same bytes for every question, serialised once a worker."""

    @property
    def name(self) -> str:
        return "full_context"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        return OVERHEAD_TOKENS + corpus.tokens + 25 * len(corpus.documents)

    async def answer(self, question: Question, client: Client) -> Answer:
        documents = Part(_library(client.view), static=True)
        prompt = Prompt(DIRECT, (Ask((documents, Part(ask_for(question.question)))),))
        return Answer(await client.ask(prompt))


@lru_cache(maxsize=8)
def _library(view: View) -> str:
    return "\n\n".join(whole(document) for document in view.corpus.documents)
