"""Replies in a form: what the simulated model fills in, from the request alone."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from loadrig.simulator.choosing import choose
from loadrig.simulator.reading import read
from loadrig.simulator.scenario import Scenario

PRUNED = '<document id="a" date="2026-01-01">\nThe pears are pruned in February.\n</document>'
SORTS = (
    "blue: one passage says it. green: several facts are put together. red: every text is looked at. grey: cannot tell."
)


def schema(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


KINDS = schema(colour={"type": "string", "enum": ["blue", "green", "red", "grey"]})
JUDGED = schema(said={"type": "string"}, known={"type": "boolean"}, sure={"type": "number"})


def reply(form: object, *texts: str, most: int = 500, attempt: str = "t.1.1", **dials: Any) -> tuple[str, str]:
    """Stop reason and text of the reply to a request with this form."""
    asked = {
        "model": "m", "max_tokens": most, "system": SORTS,
        "messages": [{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}],
        "output_config": {"format": {"type": "json_schema", "schema": form}},
    }  # fmt: skip
    found = read(json.dumps(asked).encode(), attempt, Scenario(**dials))
    if found.refused is not None:
        return "refused", found.refused
    return found.reply.stop_reason, "".join(p for block in found.reply.blocks for p in getattr(block, "pieces", ()))


def filled(form: object, *texts: str, **more: Any) -> dict[str, Any]:
    stop, text = reply(form, *texts, **more)
    assert stop == "end_turn"
    return dict(json.loads(text))


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When are the pears pruned?", "blue"),
        ("Which pears were pruned after the ones that fell?", "green"),
        ("How many of the texts never mention pears?", "red"),
        ("Is that so?", "grey"),
    ],
)
def test_a_kind_is_chosen_by_what_the_instructions_say_of_it(question: str, kind: str) -> None:
    """The names are colours: nothing of them could be known beforehand."""
    assert filled(KINDS, f"Question: {question}") == {"colour": kind}


def test_other_instructions_choose_otherwise() -> None:
    """The same names, described the other way round, are chosen the other way round."""
    assert choose(("a", "b"), "a: one passage. b: every text.", "When was it?") == "a"
    assert choose(("a", "b"), "b: one passage. a: every text.", "When was it?") == "b"


def test_evidence_fills_a_form() -> None:
    """The answer of the document, that it is known, and certainty for a question that is covered whole."""
    found = filled(JUDGED, PRUNED, "Question: When are the pears pruned?")
    assert "The pears are pruned in February. [a]" in found["said"]
    assert (found["known"], found["sure"]) == (True, 1.0)


def test_without_evidence_it_says_so() -> None:
    """A question about something else: not known, and no confidence at all."""
    found = filled(JUDGED, PRUNED, "Question: Who owns the moon?")
    assert (found["known"], found["sure"]) == (False, 0.0)


def test_confidence_is_the_share_of_the_question_that_is_covered() -> None:
    """Of two words of equal rarity one is in the prompt; the dial at 0.5 goes half the way to 1."""
    asked = (PRUNED, "Question: When are the pears whitewashed?")
    assert filled(JUDGED, *asked)["sure"] == 0.5
    assert filled(JUDGED, *asked, overconfident=0.5)["sure"] == 0.75
    assert filled(JUDGED, *asked, overconfident=1.0)["sure"] == 1.0


def test_a_form_that_does_not_fit_is_cut_off() -> None:
    """Four tokens are too few: the stop reason says so, and the text is no JSON."""
    stop, text = reply(KINDS, "Question: When?", most=4)
    assert stop == "max_tokens"
    assert text.startswith("{")
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


def test_the_dial_misfiles_the_share_it_says() -> None:
    """Of 400 questions a quarter gets another kind, each of the three others; without the dial none."""
    asked = "Question: When are the pears pruned?"
    found = Counter(filled(KINDS, asked, attempt=f"t{n}.1.1", misfiles=0.25)["colour"] for n in range(400))
    assert set(found) == {"blue", "green", "red", "grey"}
    assert 70 <= 400 - found["blue"] <= 130


def test_a_schema_that_the_api_would_refuse_is_refused() -> None:
    """An object that allows other keys, at any depth, and a list that does not say of what."""
    loose = {**JUDGED, "additionalProperties": True}
    for wrong in (loose, schema(inner=loose), schema(inner={"type": "array"}), "text"):
        assert reply(wrong, "Question: When?")[0] == "refused"
