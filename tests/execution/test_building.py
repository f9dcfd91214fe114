"""The calls of building: made once, kept by all that their reply depends on, stopped by the first that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import cycle
from pathlib import Path

import pytest
from invented_prices import TABLE
from records import record

from loadrig.execution.building import Foreseen, _at_once, _Calls, _place, foreseen, wanted
from loadrig.execution.prepare import prepare
from loadrig.words.arm import Answer, Client, View
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import TurnFailed
from loadrig.words.prompt import Ask, Part, Prompt, Reply, Said
from loadrig.words.record import Record, Usage
from loadrig.words.settings import BudgetSettings, LoadSettings, ModelSettings, PriceSettings
from plans import plan

MODEL = ModelSettings(id="m", base_url="simulator")


def _prompt(text: str) -> Prompt:
    return Prompt("s", (Ask((Part(text),)),))


def _said(text: str, stop: str = "end") -> Reply:
    return Reply(text, stop, (), Said(b"[]"))  # type: ignore[arg-type]


class Asker:
    """Replies as told, by the number of the call; remembers the prompts."""

    def __init__(self, reply: Callable[[int], Reply | None], room: int = 99, currency: str = "USD") -> None:
        self.asked: list[Prompt] = []
        self.currency = currency
        self._reply, self._room = reply, room

    def room(self) -> bool:
        return len(self.asked) < self._room

    async def ask(self, prompt: Prompt, **_: object) -> tuple[Record, Reply | None]:
        self.asked.append(prompt)
        number, used = len(self.asked), Usage(input=10, output=2)
        return record(f"t{number}", cost="0.01", usage=used, currency=self.currency), self._reply(number)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def _calls(asker: Asker, model: ModelSettings = MODEL, caller: tuple[str, ...] = ()) -> _Calls:
    return _Calls(asker, model, "a", caller, at_once=4)  # type: ignore[arg-type]


def _all(calls: _Calls, *texts: str) -> list[str | BaseException]:
    async def run() -> list[str | BaseException]:
        return await asyncio.gather(*(calls.ask(_prompt(text)) for text in texts), return_exceptions=True)

    return asyncio.run(run())


def test_a_call_is_made_once() -> None:
    """Three prompts, then the same three again: three calls, the second time none, and both know what they cost."""
    asker = Asker(lambda number: _said(f"text {number}"))
    first, second = _calls(asker), _calls(asker)
    assert _all(first, "a", "b", "c") == _all(second, "a", "b", "c") == ["text 1", "text 2", "text 3"]
    assert len(asker.asked) == 3
    one, two = first.told(None), second.told(None)
    assert (one.calls, one.paid, one.cost, one.cost_now, one.prompt_tokens) == (3, 3, "0.03", "0.03", 30)
    assert (two.calls, two.paid, two.cost, two.cost_now, two.prompt_tokens) == (3, 0, "0.03", "0", 30)


def test_money_of_another_currency_is_in_no_sum() -> None:
    """Of two calls one was paid in USD by an earlier run, one is paid 0.01 EUR by this: together they are unknown."""
    assert _all(_calls(Asker(lambda _: _said("text"))), "a") == ["text"]
    mine = _calls(Asker(lambda _: _said("text"), currency="EUR"))
    assert _all(mine, "a", "b") == ["text", "text"]
    told = mine.told(None)
    assert (told.calls, told.paid, told.cost, told.cost_now, told.currency) == (2, 1, None, "0.01", "EUR")


@pytest.mark.parametrize(
    "reply", [_said("cut", "max_tokens"), _said("", "end"), _said(" ", "end"), _said("no", "refusal"), None]
)
def test_a_reply_that_is_not_whole_is_a_failure_and_not_kept(reply: Reply | None) -> None:
    """Cut off, empty, refused or none at all: raised, and asked again the next time."""
    asker = Asker(lambda number: reply if number == 1 else _said("good"))
    calls = _calls(asker)
    (found,) = _all(calls, "a")
    assert isinstance(found, TurnFailed)
    assert (calls.told("x").calls, calls.told("x").paid, calls.told("x").cost_now) == (0, 1, "0.01")
    assert _all(_calls(asker), "a") == ["good"]


def test_after_a_failure_no_call_is_begun() -> None:
    """One at a time: the second of five fails, the other three are not made."""
    asker = Asker(lambda number: None if number == 2 else _said("good"))
    calls = _Calls(asker, MODEL, "a", (), at_once=1)  # type: ignore[arg-type]
    found = _all(calls, *"abcde")
    assert [isinstance(one, TurnFailed) for one in found] == [False, True, True, True, True]
    assert len(asker.asked) == 2


def test_without_room_in_the_budget_no_call_is_made() -> None:
    """Two are paid for, the third is not begun, and the reason says why."""
    asker = Asker(lambda _: _said("good"), room=2)
    calls = _Calls(asker, MODEL, "a", (), at_once=1)  # type: ignore[arg-type]
    (_, _, failed) = _all(calls, *"abc")
    assert isinstance(failed, TurnFailed)
    assert failed.failure.reason == "budget"
    assert len(asker.asked) == 2


def test_what_is_kept_and_cannot_be_read_is_asked_again() -> None:
    """A file that is no JSON is none."""
    asker = Asker(lambda number: _said(f"text {number}"))
    assert _all(_calls(asker), "a") == ["text 1"]
    _place(_prompt("a"), MODEL, ()).write_bytes(b"{")
    assert _all(_calls(asker), "a") == ["text 2"]


def test_a_reply_is_kept_by_all_that_it_depends_on(tmp_path: Path) -> None:
    """Prompt, model, endpoint, room for the answer, caller, and the scenario's own text: each makes another place."""
    scenario = tmp_path / "s.toml"
    scenario.write_text("a = 1\n")
    of_file = replace(MODEL, scenario=str(scenario))
    places = [
        _place(_prompt("a"), MODEL, ()), _place(_prompt("b"), MODEL, ()), _place(_prompt("a"), MODEL, ("x",)),
        *(
            _place(_prompt("a"), replace(MODEL, **change), ())  # type: ignore[arg-type]
            for change in ({"id": "n"}, {"base_url": None}, {"max_tokens": 9}, {"scenario": "quick"})
        ),
        _place(_prompt("a"), of_file, ()),
    ]  # fmt: skip
    scenario.write_text("a = 2\n")
    places.append(_place(_prompt("a"), of_file, ()))
    assert len(set(places)) == len(places) == 9
    assert _place(_prompt("a"), MODEL, ()) == places[0]


