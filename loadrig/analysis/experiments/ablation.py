"""Proof of an ablation: two arms that differ in one sentence were sent requests that differ in that sentence alone.

By the requests as they were sent, first turns only: what an agent is sent later hangs on what its model did. Of every
question that both arms asked the two bodies are compared byte for byte: the shorter one is to be the longer one without
one sentence of its instructions and the blank behind it. Retrieval that found other passages, another order, another
list of tools: all of it shows as a difference, and so does one question that was sent in two forms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from loadrig.analysis.experiments.cells import Cell, families, pairs

SENTENCES = ("chronology", "rejected")  # options that say whether a sentence is there
_SYSTEM = re.compile(rb'(?:"system":|"role":"system","content":)("(?:[^"\\]|\\.)*")')  # as either dialect sends them
_AFTER_SENTENCE = re.compile(r"(?<=[.!?]) ")
_SHOWN = 40  # bytes shown before and behind the place of a difference

Prompt = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ablation:
    """Two arms of a model that differ in the option alone: `arm` has the sentence, `without` has not.

    `n` questions were compared, until one differed in something else: `difference` says how. `proved`: none did; None:
    nothing could be compared. `sentence`: what was taken out, None where it is not the same everywhere.
    """

    model: str
    option: str
    arm: str
    without: str
    n: int
    proved: bool | None
    sentence: str | None
    difference: str | None


def ablations(every: Sequence[Cell], prompts: Mapping[str, bytes]) -> tuple[Ablation, ...]:
    """Every two arms of a family that differ in one sentence; `prompts`: fragments of the run's prompts, by hash."""
    return tuple(
        _proof(cell, other, option, prompts)
        for family in families(every)
        for option in SENTENCES
        for cell, other in pairs(family, option, "true", "false")
    )


def removed(longer: bytes, shorter: bytes) -> str | None:
    """The one sentence of the instructions without which the longer body is the shorter one, byte for byte; None where
    that is not the difference. Both may be ends of bodies that begin alike."""
    first, second = (_SYSTEM.search(body) for body in (longer, shorter))
    if first is None or second is None:
        return None
    said, left = (_AFTER_SENTENCE.split(msgspec.json.decode(found[1])) for found in (first, second))
    for place, sentence in enumerate(said):
        if [*said[:place], *said[place + 1 :]] == left:
            start, end = first.span(1)
            return sentence if longer[:start] + second[1] + longer[end:] == shorter else None
    return None


def _proof(cell: Cell, other: Cell, option: str, prompts: Mapping[str, bytes]) -> Ablation:
    sent, left = (_first_turns(one, prompts) for one in (cell, other))
    sentences: set[str] = set()
    count, difference = 0, None
    for question in (question for question in sent if question in left):
        count += 1
        if len(sent[question]) > 1 or len(left[question]) > 1:
            difference = f"{question}: one arm asked it in several forms"
            break
        bodies = _unlike(sent[question][0], left[question][0], prompts)
        sentence = removed(*bodies)
        if sentence is None:
            difference = f"{question}: {_told(*bodies)}"
            break
        sentences.add(sentence)
    if len(sentences) > 1 and difference is None:
        difference = f"not the same sentence in all {count} questions"
    return Ablation(
        model=cell.model,
        option=option,
        arm=cell.arm,
        without=other.arm,
        n=count,
        proved=difference is None if count else None,
        sentence=next(iter(sentences)) if len(sentences) == 1 else None,
        difference=difference,
    )


def _first_turns(cell: Cell, prompts: Mapping[str, bytes]) -> dict[str, list[Prompt]]:
    """Of each question the forms in which its trials were first asked, as hashes of fragments, of those on file."""
    forms = {
        question: list(dict.fromkeys(r.turns[0].prompt for r in records if r.turns and r.turns[0].prompt))
        for question, records in cell.side.questions.items()
    }
    on_file = {question: [one for one in found if prompts.keys() >= set(one)] for question, found in forms.items()}
    return {question: found for question, found in on_file.items() if found}


def _unlike(first: Prompt, second: Prompt, prompts: Mapping[str, bytes]) -> tuple[bytes, bytes]:
    """The two bodies from the first fragment on that is not in both; a fragment's hash is that of its bytes."""
    start = next((at for at, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), len(first))
    one, other = (b"".join(prompts[part] for part in of[start:]) for of in (first, second))
    return one, other


def _told(first: bytes, second: bytes) -> str:
    """Where two bodies part: some bytes of either from there on."""
    at = next((place for place, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), None)
    if at is None:
        return "the requests are alike" if first == second else "one request goes on where the other ends"
    start = max(0, at - _SHOWN)
    one, other = (of[start : at + _SHOWN].decode(errors="replace") for of in (first, second))
    return f"...{one}... and ...{other}..."
