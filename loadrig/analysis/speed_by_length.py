"""Time per output token by how long the reply was: whether an arm that writes more also writes slower.

Timed successes of an arm are put in the order of the output tokens of their last turn and cut into groups of like
number. Each group has its median of both (of the tokens of the turn, thinking included).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from loadrig.analysis.selection import arm_names, grouped, timed
from loadrig.log import RunFolder
from loadrig.measures import measure
from loadrig.stats import rank
from loadrig.words.record import Record, succeeded

GROUPS = 8
FEWEST = 10  # replies in a group


@dataclass(frozen=True, slots=True)
class Replies:
    """`n` replies of like length: medians of output tokens and of nanoseconds per output token."""

    n: int
    tokens: int
    tpot_ns: int


@dataclass(frozen=True, slots=True)
class ArmSpeeds:
    """An arm and model, over all stages."""

    arm: str
    model: str
    groups: tuple[Replies, ...]


def speeds(run: RunFolder) -> tuple[ArmSpeeds, ...]:
    """Every arm and model with replies that have a TPOT, arms in the plan's order."""
    order = {name: place for place, name in enumerate(arm_names(run))}
    known = grouped(((r.arm, r.model), pair) for r in timed(run) if (pair := _pair(r)) is not None)
    keys = sorted(known, key=lambda key: (order[key[0]], key[1]))
    return tuple(ArmSpeeds(*key, tuple(_groups(sorted(known[key])))) for key in keys)


def _pair(record: Record) -> tuple[int, int] | None:
    tpot = measure("tpot").value(record)
    usage = record.turns[-1].usage if record.turns else None
    if not succeeded(record) or tpot is None or usage is None or usage.output is None:
        return None
    return usage.output, int(tpot)


def _groups(pairs: Sequence[tuple[int, int]]) -> Iterator[Replies]:
    number = max(1, min(GROUPS, len(pairs) // FEWEST))
    edges = [len(pairs) * step // number for step in range(number + 1)]
    for begin, end in pairwise(edges):
        tokens, tpots = (sorted(column) for column in zip(*pairs[begin:end], strict=True))
        middle = rank(0.5, end - begin) - 1
        yield Replies(end - begin, tokens[middle], tpots[middle])
