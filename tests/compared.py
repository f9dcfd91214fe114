"""Two small runs for tests of comparing, made in memory: what they answered and how long it took is given.

A module that imports `nothing_to_collect` has it around each of its tests.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from records import MANIFEST, question, record, trial_of

from loadrig.log import RunFolder
from loadrig.words.record import Record

SETTINGS: dict[str, Any] = {
    "plan": {
        "model": [{"id": "m", "max_tokens": 2000, "base_url": "http://127.0.0.1:9"}],
        "load": {"concurrency": [2]}, "limits": {"total": 600.0}, "retry": {"attempts": 0},
        "corpus": {"chunk_tokens": 400, "chunk_overlap": 50},
        "arms": [{"name": "control", "kind": "Control"}, *({"name": f"k{k}", "kind": "Rag", "k": k} for k in (5, 10))],
    },
    "corpus": {"sha256": "aa"}, "instructions": {"DIRECT": "bb"}, "crediting_rule": "1", "version": "0.1.0",
    "price_table": {"rows": [{"model": "m", "seen": "2026-10-24"}]},
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_to_collect() -> Iterator[None]:
    """statsmodels collects garbage in every Holm adjustment; with all that pytest holds this is most of the time."""
    gc.freeze()
    yield
    gc.unfreeze()


def answers(right: int, n: int, *, first: int = 0, **given: Any) -> list[Record]:
    """Records of arm k5 for questions q0, q1, ...: `right` of n are right, from number `first` on."""
    of = range(first, first + right)
    fields = {"arm": "k5", "category": "fact", **given}
    return [
        record(f"{fields['arm']}-{i}", question=f"q{i}", answer="yes" if i in of else "no", **fields) for i in range(n)
    ]


def run_of(name: str, records: Iterable[Record], manifest: Mapping[str, Any] | None = None, **given: Any) -> RunFolder:
    """A run with those records; `manifest` is laid over the settings above, `given` are fields of the folder."""
    records = tuple(records)
    questions = {r.question: question(r.question, category=r.category) for r in records}
    fields: dict[str, Any] = {
        "trials": tuple(trial_of(r, place) for place, r in enumerate(records)), "questions": questions,
        "superseded": (),
    }  # fmt: skip
    described = {**MANIFEST, **SETTINGS, "run": name, **(manifest or {})}
    return RunFolder(Path(name), described, records=records, **{**fields, **given})


def plan(**given: Any) -> dict[str, Any]:
    """A manifest whose plan has some keys changed."""
    return {"plan": {**SETTINGS["plan"], **given}}
