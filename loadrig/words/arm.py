"""The two sides of the seam between an arm and the rig: `Arm` answers, `Client` is all it may use to do so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from loadrig.words.corpus import Corpus, Hit, Question
from loadrig.words.prompt import Prompt, Reply
from loadrig.words.record import ToolCall


class Client(Protocol):
    """What the worker hands an arm for one trial. Everything asked through it is timed and recorded."""

    @property
    def corpus(self) -> Corpus:
        """The documents the question's caller may see."""
        ...

    async def ask(self, prompt: Prompt) -> Reply:
        """One turn. Raises `TurnFailed` when no usable reply came (recorded already)."""
        ...

    async def search(
        self, retriever: str, query: str, k: int, *, unit: Literal["chunk", "document"]
    ) -> tuple[Hit, ...]:
        """The best `k` chunks or documents for the caller, best first, computed off the event loop.

        Fewer than `k` when there are not so many; none when no word of the query is known.
        """
        ...

    def note_tool(self, call: ToolCall) -> None:
        """Puts an executed tool call into the record of the turn that asked for it."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What an arm gives back. `reply` is the last turn's; `stopped` says which cap of ours ended it, if one did."""

    reply: Reply
    retrieved: tuple[Hit, ...] = ()
    stopped: Literal["turn_cap", "budget"] | None = None
    citations: tuple[str, ...] = ()
    route: str | None = None


class Arm(Protocol):
    """A strategy that answers one question: a frozen dataclass whose fields are its options."""

    @property
    def name(self) -> str:
        """Unique within a plan; letters, digits, dot and dash: `rag-bm25-k5`."""
        ...

    @property
    def retrievers(self) -> tuple[str, ...]:
        """Names of the retrievers it searches with; built once a worker, before the first trial."""
        ...

    def prompt_tokens(self, corpus: Corpus) -> int:
        """Estimated prompt tokens of one trial, all turns, for the estimate shown before a run."""
        ...

    async def answer(self, question: Question, client: Client) -> Answer: ...
