"""The simulated model splits a question by its own words, and an agent looks up what a scenario tells it to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from collection import SWIM, TOOLS, shown
from simulated import FAST, asking, running

from loadrig.arms.decompose import FORM
from loadrig.simulator.reading import read
from loadrig.simulator.reply import Call, Text
from loadrig.simulator.request import BadRequestError, parse_request
from loadrig.simulator.scenario import Scenario
from loadrig.simulator.splitting import split


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When does the pool open?", ["When does the pool open?"]),
        ("When does the pool open, and who keeps the key?", ["When does the pool open", "who keeps the key"]),
        (
            "Who chairs the board that closed the sauna?",
            ["board closed the sauna", "Who chairs the board"],
        ),
        (
            "A guest of Hotel Adler asks for a towel. Who lends one, and at what price is it lent?",
            [
                "A guest of Hotel Adler asks for a towel",
                "at what price is it lent (Hotel Adler)",
            ],
        ),
        ("Which lane is wide and deep?", ["Which lane is wide and deep?"]),
    ],
)
def test_a_question_is_cut_where_its_words_join_two(question: str, parts: list[str]) -> None:
    """At another question, before a clause on something named, between sentences; names go along."""
    assert split(question) == parts


def form(schema: object) -> dict[str, object]:
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def replied(body: dict[str, Any], scenario: Scenario | None = None, attempt: str = "t.1.1") -> tuple[Any, ...]:
    found = read(msgspec.json.encode(body), attempt, scenario or Scenario())
    assert found.refused is None, found.refused
    return found.reply.blocks


def test_a_form_of_one_list_of_texts_is_the_question_in_parts() -> None:
    """JSON of that form, whatever its only field is called, and no document is needed for it."""
    (block,) = replied(asking("When does the pool open, and who keeps the key?", **form(json.loads(FORM))))
    assert isinstance(block, Text)
    assert json.loads("".join(block.pieces)) == {"questions": ["When does the pool open", "who keeps the key"]}


@pytest.mark.parametrize("wish", [{"type": "xml"}, {"type": "json_schema"}, {"type": "json_schema", "schema": "x"}])
def test_a_form_that_is_none_is_refused(wish: dict[str, object]) -> None:
    """As the API does: 400 with the field's name."""
    body = msgspec.json.encode({**asking("Who?"), "output_config": {"format": wish}})
    with pytest.raises(BadRequestError, match=r"output_config\.format"):
        parse_request(body)


def test_an_agent_looks_up_what_it_was_told_to_first() -> None:
    """Two of the scenario's texts, as query and as name, beside its own first search; in the next turn no more."""
    body = {**asking("When does the pool open?"), "tools": TOOLS}
    first = replied(body, Scenario(asks_for=("../x", "note-9")))
    calls = [(call.name, json.loads("".join(call.pieces))) for call in first if isinstance(call, Call)]
    assert calls[0] == ("search", {"query": "pool open"})
    for text in ("../x", "note-9"):
        assert ("search", {"query": text}) in calls
        assert ("read", {"document": text}) in calls
    assert len(calls) == 5
    assert len(replied(body)) == 1


def test_bodies_are_kept_as_they_came(tmp_path: Path) -> None:
    """Byte for byte, also one that is no JSON, each behind a line that tells whose it is."""
    log = tmp_path / "bodies"
    with running(FAST, tmp_path, "--body-log", str(log)) as simulator:
        simulator.post(asking("Who?", shown(SWIM)), attempt="a.1.1")
        simulator.post(b'{"no\njson', attempt="b.1.1")
        simulator.stop()
    first = json.dumps(asking("Who?", shown(SWIM))).encode()
    head, rest = log.read_bytes().split(b"\n", 1)
    assert json.loads(head) | {"request_id": ""} == {
        "attempt": "a.1.1", "request_id": "", "path": "/v1/messages", "bytes": len(first),
    }  # fmt: skip
    assert rest.startswith(first + b"\n")
    assert rest.endswith(b'"bytes":9}\n{"no\njson\n')
