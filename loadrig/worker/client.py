"""The client of one trial: asks, searches and runs tools for its arm, and keeps the time of each.

Search time counts as retrieval unless a tool searched; then it is part of the tool's time.
"""

from __future__ import annotations

import asyncio

import msgspec
from msgspec.structs import replace

from loadrig.wire.turn import Asker
from loadrig.words.arm import ToolOutput, ToolRunner, Unit, View
from loadrig.words.clock import Clock
from loadrig.words.corpus import Hit
from loadrig.words.errors import TurnFailed
from loadrig.words.prompt import Prompt, Reply, ToolUse
from loadrig.words.record import Failure, Purpose, ToolCall, Turn
from loadrig.words.trial import Trial
from loadrig.worker.editions import Editions, visible
from loadrig.worker.searching import Searching


class Notes(msgspec.Struct, frozen=True, gc=False):
    """What a trial's client saw: its turns, and nanoseconds spent in retrieval (waiting for it included, and apart)
    and in tools. `held_ns`: what its first turn waited for leave under the model's own limits: it began so much later.
    `broken_off`: a turn was in flight when the trial was ended from outside, so its tokens are not known.
    `returned_late_ns`: how long after the end of the last reply the arm got it. Until then the connection waited for
    the end of its message and the trial for its place in a turn of the loop: the rig's time, none of the target's.
    """

    turns: tuple[Turn, ...]
    retrieval_ns: int | None
    retrieval_queue_ns: int | None
    tool_ns: int | None
    broken_off: bool = False
    held_ns: int = 0
    returned_late_ns: int = 0


class Means(msgspec.Struct, frozen=True, gc=False):
    """What a trial works with: shared by many trials, owned by none. `editions`: where documents change in mid-run, and
    the view is not one for the whole of a trial. `built`: what the arm had built for this model and caller."""

    asker: Asker
    view: View
    searching: Searching
    clock: Clock
    run: str
    editions: Editions | None = None
    built: str | None = None


class TrialClient:
    """Implements `loadrig.words.arm.Client` for one trial."""

    def __init__(self, trial: Trial, means: Means, *, caller: tuple[str, ...], deadline_ns: int) -> None:
        self.fragments: dict[str, bytes] = {}
        self._means, self._clock = means, means.clock
        self._caller, self.deadline_ns = caller, deadline_ns
        self._traced = trial.id if trial.try_no == 1 else f"{trial.id}-{trial.try_no}"
        self._turns: list[Turn] = []
        self._retrieval_ns: int | None = None
        self._queue_ns: int | None = None
        self._tool_ns: int | None = None
        self._held_ns = 0
        self._returned_late_ns = 0
        self._in_tools = False
        self._asking = False
        self._index: int | None = None  # the version of the corpus that the last search was over
        self._calls_seen: set[tuple[str, str]] = set()

    @property
    def view(self) -> View:
        editions = self._means.editions
        return self._means.view if editions is None else editions.view(self._caller, self._index)

    @property
    def run(self) -> str:
        return self._means.run

    @property
    def built(self) -> str | None:
        return self._means.built

    def notes(self) -> Notes:
        return Notes(
            tuple(self._turns), self._retrieval_ns, self._queue_ns, self._tool_ns,
            broken_off=self._asking, held_ns=self._held_ns, returned_late_ns=self._returned_late_ns,
        )  # fmt: skip

    def hold(self, wait_ns: int) -> None:
        """The trial is about to wait for leave to ask: that is nobody's latency, and its limit moves with it. Less than
        0: it has waited so much less."""
        self.deadline_ns += wait_ns
        if not self._turns:
            self._held_ns += wait_ns

    async def ask(self, prompt: Prompt, *, purpose: Purpose = "answer") -> Reply:
        self._asking, self._returned_late_ns = True, 0
        trace = f"{self._traced}.{len(self._turns) + 1}"
        asked = await self._means.asker.ask(prompt, trace=trace, deadline_ns=self.deadline_ns, on_hold=self.hold)
        self._asking = False
        self._returned_late_ns = max(0, self._clock.now_ns() - asked.turn.attempts[-1].end_ns)
        self._turns.append(asked.turn if purpose == "answer" else replace(asked.turn, purpose=purpose))
        self.fragments.update(asked.fragments)
        if asked.reply is None:
            failure = asked.turn.attempts[-1].failure or Failure("protocol", "no reply and no failure")
            raise TurnFailed(failure)
        return asked.reply

    async def search(self, retriever: str, query: str, k: int, *, unit: Unit = "chunk") -> tuple[Hit, ...]:
        begin_ns = self._clock.now_ns()
        found = await self._means.searching.search(retriever, query, k, self._caller, unit)
        if not self._in_tools:
            took_ns = self._clock.now_ns() - begin_ns
            self._retrieval_ns = (self._retrieval_ns or 0) + took_ns
            self._queue_ns = (self._queue_ns or 0) + max(0, took_ns - found.compute_ns)
        editions = self._means.editions
        if editions is None:
            return _allowed(found.hits, self.view, retriever)
        self._index = found.index
        return visible(self.view, _allowed(found.hits, editions.searched(self._caller, found.index), retriever))

    async def use_tools(self, uses: tuple[ToolUse, ...], runner: ToolRunner) -> tuple[ToolOutput, ...]:
        begin_ns = self._clock.now_ns()
        self._in_tools = True
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._timed(use, runner)) for use in uses]
        self._in_tools = False
        self._tool_ns = (self._tool_ns or 0) + self._clock.now_ns() - begin_ns
        calls = tuple(self._noted(use, *task.result()) for use, task in zip(uses, tasks, strict=True))
        self._turns[-1] = replace(self._turns[-1], tool_calls=calls)
        return tuple(task.result()[0] for task in tasks)

    async def _timed(self, use: ToolUse, runner: ToolRunner) -> tuple[ToolOutput, int]:
        begin_ns = self._clock.now_ns()
        output = await runner(use)
        return output, self._clock.now_ns() - begin_ns

    def _noted(self, use: ToolUse, output: ToolOutput, took_ns: int) -> ToolCall:
        repeated = (use.name, use.arguments) in self._calls_seen
        self._calls_seen.add((use.name, use.arguments))
        return ToolCall(
            use.name, use.arguments, output.ok, output.docs, took_ns, output.hits, repeated, output.withheld
        )


def _allowed(hits: tuple[Hit, ...], view: View, retriever: str) -> tuple[Hit, ...]:
    """The hits, all of documents that the caller may see: a retriever may be anybody's, and an arm shows what it gets.

    One that filters nothing is stopped, not helped: what is left after taking hits out is not the best k.
    """
    for hit in hits:
        if hit.doc not in view.documents:
            raise LookupError(f"{retriever} found {hit.doc!r}, which is not among what the caller may see")
    return hits
