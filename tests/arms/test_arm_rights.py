"""What an arm must say of itself before it may run where not everyone sees everything."""

from __future__ import annotations

import asyncio
from dataclasses import fields, is_dataclass
from itertools import repeat
from pathlib import Path

import pytest
from scripted_client import ScriptedClient, says, tiny
from tenants import arms, made

from loadrig import corpus
from loadrig.corpus.rights import OPTION
from loadrig.corpus.view import view_of
from loadrig.words.arm import Arm, Builds
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import TurnFailed
from loadrig.words.prompt import Ask, Part, Prompt

ASKED = (
    Question("q1", "fact", "When are apples pruned?", "", gold=("trees/apples.md",)),
    Question("q2", "fact", "When are plums pruned?", "", gold=("trees/plums.txt",)),
)


def prompts(arm: Arm, question: Question, over: Corpus, caller: tuple[str, ...] = ()) -> list[Prompt]:
    """All that the arm puts before the model for the caller; nothing where so small a corpus does not do."""
    client = ScriptedClient(repeat(says("In February.")), over, caller)
    if isinstance(arm, Builds):
        client.built = asyncio.run(arm.build(client.view, _summary))
    try:
        asyncio.run(arm.answer(question, client))
    except TurnFailed:
        return []
    return client.prompts


def kept(arm: Arm, question: Question) -> set[str]:
    """The blocks of documents that are made to go out as they are in many trials, or to be kept by the endpoint."""
    asked = prompts(arm, question, tiny())
    asks = (message for prompt in asked for message in prompt.messages if isinstance(message, Ask))
    parts = (part for message in asks for part in message.parts if isinstance(part, Part))
    return {part.text for part in parts if "<document" in part.text and (part.static or part.cache)}


async def _summary(prompt: Prompt) -> str:
    return "It tells of trees."


def has_option(arm: object) -> bool:
    inner = (getattr(arm, one.name) for one in fields(arm)) if is_dataclass(arm) else ()
    return hasattr(arm, OPTION) or any(has_option(one) for one in inner if is_dataclass(one))


def test_an_arm_whose_prompts_share_documents_has_the_option() -> None:
    """C-12: a new arm that shows many trials the same documents cannot be forgotten where rights are mixed."""
    found = {arm.name: arm for arm in arms(tiny())[0] if set(arm.retrievers) <= {"bm25"}}
    sharing = {name for name, arm in found.items() if set.intersection(*(kept(arm, one) for one in ASKED))}
    assert {"full_context", "full_context-cache5m"} <= sharing
    assert [name for name in sorted(sharing) if not has_option(found[name])] == []


@pytest.mark.parametrize("caller", [("blue",), ("guest",), ()])
def test_what_is_hidden_changes_nothing_of_what_is_shown(caller: tuple[str, ...], tmp_path: Path) -> None:
    """Of an arm that searches nothing the prompts are, byte for byte, those over a corpus without the hidden documents.
    (A search ranks by statistics of the whole corpus, so there the order may differ, and no more.)"""
    world = made(tmp_path)
    whole = corpus.load(world.plan([], "").corpus)
    own = view_of(whole, caller).corpus
    assert len(own.documents) < len(whole.documents)
    question = Question("q", "fact", "How often is the boiler checked?", "", caller=caller)
    for arm in arms(whole)[0]:
        if not arm.retrievers:
            assert prompts(arm, question, whole, caller) == prompts(arm, question, own, caller), arm.name
