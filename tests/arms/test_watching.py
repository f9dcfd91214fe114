"""What ends an agentic trial before its cap: going in circles, and a token budget. Each is told to the model once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from scripted_client import ScriptedClient, calls, says
from texts import loaded

from loadrig.arms.agentic import Agentic
from loadrig.arms.watching import IDLE, SAME, SPENT, Limits, Watch
from loadrig.words.arm import Answer, ToolOutput
from loadrig.words.corpus import Question
from loadrig.words.prompt import Reply, ToolResults, ToolUse

QUESTION = Question("q1", "fact", "When are apples pruned?", "In February.")
SEARCH = ("search", '{"query":"apples"}')
READ = ("read", '{"document":"trees/apples.md"}')


def _ran(arm: Agentic, *replies: Reply) -> tuple[Answer, ScriptedClient]:
    client = ScriptedClient(replies)
    return asyncio.run(arm.answer(QUESTION, client)), client


def _told(client: ScriptedClient) -> list[str]:
    """Texts in place of results, of all turns."""
    return [output.text for output in client.outputs if output.withheld]


def _costing(reply: Reply, tokens: int | None) -> Reply:
    return msgspec.structs.replace(reply, tokens=tokens)


def test_the_same_call_is_run_twice_told_of_the_third_time_and_ended_the_fourth() -> None:
    """C-08: a model that makes one call for ever gets four turns, two results and one notice; the reason is its own."""
    answer, client = _ran(Agentic(), *[calls(SEARCH)] * 9)
    assert (answer.stopped, len(client.prompts)) == ("loop", 4)
    assert _told(client) == [SAME]
    assert [output.withheld for output in client.outputs] == [None, None, "loop"]


def test_who_heeds_the_notice_goes_on_to_an_answer() -> None:
    """After the notice another call is run, and the answer is an answer."""
    answer, client = _ran(Agentic(), *[calls(SEARCH)] * 3, calls(READ), says("In February."))
    assert (answer.stopped, answer.reply.text) == (None, "In February.")
    assert client.outputs[-1].docs == ("trees/apples.md",)


def test_equal_arguments_are_the_same_call_however_they_are_written() -> None:
    """Blanks in the JSON, or another order of its fields, make no new call; another word does."""
    spaced = ("search", '{ "query" : "apples" }')
    assert _told(_ran(Agentic(), calls(SEARCH), calls(spaced), calls(SEARCH), says("x"))[1]) == [SAME]
    watch = Watch(Limits(same_call=1, idle_turns=9, token_budget=None))
    turned = [calls(("find", '{"a":1,"b":2}')), calls(("find", '{"b":2,"a":1}'))]
    assert [list(watch.look(reply).answers) for reply in turned] == [[], ["t1"]]
    others = [calls(("search", f'{{"query":"{word}"}}')) for word in ("apples", "pears", "plums")]
    assert _told(_ran(Agentic(), *others, says("x"))[1]) == []


def test_only_the_repeated_one_of_several_calls_is_withheld() -> None:
    """Its neighbour is run, and both results go back in call order."""
    _, client = _ran(Agentic(), calls(SEARCH), calls(SEARCH), calls(READ, SEARCH), says("x"))
    results = client.prompts[-1].messages[-1]
    assert isinstance(results, ToolResults)
    assert [(result.is_error, result.text == SAME) for result in results.results] == [(False, False), (True, True)]


@pytest.mark.parametrize("turns", [1, 3])
def test_turns_without_a_new_document_are_told_of_and_then_ended(turns: int) -> None:
    """C-08: searches that find nothing, each in other words: `turns` idle ones, a notice, one more chance, the end."""
    searches = [calls(("search", f'{{"query":"zyzzy{n}"}}')) for n in range(9)]
    answer, client = _ran(Agentic(idle_turns=turns), *searches)
    assert (answer.stopped, len(client.prompts)) == ("loop", turns + 3)
    assert _told(client) == [IDLE]


def test_reading_what_a_search_showed_is_new() -> None:
    """A search, then its document whole, then a search again that shows the same: the first two turns are not idle."""
    assert _told(_ran(Agentic(idle_turns=1), calls(SEARCH), calls(READ), says("x"))[1]) == []
    assert _told(_ran(Agentic(idle_turns=1), calls(SEARCH), calls(SEARCH), calls(READ), says("x"))[1]) == [IDLE]


def test_another_passage_of_a_document_is_new(tmp_path: Path) -> None:
    """In a corpus of one long document every search shows the same document: its passages tell what is new."""
    text = " ".join(f"lamp{n} " + "word " * 40 for n in range(40))
    corpus = loaded(tmp_path, {"long.md": text}, chunk_tokens=50, chunk_overlap=0)
    searches = [calls(("search", f'{{"query":"lamp{n}"}}')) for n in range(0, 40, 8)]
    client = ScriptedClient([*searches, says("x")], corpus)
    assert asyncio.run(Agentic(hits=1, idle_turns=1).answer(QUESTION, client)).stopped is None
    assert _told(client) == []
    assert len({output.passages for output in client.outputs}) == 5
    assert {output.docs for output in client.outputs} == {("long.md",)}


def test_a_spent_budget_leaves_one_turn_to_answer_in() -> None:
    """C-08: 400 tokens a turn, a budget of 1,500: two turns more pass it after the second, whose calls are not run."""
    turns = [_costing(calls(("search", f'{{"query":"{word}"}}')), 400) for word in ("apples", "pears")]
    answer, client = _ran(Agentic(token_budget=1500), *turns, says("In February."))
    assert (answer.stopped, len(client.prompts), _told(client)) == (None, 3, [SPENT])


def test_who_calls_on_after_the_budget_is_spent_ends_unanswered() -> None:
    """Four turns of 500 tokens reach a budget of 2,000 exactly, and not one of 2,001."""
    turns = [_costing(calls(SEARCH), 500), _costing(calls(READ), 500)] * 3
    answer, client = _ran(Agentic(token_budget=2000), *turns)
    assert (answer.stopped, len(client.prompts)) == ("budget", 3)
    assert [output.withheld for output in client.outputs] == [None, "budget"]
    assert len(_ran(Agentic(token_budget=2001), *turns)[1].prompts) == 4


def test_tokens_that_nobody_reported_are_not_counted() -> None:
    """A budget of one token, and no usage: the trial goes on."""
    answer, _ = _ran(Agentic(token_budget=1), _costing(calls(SEARCH), None), says("In February."))
    assert answer.stopped is None


def test_the_cap_ends_first_where_it_comes_first() -> None:
    """The third turn is the cap's: no notice, and the reason is the cap."""
    answer, client = _ran(Agentic(turn_cap=3), *[calls(SEARCH)] * 9)
    assert (answer.stopped, _told(client)) == ("turn_cap", [])


def test_a_turn_of_which_nothing_was_run_is_not_idle() -> None:
    """Otherwise the notice itself would use up the chance that it gives."""
    watch = Watch(Limits(same_call=9, idle_turns=1, token_budget=None))
    use = ToolUse("t1", "search", "{}")
    watch.saw([use], [ToolOutput("", withheld="budget")])
    assert watch.look(calls(SEARCH)).answers == {}
    watch.saw([use], [ToolOutput("nothing")])
    assert list(watch.look(calls(SEARCH)).answers) == ["t1"]
