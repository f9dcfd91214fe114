"""Options that change one thing: a sentence of the instructions, the documents' order, what their tags say."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_client import ScriptedClient, calls, says, tiny

from loadrig.arms.agentic import Agentic
from loadrig.arms.cached_core import CachedCore
from loadrig.arms.decompose import Decompose
from loadrig.arms.full_context import FullContext
from loadrig.arms.instructions import CHRONOLOGY, DIRECT, REJECTED, WITH_TOOLS
from loadrig.arms.rag import Rag
from loadrig.config import read_plan
from loadrig.execution.folder import plan_as_json
from loadrig.execution.options import Overrides, overridden
from loadrig.words.corpus import Chunk, Corpus, Document, Question
from loadrig.words.prompt import Ask, Prompt

QUESTION = Question("q1", "fact", "When are apples pruned?", "In February.")
FACTORIAL = Path("plans/factorial.toml")
KINDS = (Rag(), FullContext(), Agentic())
each_kind = pytest.mark.parametrize("arm", KINDS, ids=lambda arm: arm.name)


def asked(arm: Any) -> list[Prompt]:
    turns = [calls(("list_documents", "{}"))] if arm.name.startswith("agentic") else []
    client = ScriptedClient([*turns, says("x")])
    asyncio.run(arm.answer(QUESTION, client))
    return client.prompts


def library(arm: FullContext) -> str:
    (message,) = asked(arm)[0].messages
    assert isinstance(message, Ask)
    return message.parts[0].text


def ids(arm: FullContext) -> list[str]:
    return re.findall(r'<document id="([^"]+)"', library(arm))


def test_names_of_the_defaults_are_what_they_were() -> None:
    """A run of today compares with one of yesterday by its arms' names."""
    names = [arm.name for arm in (FullContext(), Rag(), Rag(k=3, order="document"), Agentic(), Agentic(hits=3))]
    assert names == ["full_context", "rag-bm25-k5", "rag-bm25-k3-inorder", "agentic", "agentic-bm25-h3-t12"]


def test_every_other_value_marks_the_name() -> None:
    """Two arms of a plan can be told apart by their names alone."""
    changed: dict[str, Any] = {"chronology": False, "rejected": False}
    bare = FullContext(**changed, order="reverse", ids=False)
    assert bare.name == "full_context-nochronology-norejected-reverse-noids"
    assert [FullContext(order="name").name, FullContext(order="shuffle").name] == [
        "full_context-name",
        "full_context-shuffle",
    ]
    assert Rag(**changed).name == "rag-bm25-k5-nochronology-norejected"
    assert (Agentic(chronology=False).name, Agentic(hits=3, rejected=False).name) == (
        "agentic-nochronology",
        "agentic-bm25-h3-t12-norejected",
    )


@each_kind
@pytest.mark.parametrize(("option", "sentence"), [("chronology", CHRONOLOGY), ("rejected", REJECTED)])
def test_a_sentence_switched_off_is_all_that_changes(arm: Any, option: str, sentence: str) -> None:
    """A-37: messages and tools of every turn are equal, the instructions lack the sentence and the blank behind it."""
    for whole, without in zip(asked(arm), asked(replace(arm, **{option: False})), strict=True):
        assert whole.system == (WITH_TOOLS if whole.tools else DIRECT)
        assert without.system == whole.system.replace(f"{sentence} ", "", 1) != whole.system
        assert (without.messages, without.tools) == (whole.messages, whole.tools)


def test_orders_are_of_the_same_documents() -> None:
    """By date, exactly backwards, by name; the shuffle is none of these, and the same again."""
    by_date = [document.id for document in tiny().documents]
    assert ids(FullContext()) == by_date
    assert ids(FullContext(order="reverse")) == by_date[::-1]
    assert ids(FullContext(order="name")) == sorted(by_date)
    shuffled = ids(FullContext(order="shuffle"))
    assert sorted(shuffled) == sorted(by_date)
    assert shuffled not in (by_date, by_date[::-1], sorted(by_date))
    assert ids(FullContext(order="shuffle")) == shuffled


def test_without_ids_the_tags_lose_their_attributes_and_nothing_else() -> None:
    """One variable: the same texts in the same order, under the same instructions."""
    whole, bare = FullContext(), FullContext(ids=False)
    assert re.sub(r"<document [^>]*>", "<document>", library(whole)) == library(bare) != library(whole)
    assert asked(whole)[0].system == asked(bare)[0].system


def test_every_variant_of_the_block_is_static() -> None:
    """What the same for all questions is serialised once, whatever its order."""
    (message,) = asked(FullContext(order="reverse", ids=False))[0].messages
    assert isinstance(message, Ask)
    assert [part.static for part in message.parts] == [True, False]


def test_four_options_of_two_values_are_sixteen_arms() -> None:
    """A-38: a list in a plan is one arm of each value, so the plan is the factorial."""
    arms = [arm for arm in read_plan(FACTORIAL).arms if arm.name != "control"]
    assert len({arm.name for arm in arms}) == 16
    options = {(a.chronology, a.rejected, a.order, a.ids) for a in arms if isinstance(a, FullContext)}
    assert len(options) == 16


def test_a_kind_still_names_all_of_its_arms() -> None:
    """`--arm full_context` chooses all sixteen, and not the control."""
    plan = read_plan(FACTORIAL)
    assert len(overridden(plan, Overrides(arm=("full_context",))).arms) == 16
    assert [arm.name for arm in overridden(plan, Overrides(arm=("full_context-noids",))).arms] == ["full_context-noids"]


def test_the_manifest_has_every_option() -> None:
    """Whoever reads the run later knows which sentence an arm had."""
    described = plan_as_json(read_plan(FACTORIAL))["arms"][1]
    assert (described["name"], described["chronology"], described["rejected"]) == ("full_context", True, True)
    assert (described["order"], described["ids"]) == ("date", True)


def test_the_ablation_is_a_list_too() -> None:
    """plans/ablation.toml takes the sentence out of each kind of arm, and changes nothing else."""
    names = [arm.name for arm in read_plan(Path("plans/ablation.toml")).arms]
    assert names == [
        "control", "rag-bm25-k5", "rag-bm25-k5-nochronology", "rag-bm25-k20", "rag-bm25-k20-nochronology",
        "full_context", "full_context-nochronology", "agentic", "agentic-nochronology",
    ]  # fmt: skip


def test_an_estimate_is_of_the_pieces_that_there_are() -> None:
    """Four documents of 100 tokens in eight passages of 50, 25 tokens of tags each, 220 of a turn's own: five passages
    375, four documents 500, and of ten passages for two parts the eight that there are, over two turns."""
    documents = tuple(Document(f"d{number}", "x", 100) for number in range(4))
    chunks = tuple(Chunk(f"d{n // 2}#{n % 2}", f"d{n // 2}", n % 2, "x", 50) for n in range(8))
    corpus = Corpus("c", documents, chunks, (), "", "")
    assert (Rag(k=5).prompt_tokens(corpus), Rag(k=5, unit="document").prompt_tokens(corpus)) == (595, 720)
    assert Decompose(k=5).prompt_tokens(corpus) == 440 + 600
    assert CachedCore(core_tokens=100, k=5).prompt_tokens(corpus) == 220 + 125 + 375
