"""Routing: which way a question goes, by its wording or by a model's word, and what is on the record of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_client import ScriptedClient, says, tiny

from loadrig.arms.escalate import Escalate
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.arms.route import Route
from loadrig.arms.routing import FORM, KINDS, by_rules
from loadrig.config import read_plan
from loadrig.words.arm import Answer
from loadrig.words.corpus import Question
from loadrig.words.errors import InputError
from loadrig.words.prompt import Reply, Said

TOKENS = tiny().tokens
KNOWN = says('{"answer":"In February.","answerable":true,"confidence":0.9}')


def question(text: str) -> Question:
    return Question("q1", "fact", text, "In February.")


def routed(arm: Route, client: ScriptedClient, text: str = "When are apples pruned?") -> Answer:
    return asyncio.run(arm.answer(question(text), client))


def kind(name: str) -> Reply:
    return says(json.dumps({"kind": name}))


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("What is the notice period of the Harrow lease?", "lookup"),
        ("When was the dam at Osk inspected?", "lookup"),
        ("How much does a season ticket cost?", "lookup"),
        ("At which gate do coaches wait?", "lookup"),
        ("Quote the clause on late payment.", "lookup"),
        ("Is the ferry to Osk running today?", "lookup"),
        ("Has the board approved the latest budget?", "lookup"),
        ("Compare what my contracts say on liability.", "lookup"),
        ("Are our invoices listed in all documents?", "lookup"),
        ("Compare the liability caps.", "whole_set"),
        ("Which of the contracts are governed by Danish law?", "whole_set"),
        ("Which contracts lack clause 9?", "whole_set"),
        ("How many suppliers never answered?", "whole_set"),
        ("Is arbitration named in any of these agreements?", "whole_set"),
        ("List all owners.", "whole_set"),
        ("Summarise the minutes.", "whole_set"),
        ("Is the harbour mentioned in every report?", "whole_set"),
        ("Why did the mill close?", "unsure"),
        ("May a guest use the boat?", "unsure"),
        ("Who built the mill, and when was it sold?", "unsure"),
        ("Which parishes were joined?", "unsure"),
        ("How does one renew a licence?", "unsure"),
    ],
)
def test_the_wording_tells_the_way(text: str, way: str) -> None:
    """B-02, B-14, B-15: what is asked for somebody, cited, fresh or single is looked up; all or nothing is the whole
    set's; of the rest the wording does not tell."""
    assert by_rules(text) == way


def test_rules_never_say_multi_hop_and_the_classifier_may() -> None:
    """The form's kinds are the four of the router."""
    assert json.loads(FORM)["properties"]["kind"]["enum"] == list(KINDS)
    assert KINDS == ("lookup", "multi_hop", "whole_set", "unsure")


@pytest.mark.parametrize(
    ("named", "route", "prompts"),
    [("lookup", "lookup>rag", 2), ("multi_hop", "multi_hop>agentic", 2), ("whole_set", "whole_set>full_context", 2)],
)
def test_a_kind_goes_its_way(named: str, route: str, prompts: int) -> None:
    """C-04: a turn to classify, in a form and within 256 tokens, then the arm of that kind; both on the record."""
    client = ScriptedClient([kind(named), says("In February.")])
    answer = routed(Route(by="classifier"), client)
    assert (answer.route, answer.route_note, answer.reply.text) == (route, None, "In February.")
    assert client.purposes == ["classify", "answer"]
    assert (client.prompts[0].form, client.prompts[0].max_tokens) == (FORM, 256)
    assert len(client.prompts) == prompts


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        (Reply('{"kind":"multi_hop"}', "max_tokens", (), Said(b"")), "fallback: max_tokens"),
        (Reply('{"kind":"multi_hop"}', "refusal", (), Said(b"")), "fallback: refusal"),
        (Reply('{"kind":"multi_hop"}', "other", (), Said(b"")), "fallback: other"),
        (says('{"kind":"mul'), "fallback: unreadable"),
        (says('["multi_hop"]'), "fallback: unreadable"),
        (says('{"kind":"novel"}'), "fallback: no such kind"),
        (says('{"kind":["multi_hop"]}'), "fallback: no such kind"),
        (says("{}"), "fallback: no such kind"),
    ],
)
def test_what_the_classifier_did_not_say_is_retrieved(reply: Reply, note: str) -> None:
    """C-04: any stop but the end of a turn, no JSON, or no such kind goes to rag, and the record says why."""
    answer = routed(Route(by="classifier"), ScriptedClient([reply, says("In February.")]))
    assert (answer.route, answer.route_note) == ("fallback>rag", note)
    assert answer.retrieved


