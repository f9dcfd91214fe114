"""What an arm must say of itself before it may run where not everyone sees everything."""

from __future__ import annotations

import asyncio
from dataclasses import fields, is_dataclass
from itertools import repeat

from scripted_client import ScriptedClient, says, tiny
from tenants import arms

from loadrig.corpus.rights import OPTION
from loadrig.words.arm import Arm, Builds
from loadrig.words.corpus import Question
from loadrig.words.errors import TurnFailed
from loadrig.words.prompt import Ask, Part, Prompt

ASKED = (
    Question("q1", "fact", "When are apples pruned?", "", gold=("trees/apples.md",)),
    Question("q2", "fact", "When are plums pruned?", "", gold=("trees/plums.txt",)),
)


def kept(arm: Arm, question: Question) -> set[str]:
    """The blocks of documents that are made to go out as they are in many trials, or to be kept by the endpoint."""
    client = ScriptedClient(repeat(says("In February.")))
    if isinstance(arm, Builds):
        client.built = asyncio.run(arm.build(client.view, _summary))
    try:
        asyncio.run(arm.answer(question, client))
    except TurnFailed:  # so small a corpus cannot give it what it needs
        return set()
    asks = (message for prompt in client.prompts for message in prompt.messages if isinstance(message, Ask))
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
