"""How sure replies were: the mean, and which answer of an escalated trial a confidence is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from records import question, read_run, record, turn

from loadrig.analysis.confidence import Sure, measured, reliability


def test_the_mean_confidence_stands_beside_the_share_right() -> None:
    """0.9, 0.9 and 0.3, of which one was right: .7 and .333."""
    found = measured("escalate", "m", [Sure(0.9, True, True), Sure(0.9, False, True), Sure(0.3, False, False)])
    assert (found.confidence, found.right) == pytest.approx((0.7, 1 / 3))


def test_the_first_answer_is_no_classifiers(tmp_path: Path) -> None:
    """What a classifier said comes before the first answer, which was right and sent on; the last one is wrong."""
    form = json.dumps({"answer": "yes", "answerable": True, "confidence": 0.6})
    turns = (turn(purpose="classify", text='{"kind":"unsure"}'), turn(text=form), turn(text="no"))
    sent_on = record("t", route="unsure>rag>agentic", confidence=0.6, answer="no", turns=turns)
    (found,) = reliability(read_run(tmp_path, [sent_on], questions=[question()]))
    assert (found.n, found.kept, found.sent_on) == (1, (0, 0), (1, 1))


def test_what_the_control_knew_is_left_out(tmp_path: Path) -> None:
    """As of every other share: of two sure answers the one to a question that needs no documents does not count."""
    form = json.dumps({"answer": "no", "answerable": True, "confidence": 0.9})
    records = [
        record("c", arm="control", answer="yes"),
        record("1", arm="escalate", route="rag", confidence=0.9, answer="yes"),
        record("2", arm="escalate", route="rag", answer="yes", repetition=2),
        record("3", arm="escalate", question="q2", route="rag", confidence=0.9, answer="no", turns=(turn(text=form),)),
    ]
    (found,) = reliability(read_run(tmp_path, records))
    assert (found.n, found.right, found.without, found.kept) == (1, 0, 0, (0, 1))
