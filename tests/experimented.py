"""Runs for tests of experiments, made in memory: which questions each arm and model got right is given as bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compared import run_of
from records import record

from loadrig.arms import ARMS
from loadrig.log import RunFolder
from loadrig.statistics.clustered import Draws

FEW = Draws(bootstraps=300, permutations=999)


def described(kind: str, name: str, **options: Any) -> dict[str, Any]:
    """An arm as a manifest has it; all options of our own that are not given are left out."""
    return {"name": name, "kind": ARMS.get(kind, kind), **options}


def bits(right: int, n: int = 20) -> str:
    """`right` of n questions are right, the first ones."""
    return "1" * right + "0" * (n - right)


def run_of_bits(
    arms: list[dict[str, Any]], right: Mapping[tuple[str, str], str], *, category: str = "fact", **given: Any
) -> RunFolder:
    """A run in which, by model and arm, the first answer to question q0, q1, ... is right where the bit is 1. `given`
    are fields of every record."""
    records = [
        record(
            f"{model}-{arm}-{i}", model=model, arm=arm, question=f"q{i}", category=category,
            answer="yes" if bit == "1" else "no", **given,
        )
        for (model, arm), row in right.items()
        for i, bit in enumerate(row)
    ]  # fmt: skip
    models = [{"id": model} for model in dict.fromkeys(model for model, _ in right)]
    return run_of("r", records, {"plan": {"name": "p", "timezone": "UTC", "arms": arms, "model": models}})
