"""Decomposition: into which parts, what is looked for, in which order it is shown, and what a poor reply leads to."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from scripted_client import ScriptedClient, says
from texts import loaded

from loadrig.arms.decompose import FORM, Decompose, merged, parts_of
from loadrig.arms.instructions import DIRECT, SPLITTING
from loadrig.arms.rag import NO_HIT
from loadrig.words.arm import Answer
from loadrig.words.corpus import Hit, Question
from loadrig.words.prompt import Ask, Part, Prompt, Reply, Said

BOTH = "Who mends the gate and who paints the mill?"
QUESTION = Question("q1", "multi_hop", BOTH, "")
FILES = {
    "gate.md": "The gate is mended by Amsel.", "mill.md": "The mill is painted by Brandt.",
    "pond.md": "Nobody swims in the pond.", "road.md": "The road is swept on Mondays.",
}  # fmt: skip


def asked(folder: Path, *replies: Reply, arm: Decompose | None = None) -> tuple[ScriptedClient, Answer]:
    client = ScriptedClient([*replies, says("Amsel and Brandt.")], loaded(folder, FILES))
    return client, asyncio.run((arm or Decompose(k=1)).answer(QUESTION, client))


def shown(prompt: Prompt) -> list[str]:
    (message,) = prompt.messages
    assert isinstance(message, Ask)
    return re.findall(r'<document id="([^"]+)"', message.parts[0].text)


def split(*parts: str) -> Reply:
    return says(json.dumps({"questions": parts}))


def test_documents_are_looked_for_to_each_part_and_all_is_answered_once(tmp_path: Path) -> None:
    """Two parts, one hit each: both documents stand in the one prompt that is answered, behind them the question."""
    client, answer = asked(tmp_path, split("Who mends the gate?", "Who paints the mill?"))
    assert client.purposes == ["decompose", "answer"]
    assert shown(client.prompts[1]) == ["gate.md", "mill.md"]
    assert client.prompts[1].messages[0].parts[-1] == Part(f"Question: {BOTH}")  # type: ignore[union-attr]
    assert client.prompts[1].system == DIRECT
    assert [hit.doc for hit in answer.retrieved] == ["gate.md", "mill.md"]
    assert (answer.reply.text, answer.route, answer.route_note) == ("Amsel and Brandt.", "split", None)


def test_the_question_is_split_before_a_document_is_shown(tmp_path: Path) -> None:
    """The first prompt holds the question and nothing of the corpus, and asks for a list of questions."""
    client, _ = asked(tmp_path, split("Who mends the gate?", "Who paints the mill?"))
    assert client.prompts[0] == Prompt(
        SPLITTING, (Ask((Part(f"Question: {BOTH}"),)),), form=FORM, max_tokens=client.prompts[0].max_tokens
    )


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        (says("I would look at the gate first."), "the reply has not the form"),
        (says('{"parts": ["Who mends the gate?"]}'), "the reply has not the form"),
        (says('{"questions": "Who?"}'), "the reply has not the form"),
        (says('{"questions": [" ", ""]}'), "the reply names no part"),
        (says('{"questions": []}'), "the reply names no part"),
        (Reply('{"questions": ["Who', "max_tokens", (), Said(b"[]")), "the reply stopped: max_tokens"),
        (Reply("", "refusal", (), Said(b"[]")), "the reply stopped: refusal"),
    ],
)
def test_a_reply_that_splits_nothing_leaves_the_question_itself(tmp_path: Path, reply: Reply, note: str) -> None:
    """Then it is retrieval as always, and the record says why."""
    client, answer = asked(tmp_path, reply, arm=Decompose(k=2))
    assert sorted(shown(client.prompts[1])) == ["gate.md", "mill.md"]
    assert (answer.route, answer.route_note) == ("whole", note)


def test_a_question_that_is_its_own_only_part_was_asked_whole(tmp_path: Path) -> None:
    """No fault, so no note."""
    _, answer = asked(tmp_path, split(BOTH))
    assert (answer.route, answer.route_note) == ("whole", None)


def test_no_more_parts_than_allowed_each_once() -> None:
    """Five named, one of them twice, at most three: the first three that differ."""
    text = '{"questions": ["a b", " a b ", "c d", "e f", "g h"]}'
    assert parts_of(text, BOTH, 3).parts == ("a b", "c d", "e f")


def test_hits_stand_by_rank_and_each_once() -> None:
    """First hits of all parts, then the second ones: a, c, b, d, and what came again is where it was first."""
    a, b, c, d = (Hit(name, f"{name}#0", 1.0) for name in "abcd")
    assert merged([(a, b), (c, a, d)]) == (a, c, b, d)
    assert merged([(a, b), (), (b,)]) == (a, b)
    more = Hit("a", "a#1", 0.5)
    assert merged([(a, more), (b,)]) == (a, b, more)  # another passage of a document is not the same


def test_parts_without_a_known_word_show_no_document(tmp_path: Path) -> None:
    """As in retrieval: it says so."""
    client, answer = asked(tmp_path, split("Zyzzyva?", "Xylem?"))
    assert client.prompts[1].messages[0].parts[0] == Part(NO_HIT)  # type: ignore[union-attr]
    assert answer.retrieved == ()


def test_options_stand_in_the_name() -> None:
    """Two arms of a plan can be told apart."""
    assert Decompose().name == "decompose-bm25-k5"
    assert Decompose(k=3, parts=2, unit="document", chronology=False).name == ("decompose-bm25-k3-p2-docs-nochronology")
