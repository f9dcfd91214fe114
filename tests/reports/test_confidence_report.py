"""The tables of confidence: every figure in its column."""

from __future__ import annotations

import json
from pathlib import Path

from records import question, read_run, record, turn

from loadrig.analysis.summary import summarize
from loadrig.reports.routes import tables
from loadrig.words.record import Record


def one(number: int, confidence: float | None, *, first: str, last: str | None = None) -> Record:
    """A first answer, kept or, where there is a `last` one, sent on."""
    form = json.dumps({"answer": first, "answerable": True, "confidence": confidence})
    texts = (form,) if last is None else (form, last)
    return record(
        f"t{number}", arm="escalate", question=f"q{number}", answer=first if last is None else last,
        route="rag" if last is None else "rag>agentic", confidence=confidence, turns=tuple(turn(text=t) for t in texts),
    )  # fmt: skip


def test_confidence_stands_beside_what_was_right(tmp_path: Path) -> None:
    """Kept: .9 right, .9 wrong, .7 right; sent on: .2 wrong and .2 right; a sixth says none. Mean .58, right .6; Brier
    (.01 + .81 + .09 + .04 + .64) / 5; ECE 2/5 x |.5 - .9| + 1/5 x |1 - .7| + 2/5 x |.5 - .2|."""
    records = [
        one(0, 0.9, first="yes"), one(1, 0.9, first="no"), one(2, 0.7, first="yes"),
        one(3, 0.2, first="no", last="yes"), one(4, 0.2, first="yes", last="yes"), one(5, None, first="yes"),
    ]  # fmt: skip
    run = read_run(tmp_path, records, questions=[question(f"q{n}") for n in range(6)])
    found = {table.title: table.rows for table in tables(summarize(run))}
    assert found["How sure, and how right"] == (("escalate", "5", "1", ".580", ".600", ".318", ".340", "2/3", "1/2"),)
    assert found["Confidence against being right"] == (
        ("escalate", "0.2 to 0.3", "2", ".200", ".500"), ("escalate", "0.7 to 0.8", "1", ".700", "1"),
        ("escalate", "0.9 to 1.0", "2", ".900", ".500"),
    )  # fmt: skip
