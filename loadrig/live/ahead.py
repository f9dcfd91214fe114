"""What of a run is known before its first trial, as far as those who watch it go by that: words, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class StageAhead:
    """A stage by name. `planned`: its trials that will probably be sent, warm-up included; `lasts_s`: how long it goes
    on, null where it ends with its trials. `is_open`: its trials come due by the clock."""

    name: str
    planned: int
    lasts_s: float | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class Ahead:
    """`lanes` are (arm, model, phase), alike in every stage, the tail among the phases. `is_steered`: the run chooses
    its stages as it goes, and `stages` are as many as there can be. `caching`: (arm, model) that ask for a cache.
    `money` in `currency` and `tokens` are the budget, null where there is none."""

    lanes: frozenset[tuple[str, str, str]]
    stages: tuple[StageAhead, ...]
    is_steered: bool
    currency: str
    caching: frozenset[tuple[str, str]] = frozenset()
    money: Decimal | None = None
    tokens: int | None = None
