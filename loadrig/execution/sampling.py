"""The prompts a plan's arms will send, tried out before a run: what they ask, counted locally. Sends nothing.

Each arm answers a few questions against a client that searches the real indexes, keeps every prompt and answers with
nothing. An arm that offers tools, that asks for a reply in a form, or that cannot be tried out, is known by its own
estimate alone: how often a model will call a tool, and what follows from what it fills in, nobody can say beforehand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from loadrig.corpus.view import CallerView, view_of
from loadrig.execution.kept import Kept, kept_of
from loadrig.retrievers import Retriever
from loadrig.tokens import estimator
from loadrig.words.arm import Arm, ToolOutput, ToolRunner, Unit
from loadrig.words.corpus import Corpus, Hit, Question
from loadrig.words.prompt import Ask, Message, Prompt, Reply, Said, ToolResults, ToolUse
from loadrig.words.record import Purpose

QUESTIONS = 8  # tried out per arm, spread over the set: enough for a mean, and the arms of a plan take under a second
LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Sample:
    """What an arm's trial asks: `tokens` is the mean over the questions tried, all turns, by the local estimator.

    `guessed`: the arm's own estimate instead. `prompt` is the first question's first one that asks for no form, None
    for none, and `caller` who asks it; `kept`: what the questions' first prompts ask the endpoint to keep.
    """

    arm: str
    kind: str
    tokens: int
    guessed: bool
    prompt: Prompt | None = None
    kept: Kept | None = None
    caller: tuple[str, ...] = ()


def sampled(
    arms: Sequence[Arm], questions: Sequence[Question], corpus: Corpus, indexes: Mapping[str, Retriever]
) -> tuple[Sample, ...]:
    """A sample of each arm. Arms whose retrievers are not among `indexes` are not tried out."""
    some = few_of(questions)
    callers = dict.fromkeys(question.caller for question in some)
    trying = _Trying(indexes, {caller: view_of(corpus, caller) for caller in callers})
    return tuple(trying.sample(arm, some, corpus) for arm in arms)


def few_of(questions: Sequence[Question]) -> Sequence[Question]:
    """The few of them whose prompts are made, spread over all."""
    return questions[:: -(-len(questions) // QUESTIONS)] if questions else ()


def tokens_of(prompt: Prompt) -> int:
    """Tokens of all text in a prompt by the local estimator, message framing left out."""
    tools = (text for tool in prompt.tools for text in (tool.name, tool.description, tool.schema))
    messages = (text for message in prompt.messages for text in _texts(message))
    return sum(_count(text) for text in (prompt.system, *messages, *tools))


def _texts(message: Message) -> tuple[str, ...]:
    match message:
        case Ask():
            return tuple(part.text for part in message.parts)
        case Said():
            return (message.content.decode(errors="replace"),)
        case ToolResults():
            return (*(result.text for result in message.results), message.text or "")


@lru_cache(maxsize=64)
def _count(text: str) -> int:
    return estimator().count(text)


class _Recorder:
    """Implements `loadrig.words.arm.Client`: hears everything, says nothing."""

    def __init__(self, view: CallerView, indexes: Mapping[str, Retriever], caller: tuple[str, ...]) -> None:
        self.prompts: list[Prompt] = []
        self._view, self._indexes, self._caller = view, indexes, caller

    @property
    def view(self) -> CallerView:
        return self._view

    @property
    def run(self) -> str:
        return "sample"

    @property
    def built(self) -> None:
        return None  # nothing is built before it is paid for

    async def ask(self, prompt: Prompt, *, purpose: Purpose = "answer") -> Reply:  # noqa: ARG002
        self.prompts.append(prompt)
        return Reply("", "end", (), Said(b"[]"))

    async def search(self, retriever: str, query: str, k: int, *, unit: Unit = "chunk") -> tuple[Hit, ...]:
        return self._indexes[retriever].search(query, k, self._caller, unit=unit)

    async def use_tools(self, uses: tuple[ToolUse, ...], runner: ToolRunner) -> tuple[ToolOutput, ...]:  # noqa: ARG002
        return ()


@dataclass(frozen=True, slots=True)
class _Trying:
    indexes: Mapping[str, Retriever]
    views: Mapping[tuple[str, ...], CallerView]

    def sample(self, arm: Arm, questions: Sequence[Question], corpus: Corpus) -> Sample:
        kind = type(arm).__qualname__
        untried = Sample(arm.name, kind, arm.prompt_tokens(corpus), guessed=True)
        if not questions or not set(arm.retrievers) <= set(self.indexes):
            return untried
        try:
            asked = [asyncio.run(self._prompts(arm, question)) for question in questions]
        except Exception:  # noqa: BLE001 - arms are foreign code; what is wrong with one, its trials will say
            return untried
        if not asked[0]:
            return untried
        first = next((prompt for prompt in asked[0] if prompt.form is None), None)  # a form is tokens that nobody sees
        firsts = [(question.caller, prompts[0]) for question, prompts in zip(questions, asked, strict=True) if prompts]
        tried = replace(untried, prompt=first, kept=kept_of(firsts, tokens_of), caller=firsts[0][0])
        if any(prompt.tools or prompt.form for prompts in asked for prompt in prompts):
            return tried
        tokens = sum(tokens_of(prompt) for prompts in asked for prompt in prompts)
        return replace(tried, tokens=round(tokens / len(asked)), guessed=False)

    async def _prompts(self, arm: Arm, question: Question) -> list[Prompt]:
        client = _Recorder(self.views[question.caller], self.indexes, question.caller)
        async with asyncio.timeout(LIMIT_S):
            await arm.answer(question, client)
        return client.prompts
