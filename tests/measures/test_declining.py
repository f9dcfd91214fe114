"""Answers that decline, answers that hedge, and answers that do neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loadrig.corpus.wording import REFUSALS
from loadrig.measures.declining import declines, hedges
from loadrig.simulator.reader import NOT_PROVIDED, NOT_SAID

QUESTIONS = Path(__file__).resolve().parents[2] / "questions"
MORE = (
    "Based on the provided documents, I cannot determine the price.",
    "I don’t have access to the documents you mention.",  # noqa: RUF001
    "The minutes you gave me do not explicitly state a figure.",
    "This cannot be determined. It may be 8 hours.",
    "Mir liegen keine Dokumente vor.",
    "Die Protokolle enthalten dazu keine Aussage.",
    "Das lässt sich anhand der Unterlagen nicht sagen.",
)
ANSWERS = (
    "No. The role was abolished.",
    "No such role exists.",
    "Two papers do not mention the tower.",
    "The papers that do not mention it are minutes no. 1 and no. 2.",
    "12 hours. The documents do not say since when.",
    "Photographs cannot be attached: the request was refused.",
    "Nein, die Rolle gibt es nicht.",
    "Keine: der Antrag wurde abgelehnt.",
    "Ich darf das nicht ändern, heißt es dort.",
)


@pytest.mark.parametrize("text", [*REFUSALS["en"], *REFUSALS["de"], *NOT_PROVIDED, *NOT_SAID, *MORE])
def test_what_declines_is_seen(text: str) -> None:
    """English and German, ours and those of others."""
    assert declines(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_not_taken_for_a_refusal(text: str) -> None:
    """What denies a thing, counts what is silent, or declines something else later."""
    assert not declines(text)


def test_no_reference_declines_or_hedges() -> None:
    """None of the reference answers of our question files, of which there are over four hundred."""
    rows = [json.loads(line) for path in sorted(QUESTIONS.glob("*.jsonl")) for line in path.read_text().splitlines()]
    assert len(rows) > 400
    assert [row["reference"] for row in rows if declines(row["reference"]) or hedges(row["reference"])] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is typically 8 hours.", True), ("My best guess is 8.", True), ("Vermutlich acht Stunden.", True),
        ("I would not want to guess.", False), ("It is 8 hours.", False), ("Es sind acht Stunden.", False),
    ],
)  # fmt: skip
def test_a_guess_says_so(text: str, expected: bool) -> None:
    """By words of likelihood and custom; not wanting to guess is no guess."""
    assert hedges(text) is expected
