"""What arms ask an endpoint to keep, found before a run: what varies before a breakpoint, what is too short, costs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from invented_prices import TABLE
from msgspec.structs import replace

from loadrig.arms.full_context import FullContext
from loadrig.cost import Prices
from loadrig.execution.estimate import Ratios, estimated
from loadrig.execution.kept import Kept, kept_of, told
from loadrig.execution.prepare import prepare
from loadrig.execution.sampling import Sample
from loadrig.words.arm import Answer, Arm, Client
from loadrig.words.corpus import Corpus, Question
from loadrig.words.prompt import Ask, Part, Prompt, Tool
from loadrig.words.settings import CorpusSettings, ModelSettings, Plan, QuestionSettings
from loadrig.words.trial import Trial

ANYONE: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dated:
    """An arm of somebody else's: the question's id stands before its documents, as a time of day would."""

    @property
    def name(self) -> str:
        return "dated"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        return corpus.tokens

    async def answer(self, question: Question, client: Client) -> Answer:
        return Answer(await client.ask(asking(f"It is {question.id}.", question.question)))


def asking(before: str, question: str, system: str = "s") -> Prompt:
    return Prompt(system, (Ask((Part(before), Part("documents " * 900, cache="5m"), Part(question))),))


def warned(*arms: Arm) -> list[str]:
    """What is said of caches before a run of these arms over the tiny corpus."""
    plan = Plan(
        corpus=CorpusSettings(path="corpora/tiny"),
        questions=QuestionSettings(path="questions/tiny.jsonl"),
        model=(ModelSettings(id="claude-haiku-5-5"),),
        arms=arms,
    )
    return [warning for warning in prepare(plan, build=False).warnings if "cache" in warning]


def test_text_that_varies_before_the_breakpoint_is_warned_of_for_any_arm() -> None:
    """C-12: two questions of a foreign arm part in its first block; the warning says where, and what stands there."""
    (said,) = warned(Dated())
    assert said.startswith("dated: text that varies stands before the end of the cached prefix, so no trial will find")
    assert "block 1, from character 12 on: 'sf-01.' and 'pa-01.'" in said


def test_a_prefix_that_all_questions_share_is_not_warned_of() -> None:
    """C-12: our own arm, and an arm without a breakpoint that puts what it likes first."""
    assert warned(FullContext(cache="5m")) == []
    assert warned(FullContext(query="first")) == []


def test_callers_are_told_apart() -> None:
    """Prefixes that differ from caller to caller are meant to; of one question a caller nothing can be said."""
    two = [(("red",), asking("a", "1")), (("blue",), asking("b", "2"))]
    kept = kept_of(two, lambda prompt: len(prompt.system))
    assert kept == Kept("5m", tokens=1, mean_tokens=1, prefixes=2, parted=None)
    three = kept_of([*two, (("red",), asking("a", "3"))], lambda _: 1)
    assert three is not None
    assert three.parted is None


def test_instructions_that_vary_are_named() -> None:
    """What varies may stand in the instructions, which come before all documents."""
    kept = kept_of([(ANYONE, asking("a", "1", "It is noon.")), (ANYONE, asking("a", "2", "It is one."))], lambda _: 1)
    assert kept is not None
    assert kept.parted == "the instructions, from character 7 on: 'noon.' and 'one.'"


def test_a_conversation_may_keep_what_varies() -> None:
    """An arm with tools keeps its conversation for its own next turn."""
    tool = Tool("t", "d", "{}")
    prompts = [(ANYONE, replace(asking(text, "1"), tools=(tool,))) for text in "ab"]
    assert kept_of(prompts, lambda _: 1) is None


def test_a_prompt_kept_whole_that_is_asked_once_is_never_read() -> None:
    """Without tools there is no next turn: the question is in what is kept."""
    whole = [(ANYONE, replace(asking("a", text), cache="1h")) for text in "12"]
    kept = kept_of(whole, lambda _: 1)
    assert kept is not None
    assert kept.lifetime == "1h"
    whole = [(caller, replace(prompt, messages=(Ask((Part(str(n)),)),))) for n, (caller, prompt) in enumerate(whole)]
    alone = kept_of(whole, lambda _: 1)
    assert alone is not None
    assert alone.parted == "block 1, from character 1 on: '0' and '1'"


def test_of_several_prefixes_the_shortest_is_told_and_the_mean() -> None:
    """Three of one block each, of 1, 3 and 2 characters, two of them the same caller's: 1, and on the mean 2."""
    asked = [
        (caller, Prompt("s", (Ask((Part(text, cache="5m"), Part("Question: what?"))),)))
        for caller, text in ((ANYONE, "a"), (("red",), "bbb"), (ANYONE, "cc"))
    ]
    kept = kept_of(asked, lambda prompt: sum(len(part.text) for part in prompt.messages[0].parts))  # type: ignore[union-attr]
    assert kept is not None
    assert (kept.tokens, kept.mean_tokens, kept.prefixes) == (1, 2, 3)


