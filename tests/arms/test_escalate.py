"""Escalation: retrieval first, and more only where the reply says that it will not do."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import pytest
from scripted_client import ScriptedClient, says, tiny

from loadrig.arms.escalate import FORM, SURE, Escalate, said_in
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.words.arm import Answer
from loadrig.words.corpus import Question
from loadrig.words.prompt import Reply, Said

QUESTION = Question("q1", "fact", "When are apples pruned?", "In February.")
TOKENS = tiny().tokens


def form(answerable: object = True, confidence: object = 0.9, answer: object = "In February.") -> Reply:
    return says(json.dumps({"answer": answer, "answerable": answerable, "confidence": confidence}))


def answered(arm: Escalate, *replies: Reply) -> tuple[Answer, ScriptedClient]:
    client = ScriptedClient(replies)
    return asyncio.run(arm.answer(QUESTION, client)), client


def test_a_sure_answer_is_kept_and_shown_without_its_form() -> None:
    """One turn: the rag arm's own prompt with a sentence and a form more; the answer is plain text."""
    answer, client = answered(Escalate(), form())
    assert (answer.reply.text, answer.route, answer.route_note) == ("In February.", "rag", None)
    assert answer.confidence == 0.9
    plain, _ = asyncio.run(Rag(k=8).prompt(QUESTION, ScriptedClient([])))
    (asked,) = client.prompts
    assert (asked.system, asked.form) == (f"{plain.system} {SURE}", FORM)
    assert asked.messages == plain.messages


@pytest.mark.parametrize(
    ("first", "note"),
    [
        (form(confidence=0.8), None),
        (form(confidence=0.79), "confidence below the floor"),
        (form(answerable=False, confidence=0.99), "not answerable"),
        (form(confidence=None), "no confidence"),
        (form(confidence="high"), "no confidence"),
        (form(confidence=True), "no confidence"),
        (form(confidence=1.01), "no confidence"),
        (form(confidence=-0.1), "no confidence"),
        (form(answerable="yes"), "no confidence"),
        (says("In February."), "no confidence"),
        (says("[0.9]"), "no confidence"),
        (Reply('{"answer":"In', "max_tokens", (), Said(b"")), "no confidence: max_tokens"),
        (Reply("", "refusal", (), Said(b"")), "no confidence: refusal"),
    ],
)
def test_only_what_is_not_sure_enough_goes_on(first: Reply, note: str | None) -> None:
    """B-02, B-20: exactly 0.8 stays; less, not answerable, or not rightly said goes to the whole, and why is told."""
    answer, client = answered(Escalate(), first, says("From all."))
    assert (answer.route, answer.route_note) == ("rag" if note is None else "rag>full_context", note)
    assert answer.reply.text == ("In February." if note is None else "From all.")
    assert len(client.prompts) == (1 if note is None else 2)


def test_not_a_number_is_no_confidence() -> None:
    """JSON knows no NaN, but a reply may hold one: it is unreadable, never 'above' the floor."""
    assert said_in('{"answer":"x","answerable":true,"confidence":NaN}').confidence is None
    assert said_in(form(confidence=1).text).confidence == 1.0
    assert not math.isnan(said_in(form().text).confidence or 0.0)


@pytest.mark.parametrize(
    ("ceiling", "over", "route", "text"),
    [
        (TOKENS, "agentic", "rag>full_context", "More."),
        (TOKENS - 1, "agentic", "rag>agentic", "More."),
        (TOKENS - 1, "keep", "rag", "Maybe."),
    ],
)
def test_over_the_ceiling_the_agent_searches_or_the_first_answer_stays(
    ceiling: int, over: str, route: str, text: str
) -> None:
    """B-03: the whole is put before a model up to the ceiling, and not for one token more."""
    arm = Escalate(ceiling_tokens=ceiling, over=over)  # type: ignore[arg-type]
    answer, _ = answered(arm, form(confidence=0.1, answer="Maybe."), says("More."))
    assert (answer.route, answer.reply.text, answer.confidence) == (route, text, 0.1)
    kept = "; kept, over the ceiling" if route == "rag" else ""
    assert answer.route_note == f"confidence below the floor{kept}"


def test_it_may_always_go_to_the_agent() -> None:
    """`to = "agentic"`: the next turn offers tools, under the ceiling too."""
    answer, client = answered(Escalate(to="agentic"), form(answerable=False), says("Found."))
    assert (answer.route, bool(client.prompts[1].tools)) == ("rag>agentic", True)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"full_context": FullContext(ids=False)}, "leave out .arm.full_context."),
        ({"over": "keep"}, "knows no ceiling"),
        ({"ceiling_tokens": 9}, "knows no ceiling"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(given: dict[str, Any], why: str) -> None:
    """Where the agent always follows, the whole set and its ceiling play no part, and nobody is to measure them."""
    with pytest.raises(ValueError, match=why):
        Escalate(to="agentic", **given)
    assert Escalate(**given) != Escalate()


def test_what_was_retrieved_stays_on_the_record() -> None:
    """An escalated answer still tells the passages that did not do."""
    answer, _ = answered(Escalate(rag=Rag(k=2)), form(answerable=False), says("x"))
    assert len(answer.retrieved) == 2


def test_its_floor_is_its_own() -> None:
    """A lower floor keeps what the default sends on; names tell."""
    arm = Escalate(floor=0.5, rag=Rag(k=3))
    assert answered(arm, form(confidence=0.5))[0].route == "rag"
    assert (Escalate().name, arm.name) == ("escalate", "escalate-floor-0.5-rag-bm25-k3")


def test_its_estimate_is_that_of_every_question_escalated() -> None:
    """The first turn and the whole set; over the ceiling the first turn and the agent's."""
    rag, whole, agent = (arm.prompt_tokens(tiny()) for arm in (Rag(k=8), Escalate().full_context, Escalate().agentic))
    assert Escalate().prompt_tokens(tiny()) == rag + whole
    assert Escalate(ceiling_tokens=0).prompt_tokens(tiny()) == rag + agent
    assert Escalate(ceiling_tokens=0, over="keep").prompt_tokens(tiny()) == rag
