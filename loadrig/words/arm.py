"""The two sides of the seam between an arm and the rig: `Arm` answers, `Client` is all it may use to do so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import msgspec

from loadrig.words.corpus import Chunk, Corpus, Document, Hit, Question
from loadrig.words.prompt import Citation, Prompt, Reply, SearchResult, ToolUse
from loadrig.words.record import Purpose, Withheld

Unit = Literal["chunk", "document"]


class View(Protocol):
    """What the question's caller may see of the corpus. Hashed by identity."""

    @property
    def corpus(self) -> Corpus: ...
    @property
    def documents(self) -> Mapping[str, Document]: ...
    @property
    def chunks(self) -> Mapping[str, Chunk]: ...
    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gave back: the text for the model, whether it worked, and the documents the text shows.

    `hits` is the number of search hits, None for a tool that does not search. `shown` takes the place of `text` when
    there is any. `passages`: the chunks that are shown, where no document is whole. `withheld`: why the tool was not
    run.
    """

    text: str
    ok: bool = True
    docs: tuple[str, ...] = ()
    hits: int | None = None
    shown: tuple[SearchResult, ...] = ()
    passages: tuple[str, ...] = ()
    withheld: Withheld | None = None


class ToolRunner(Protocol):
    """Executes one tool call; never raises for what the model asked wrongly (that is an output with ok=False)."""

    async def __call__(self, use: ToolUse) -> ToolOutput: ...


Builder = Callable[[Prompt], Awaitable[str]]
"""Asks a model before the first trial: the text of its reply, which may be one kept from an earlier run. Raises
`TurnFailed` when no usable reply came."""


class Client(Protocol):
    """What the worker hands an arm for one trial. Everything asked through it is timed and recorded."""

    @property
    def view(self) -> View: ...
    @property
    def run(self) -> str:
        """The run's name: what must be new in every run can be made of it."""
        ...

    @property
    def built(self) -> str | None:
        """What the arm had built for this model and caller, see `Builds`; None when it failed, or nothing was."""
        ...

    async def ask(self, prompt: Prompt, *, purpose: Purpose = "answer") -> Reply:
        """One turn, recorded with what it was for. Raises `TurnFailed` when no usable reply came (recorded already)."""
        ...

    async def search(self, retriever: str, query: str, k: int, *, unit: Unit = "chunk") -> tuple[Hit, ...]:
        """The best `k` chunks or documents for the caller, best first, computed off the event loop.

        Fewer than `k` when there are not so many; none when no word of the query is known.
        """
        ...

    async def use_tools(self, uses: tuple[ToolUse, ...], runner: ToolRunner) -> tuple[ToolOutput, ...]:
        """Runs the calls of the last turn side by side and records each with its time; outputs in call order."""
        ...


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What an arm gives back. `reply` is the last turn's, its text the answer to be shown and graded; `stopped` says
    which cap of ours ended it, if one did. `route`: the way it was answered, `route_note` why that one where it is not
    plain. `confidence`: how sure a reply said it was, 0 to 1. `depths`: of an arm that put the gold documents in their
    places, where the middle of each stood, as a share of the `context_tokens` of documents, in the prompt's order."""

    reply: Reply
    retrieved: tuple[Hit, ...] = ()
    stopped: Literal["turn_cap", "budget", "loop"] | None = None
    citations: tuple[Citation, ...] = ()
    route: str | None = None
    route_note: str | None = None
    confidence: float | None = None
    depths: tuple[float, ...] = ()
    context_tokens: int | None = None


@runtime_checkable
class Arm(Protocol):
    """A strategy that answers one question: a frozen dataclass whose fields are its options."""

    @property
    def name(self) -> str:
        """Unique within a plan; letters, digits, dot and dash: `rag-bm25-k5`."""
        ...

    @property
    def retrievers(self) -> tuple[str, ...]:
        """Names of the retrievers it searches with; built once, before the first trial."""
        ...

    def prompt_tokens(self, corpus: Corpus) -> int:
        """Estimated prompt tokens of one trial, all turns, for the estimate shown before a run."""
        ...

    async def answer(self, question: Question, client: Client) -> Answer: ...


@runtime_checkable
class Primes(Protocol):
    """What an arm may have besides: prompts that are asked once before the first trial, so that trials find the prefix
    kept that they share."""

    def primes(self, view: View, caller: tuple[str, ...], run: str) -> tuple[Prompt, ...]:
        """The prompts for a caller with these labels, who sees `view`; each ends at a breakpoint of the cache. None
        when nothing is to be kept. `run`: the run's name."""
        ...


@runtime_checkable
class Builds(Protocol):
    """What an arm may have besides: something that a model makes of a caller's documents before the first trial, once,
    and that the arm then answers from."""

    async def build(self, view: View, ask: Builder) -> str:
        """The artefact, of what the caller may see and nothing else. The same view and replies give the same one."""
        ...

    def build_tokens(self, corpus: Corpus) -> tuple[int, int]:
        """Estimated prompt and output tokens of building over a corpus, for the estimate shown before a run."""
        ...