@pytest.mark.parametrize(
    ("ceiling", "route", "note"),
    [(TOKENS, "whole_set>full_context", None), (TOKENS - 1, "whole_set>rag", "over the ceiling")],
)
@pytest.mark.parametrize("by", ["rules", "classifier"])
def test_over_the_ceiling_is_retrieved_whatever_the_router_says(
    by: Any, ceiling: int, route: str, note: str | None
) -> None:
    """B-03: exactly at the ceiling the set is stuffed, one token more and it is not."""
    replies = [says("x")] if by == "rules" else [kind("whole_set"), says("x")]
    answer = routed(Route(by=by, ceiling_tokens=ceiling), ScriptedClient(replies), "Which of the trees lack a label?")
    assert (answer.route, answer.route_note) == (route, note)


def test_the_ceiling_is_that_of_the_defaults() -> None:
    """64,000 tokens, and eight passages, unless a plan says otherwise."""
    assert (Route().ceiling_tokens, Route().rag, Route().floor) == (64_000, Rag(k=8), 0.8)


def test_what_the_router_cannot_tell_is_tried_and_escalated() -> None:
    """B-02: rag first; it stays there when it is sure, and goes to the whole set when it is not."""
    why = "Why are apples pruned?"
    kept = routed(Route(), ScriptedClient([KNOWN]), why)
    assert (kept.route, kept.reply.text, kept.confidence) == ("unsure>rag", "In February.", 0.9)
    unknown = says('{"answer":"?","answerable":true,"confidence":0.2}')
    went = routed(Route(), ScriptedClient([unknown, says("In February.")]), why)
    assert (went.route, went.route_note) == ("unsure>rag>full_context", "confidence below the floor")
    assert went.confidence == 0.2


def test_what_the_router_cannot_tell_may_just_be_retrieved() -> None:
    """`unsure = "rag"`: one turn, no form."""
    client = ScriptedClient([says("In February.")])
    assert routed(Route(unsure="rag"), client, "Why?").route == "unsure>rag"
    assert client.prompts[0].form is None


def test_a_floor_that_nothing_is_held_to_is_refused(tmp_path: Path) -> None:
    """`unsure = "rag"` asks for no confidence; a plan is told in words, by its arm."""
    with pytest.raises(InputError, match="floor is about escalation"):
        plan(tmp_path, '[[arm]]\nkind = "route"\nunsure = "rag"\nfloor = 0.5\n')
    assert Route(floor=0.5).floor == 0.5


def test_names_say_what_differs() -> None:
    """Two routers of a plan can be told apart by their names."""
    assert [Route().name, Route(by="classifier").name] == ["route-rules", "route-classifier"]
    named = Route(unsure="rag", ceiling_tokens=9, rag=Rag(k=3)).name
    assert named == "route-rules-unsure-rag-ceiling-9-rag-bm25-k3"


def test_a_router_is_estimated_at_its_dearest_way() -> None:
    """At most: whatever the kinds turn out to be, a trial's prompts are no more than that."""
    arm = Route(by="classifier")
    ways = [way.prompt_tokens(tiny()) for way in (arm.rag, arm.agentic, arm.full_context)]
    assert arm.prompt_tokens(tiny()) > max(ways)


@pytest.mark.parametrize("made_of", [Route, Escalate])
def test_a_cached_way_is_primed_where_it_may_be_gone(made_of: Any) -> None:
    """What full context would ask beforehand, and nothing over the ceiling."""
    cached, view = FullContext(cache="5m"), ScriptedClient([]).view
    asked = cached.primes(view, (), "r")
    assert asked
    assert made_of(full_context=cached).primes(view, (), "r") == asked
    assert made_of(full_context=cached, ceiling_tokens=TOKENS - 1).primes(view, (), "r") == ()
    assert made_of().primes(view, (), "r") == ()


def plan(tmp_path: Path, lines: str) -> Any:
    path = tmp_path / "p.toml"
    path.write_text(
        '[corpus]\npath = "corpora/tiny"\n[questions]\npath = "questions/tiny.jsonl"\n[[model]]\nid = "m"\n' + lines
    )
    return read_plan(path).arms[0]


def test_a_ways_own_options_stand_in_a_table(tmp_path: Path) -> None:
    """What the table does not name stays as the router has it: eight passages, not the rag arm's own five."""
    arm = plan(tmp_path, '[[arm]]\nkind = "route"\n[arm.rag]\nunit = "document"\n[arm.agentic]\nturn_cap = 3\n')
    assert arm.rag == Rag(k=8, unit="document")
    assert arm.agentic == replace(Route().agentic, turn_cap=3)


@pytest.mark.parametrize(
    ("table", "problem"), [("unti = 3", "unknown key 'arm.0.rag.unti'"), ("k = []", "'k' is an empty list")]
)
def test_a_wrong_option_of_a_way_is_told(tmp_path: Path, table: str, problem: str) -> None:
    """As an arm's own: the key is named, never passed over."""
    with pytest.raises(InputError) as error:
        plan(tmp_path, f'[[arm]]\nkind = "route"\n[arm.rag]\n{table}\n')
    assert error.value.problem == problem
