"""All a worker is told at its start: plain, picklable, the same for every worker but the name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loadrig.cost import Prices
from loadrig.wire.turn import Target
from loadrig.words.settings import Plan


@dataclass(frozen=True, slots=True)
class Setup:
    """`targets` holds, by model id, the endpoint with its request head (the key is inside: never logged). `workers`:
    how many there are, to share a model's limits. `built`: what arms had built before the first trial, by arm, model
    and the caller's labels in order."""

    run: str
    worker: str
    plan: Plan
    library: Path
    targets: Mapping[str, Target]
    prices: Prices
    workers: int = 1
    built: Mapping[tuple[str, str, tuple[str, ...]], str] = field(default_factory=dict)
