"""The client of a trial: where its time goes, what it calls its requests, and which tool calls it has seen before."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from asking import PROMPT, asker, run
from hand_clock import HandClock
from records import turn
from scripted_client import calls, tiny
from scripted_server import Script, serving
from stream_events import reply

from loadrig.corpus.view import view_of
from loadrig.wire.engine import Engine
from loadrig.wire.turn import Asked
from loadrig.words.arm import ToolOutput, Unit
from loadrig.words.clock import SystemClock
from loadrig.words.corpus import Hit
from loadrig.words.prompt import Prompt, ToolUse
from loadrig.words.trial import Trial
from loadrig.worker.client import Means, TrialClient
from loadrig.worker.searching import Found

TRIAL = Trial("t1", 0, "agentic", "m-1", "q1", "fact", 1, "c2", "measured")
SAME = ToolUse("t1", "search", '{"query":"apples"}')
OTHER = ToolUse("t2", "search", '{"query":"plums"}')


@dataclass
class Searching:
    """Every search takes 100 ns by the clock, of which it computes 60."""

    clock: HandClock
    hits: tuple[Hit, ...] = ()

    async def search(self, retriever: str, query: str, k: int, caller: tuple[str, ...], unit: Unit) -> Found:
        self.clock.ns += 100
        return Found(self.hits, 60)


@dataclass
class Agent:
    """Calls tools in every turn; `runs` is the runner of a tool that takes 30 ns, `searches` of one that searches."""

    clock: HandClock = field(default_factory=HandClock)

    def __post_init__(self) -> None:
        means = Means(self, view_of(tiny(), ()), Searching(self.clock), self.clock, "run")  # type: ignore[arg-type]
        self.client = TrialClient(TRIAL, means, caller=(), deadline_ns=10**9)

    async def ask(self, prompt: Prompt, **_: object) -> Asked:
        return Asked(turn(), calls(("search", "{}")), {})

    async def runs(self, use: ToolUse) -> ToolOutput:
        self.clock.ns += 30
        return ToolOutput("found")

    async def searches(self, use: ToolUse) -> ToolOutput:
        await self.client.search("bm25", use.arguments, 5)
        return ToolOutput("found")


def test_two_searches_add_up() -> None:
    """100 ns each, 60 of them computing: 200 of retrieval, 80 of waiting, no time of tools."""
    agent = Agent()

    async def work() -> None:
        await agent.client.search("bm25", "apples", 5)
        await agent.client.search("bm25", "plums", 5)

    asyncio.run(work())
    notes = agent.client.notes()
    assert (notes.retrieval_ns, notes.retrieval_queue_ns, notes.tool_ns) == (200, 80, None)


def test_a_search_inside_a_tool_is_time_of_the_tool() -> None:
    """The tool's search of 100 ns is no retrieval; one after it, by the arm, is."""
    agent = Agent()

    async def work() -> list[int | None]:
        await agent.client.ask(PROMPT)
        await agent.client.use_tools((SAME,), agent.searches)
        found = [agent.client.notes().retrieval_ns, agent.client.notes().tool_ns]
        await agent.client.search("bm25", "plums", 5)
        return [*found, agent.client.notes().retrieval_ns, agent.client.notes().tool_ns]

    assert asyncio.run(work()) == [None, 100, 100, 100]


def test_tool_time_is_summed_over_turns() -> None:
    """One call of 30 ns in the first turn, two in the second: 90 ns of the trial, and 30 of each call's own."""
    agent = Agent()

    async def work() -> None:
        await agent.client.ask(PROMPT)
        await agent.client.use_tools((SAME,), agent.runs)
        await agent.client.ask(PROMPT)
        await agent.client.use_tools((SAME, OTHER), agent.runs)

    asyncio.run(work())
    notes = agent.client.notes()
    assert notes.tool_ns == 90
    assert [[call.ns for call in one.tool_calls] for one in notes.turns] == [[30], [30, 30]]


def test_only_a_call_made_before_word_for_word_is_repeated() -> None:
    """Apples, then plums, apples, and plums twice: the third and what comes after it were seen before."""
    agent = Agent()

    async def work() -> None:
        for uses in ((SAME,), (OTHER, SAME), (OTHER, OTHER)):
            await agent.client.ask(PROMPT)
            await agent.client.use_tools(uses, agent.runs)

    asyncio.run(work())
    seen = [[call.repeated for call in one.tool_calls] for one in agent.client.notes().turns]
    assert seen == [[False], [False, True], [True, True]]


@pytest.mark.parametrize(("try_no", "labels"), [(1, ["t1.1.1", "t1.2.1"]), (2, ["t1-2.1.1", "t1-2.2.1"])])
def test_requests_carry_trial_try_turn_and_attempt(try_no: int, labels: list[str]) -> None:
    """Two turns of trial t1 on the wire: `t1.1.1` and `t1.2.1`; asked a second time, `t1-2.1.1` and `t1-2.2.1`."""

    async def work() -> list[bytes]:
        async with serving(Script([(0, reply())])) as server, Engine(SystemClock()) as engine:
            means = Means(asker(engine, server.url), view_of(tiny(), ()), Searching(HandClock()), engine.clock, "run")  # type: ignore[arg-type]
            trial = Trial("t1", 0, "agentic", "m-1", "q1", "fact", 1, "c2", "measured", try_no)
            client = TrialClient(trial, means, caller=(), deadline_ns=engine.clock.now_ns() + 10**10)
            await client.ask(PROMPT)
            await client.ask(PROMPT)
            return server.requests

    heads = [request.split(b"\r\n\r\n")[0] for request in run(work())]
    sent = [line.split(b": ")[1].decode() for head in heads for line in head.split(b"\r\n") if b"attempt" in line]
    assert sent == labels


def test_a_hit_that_the_caller_may_not_see_ends_the_trial() -> None:
    """A retriever of somebody's that filters nothing: no arm gets to show what it found."""
    clock = HandClock()
    searching = Searching(clock, (Hit("secret.md", None, 1.0),))
    means = Means(Agent(), view_of(tiny(), ()), searching, clock, "run")  # type: ignore[arg-type]
    client = TrialClient(TRIAL, means, caller=(), deadline_ns=10**9)
    with pytest.raises(LookupError, match="not among what the caller may see"):
        asyncio.run(client.search("mine:build", "apples", 5))
