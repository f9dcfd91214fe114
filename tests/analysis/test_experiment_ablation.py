"""Two arms that differ in one sentence: proved from the bytes that were sent, and refuted by any other difference."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import pytest
from compared import nothing_to_collect  # noqa: F401
from experimented import described, run_of_bits
from msgspec import structs
from records import turn
from scripted_client import ScriptedClient, says

from loadrig.analysis.experiments.ablation import Ablation, ablations, removed
from loadrig.analysis.experiments.cells import cells
from loadrig.arms.full_context import FullContext
from loadrig.arms.instructions import CHRONOLOGY, REJECTED
from loadrig.arms.rag import Rag
from loadrig.providers import TABLE, load
from loadrig.words.corpus import Question
from loadrig.words.prompt import Prompt
from loadrig.words.settings import ModelSettings

MODEL = ModelSettings(id="m")
ASKED = ("When are apples pruned?", "Who keeps the keys?")


def prompts_of(arm: Any) -> list[Prompt]:
    client = ScriptedClient([says("x")] * len(ASKED))
    for number, text in enumerate(ASKED):
        asyncio.run(arm.answer(Question(f"q{number}", "fact", text, "x"), client))
    return client.prompts


def sent(arm: Any, provider: str = "anthropic") -> list[tuple[bytes, ...]]:
    """The arm's first request for each question, in fragments, as a dialect writes it."""
    return [load(provider).body(prompt, MODEL) for prompt in prompts_of(arm)]


def proof(whole: list[tuple[bytes, ...]], without: list[tuple[bytes, ...]], option: str = "chronology") -> Ablation:
    fragments: dict[str, bytes] = {}
    arms = [described("rag", name, **{option: name == "with"}) for name in ("with", "without")]
    run = run_of_bits(arms, {("m", "with"): "11", ("m", "without"): "11"})
    records = [
        structs.replace(record, turns=(turn(prompt=_kept(bodies[int(record.question[1:])], fragments)),))
        for record, bodies in zip(run.records, [whole] * 2 + [without] * 2, strict=True)
    ]
    (found,) = ablations(cells(replace(run, records=tuple(records))), fragments)
    return found


def _kept(parts: tuple[bytes, ...], fragments: dict[str, bytes]) -> tuple[str, ...]:
    hashes = tuple(blake2b(part, digest_size=12).hexdigest() for part in parts)
    fragments.update(zip(hashes, parts, strict=True))
    return hashes


@pytest.mark.parametrize(("option", "sentence"), [("chronology", CHRONOLOGY), ("rejected", REJECTED)])
@pytest.mark.parametrize("arm", [Rag(k=2), FullContext()], ids=["rag", "full_context"])
@pytest.mark.parametrize("provider", TABLE)
def test_one_sentence_less_and_else_the_same_bytes_is_proved(
    arm: Any, option: str, sentence: str, provider: str
) -> None:
    """A-37: over both questions, with the sentence that was taken out; the same passages were found."""
    found = proof(sent(arm, provider), sent(replace(arm, **{option: False}), provider), option)
    assert (found.proved, found.n, found.sentence, found.difference) == (True, 2, sentence, None)
    assert (found.option, found.arm, found.without) == (option, "with", "without")


def _changed(prompt: Prompt, change: Mapping[str, str]) -> Prompt:
    system = prompt.system
    for old, new in change.items():
        assert old in system
        system = system.replace(old, new)
    return structs.replace(prompt, system=system)


@pytest.mark.parametrize(
    "change",
    [
        {f"{CHRONOLOGY} ": "", f"{REJECTED} ": ""},
        {CHRONOLOGY: ""},
        {f"{CHRONOLOGY} ": "", "never guess": "never  guess"},
        {f"{CHRONOLOGY} ": "Mind the dates. "},
        {"Later documents may change or reverse what earlier ones decided: ": ""},
        {},
    ],
    ids=["two sentences", "its blank stays", "a blank more", "another sentence", "half of it", "nothing"],
)
def test_a_builder_of_prompts_that_does_anything_else_is_not_proved(change: dict[str, str]) -> None:
    """Each mutation is seen, and its place is told."""
    without = [load("anthropic").body(_changed(prompt, change), MODEL) for prompt in prompts_of(Rag(k=2))]
    found = proof(sent(Rag(k=2)), without)
    assert (found.proved, found.n) == (False, 1)
    assert found.difference is not None
    assert found.difference.startswith("q0: ")


def test_another_passage_is_not_one_sentence() -> None:
    """The sentence is gone, but retrieval found one passage more: two variables."""
    found = proof(sent(Rag(k=2)), sent(Rag(k=3, chronology=False)))
    assert (found.proved, found.sentence) == (False, None)


def test_a_question_sent_in_two_forms_is_no_proof() -> None:
    """What an arm asks hangs on the question alone; else the pairs are of chance."""
    whole, without = sent(Rag(k=2)), sent(Rag(k=2, chronology=False))
    other = (*whole[0][:-1], whole[0][-1].replace(b"You answer", b"You do answer"))
    fragments: dict[str, bytes] = {}
    arms = [described("rag", name, chronology=name == "with") for name in ("with", "without")]
    run = run_of_bits(arms, {("m", "with"): "1", ("m", "without"): "1"})
    forms = [whole[0], without[0], other]
    records = [*run.records, structs.replace(run.records[0], trial="again", repetition=2)]
    records = [
        structs.replace(record, turns=(turn(prompt=_kept(form, fragments)),))
        for record, form in zip(records, forms, strict=True)
    ]
    (found,) = ablations(cells(replace(run, records=tuple(records))), fragments)
    assert (found.proved, found.difference) == (False, "q0: one arm asked it in several forms")


def test_without_prompts_on_file_nothing_is_proved() -> None:
    """Not checked is neither."""
    arms = [described("rag", name, rejected=name == "with") for name in ("with", "without")]
    run = run_of_bits(arms, {("m", "with"): "11", ("m", "without"): "11"})
    (found,) = ablations(cells(run), {})
    assert (found.proved, found.n, found.sentence) == (None, 0, None)


def test_the_sentence_is_looked_for_in_the_instructions_alone() -> None:
    """The same words in a document stay, and are no part of the difference."""
    longer = b'{"messages":["A. B. C."],"system":"A. B. C."}'
    assert removed(longer, b'{"messages":["A. B. C."],"system":"A. C."}') == "B."
    assert removed(longer, b'{"messages":["A. C."],"system":"A. B. C."}') is None
    assert removed(longer, b'{"messages":["A. C."],"system":"A. C."}') is None