def test_too_short_a_prefix_and_none_at_all_are_told() -> None:
    """Of 400 local tokens where a model wants 394 nothing is said, where it wants 1,575 it is; a cache that was asked
    for and has nothing to keep is told, too."""
    kept = Kept("5m", tokens=400, mean_tokens=420, prefixes=1, parted=None)
    (said,) = told("a", kept, wanted=True, minima=[("m", 394), ("n", 1575)])
    assert said.startswith(
        "a: its cached prefix of about 400 local tokens is below the about 1,575 from which on n caches"
    )
    assert told("a", None, wanted=True, minima=[]) == ("a: a cache is asked for, and no prompt has anything to keep",)
    assert told("a", None, wanted=False, minima=[]) == ()


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    path = tmp_path / "prices.toml"
    path.write_text(f"{TABLE}cache_minimum = 500\n")
    return Prices.load(path)


def priced(prices: Prices, kept: Kept | None) -> tuple[Decimal | None, Decimal]:
    """The estimate of three trials of 1,000 tokens, 900 of them kept, at 300 of output; and the worst one's."""
    samples = [Sample("a", "A", 1000, guessed=False, kept=kept)]
    trials = [Trial(f"t{n}", n, "a", "m", "q", "fact", 1, "c1", "measured") for n in range(3)]
    ratios = Ratios({}, {"m": Decimal(1)})
    found = estimated(samples, trials, prices, models=[ModelSettings(id="m", max_tokens=1000)], ratios=ratios)
    return found.cost, found.worst.cost


def test_the_estimate_prices_one_writing_and_the_readings(prices: Prices) -> None:
    """Three trials of 100 x 3 + 900 x 0.30 + 300 x 15 = 5,070 and two prefixes written at 900 x 3.75 = 3,375: 21,960
    millionths. At its worst a trial writes, and gives all 1,000 of its output: 300 + 3,375 + 15,000."""
    kept = Kept("5m", tokens=900, mean_tokens=900, prefixes=2, parted=None)
    assert priced(prices, kept) == (Decimal("0.021960"), Decimal("0.018675"))


def test_where_nobody_reads_every_trial_writes(prices: Prices) -> None:
    """A prefix a trial, for an hour: 3 x (300 + 900 x 6 + 4,500) = 30,600 millionths."""
    kept = Kept("1h", tokens=900, mean_tokens=900, prefixes=3, parted="block 1")
    assert priced(prices, kept)[0] == Decimal("0.0306")


def test_what_is_too_short_is_priced_as_it_will_be(prices: Prices) -> None:
    """400 tokens of at least 500 are not kept: as without a cache, 3 x (3,000 + 4,500)."""
    short = Kept("5m", tokens=400, mean_tokens=400, prefixes=1, parted=None)
    assert priced(prices, short) == priced(prices, None) == (Decimal("0.0225"), Decimal("0.018"))
