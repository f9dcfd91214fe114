"""What is asked before the trials to have prefixes kept: once a model and caller, for arms that say so."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest
from asking import head

from loadrig.arms.full_context import FullContext
from loadrig.arms.route import Route
from loadrig.execution.beforehand import Means
from loadrig.execution.prepare import prepare
from loadrig.execution.priming import Primed, prime, troubles
from loadrig.log import RunLog
from loadrig.providers import load
from loadrig.wire.turn import Target
from loadrig.words.arm import Answer, Arm, Client, View
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.settings import CorpusSettings, ModelSettings, Plan, QuestionSettings


@dataclass(frozen=True, slots=True)
class Foreign:
    """An arm of somebody else's that has nothing to prime, or cannot say what."""

    broken: bool = False

    @property
    def name(self) -> str:
        return "foreign"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        return corpus.tokens

    def primes(self, view: View, caller: tuple[str, ...], run: str) -> tuple[Prompt, ...]:
        if self.broken:
            raise KeyError(run)
        return ()

    async def answer(self, question: Question, client: Client) -> Answer:
        return Answer(await client.ask(Prompt("s", (Ask((Part(question.question),)),))))


def primed(folder: Path, *arms: Arm, seed: int = 7) -> tuple[Primed, ...]:
    """What priming comes to for these arms over the tiny corpus, where no call can be made."""
    plan = Plan(
        corpus=CorpusSettings(path="corpora/tiny"),
        questions=QuestionSettings(path="questions/tiny.jsonl"),
        model=(ModelSettings(id="m"),),
        arms=arms,
        seed=seed,
    )
    prepared = prepare(plan, build=False)
    with RunLog(folder) as log:
        targets = {"m": Target(plan.model[0], load("anthropic"), head("http://127.0.0.1:9"))}
        means = Means("r1", log, targets, lambda _: None, lambda: False)
        return asyncio.run(prime(prepared, means))


def test_arms_that_keep_nothing_are_not_asked_for(tmp_path: Path) -> None:
    """No cache, no priming; an arm that has the method may have nothing to say."""
    assert primed(tmp_path, FullContext(), FullContext(cache="5m", prime=False), Foreign()) == ()


def test_a_prefix_that_two_arms_share_is_the_first_ones_of_the_plan(tmp_path: Path) -> None:
    """A router's full context has the plain arm's bytes: one call, the plain arm's, however trials are shuffled."""
    whole = FullContext(cache="5m")
    for seed in range(6):
        (one,) = primed(tmp_path / str(seed), whole, Route(full_context=whole), seed=seed)
        assert one.arm == "full_context-cache5m"


def test_an_arm_that_cannot_say_what_is_named(tmp_path: Path) -> None:
    """Its error, and where it was raised, not a traceback."""
    with pytest.raises(InputError, match="arm 'foreign' cannot say what to prime: KeyError: 'r1'"):
        primed(tmp_path, Foreign(broken=True))


def test_what_did_not_come_of_it_is_told() -> None:
    """No room in the budget, a failure, an endpoint that kept nothing, one that tells nothing; not what went well."""
    calls = (
        Primed("m", "a", (), None, "the budget has no room for it"), Primed("m", "b", ("red",), "p-1", "overloaded"),
        Primed("m", "c", (), "p-2", None, 0, 0), Primed("m", "d", (), "p-3"), Primed("m", "e", (), "p-4", None, 9, 0),
        Primed("m", "f", (), "p-5", None, None, 0), Primed("m", "g", (), "p-6", None, None, 9),
    )  # fmt: skip
    assert troubles(calls) == (
        "priming the cache of a at m failed: the budget has no room for it",
        "priming the cache of b at m for red failed: overloaded",
        "priming the cache of c at m: nothing was kept",
        "priming the cache of d at m: not told",
        "priming the cache of f at m: not told",
    )