def test_with_a_budget_calls_are_made_one_by_one() -> None:
    """What a call costs is known when it has ended; without one, as many as the load has trials in flight."""
    one = prepare(plan(), build=False)
    busy = replace(one, plan=replace(one.plan, load=LoadSettings(concurrency=(2, 16))))
    assert _at_once(busy) == 16
    assert _at_once(replace(busy, plan=replace(busy.plan, budget=BudgetSettings(tokens=100)))) == 1


@dataclass(frozen=True, slots=True)
class Builder:
    """An arm of which building takes 200 tokens a document that is seen, and 100 of output."""

    name: str = "builder"
    retrievers: tuple[str, ...] = ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        return corpus.tokens

    def build_tokens(self, corpus: Corpus) -> tuple[int, int]:
        return 200 * len(corpus.documents), 100

    async def build(self, view: View, ask: object) -> str:
        raise NotImplementedError

    async def answer(self, question: Question, client: Client) -> Answer:
        raise NotImplementedError


def test_what_building_comes_to_is_foreseen_by_model_and_caller(tmp_path: Path) -> None:
    """Five documents: 1,000 x 1.3 at 3.00 and 100 x 1.3 at 15.00 a million are 0.00585; for two callers,
    however their labels are written down, one of whom may see four, 1,300 + 1,040 and 0.00507 more; and with a model
    that has no price an unknown amount."""
    (tmp_path / "prices.toml").write_text(TABLE)
    prices, models = PriceSettings(path=str(tmp_path / "prices.toml")), (MODEL, ModelSettings(id="n"))
    one = prepare(plan(Builder(), model=models[:1], prices=prices), build=False)
    assert foreseen(one) == Foreseen(1, 1_300, Decimal("0.00585"))
    labels = cycle([("a", "b"), ("b", "a", "a"), ("c",)])
    called = {name: replace(of, caller=next(labels)) for name, of in one.questions.items()}
    first, *others = one.corpus.documents
    closed = replace(one.corpus, documents=(replace(first, access=("a",)), *others))
    assert foreseen(replace(one, questions=called, corpus=closed)) == Foreseen(2, 2_340, Decimal("0.01092"))
    unpriced = foreseen(prepare(plan(Builder(), model=models, prices=prices), build=False))
    assert unpriced == Foreseen(2, 2_600, None)


def test_a_plan_without_such_an_arm_builds_nothing() -> None:
    """No artefact, nothing foreseen."""
    one = prepare(plan(), build=False)
    assert (wanted(one), foreseen(one)) == ((), None)
