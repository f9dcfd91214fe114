"""What the checks look at: a run, its prompts, and what was worked out of it already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from loadrig.analysis.accuracy import ArmAccuracy, Dropped
from loadrig.analysis.checks import Repeated
from loadrig.analysis.selection import asked, grouped
from loadrig.log import RunFolder
from loadrig.words.record import Record


@dataclass(frozen=True, slots=True)
class Seen:
    """`prompts`: every prompt part by its hash."""

    run: RunFolder
    accuracy: tuple[ArmAccuracy, ...]
    dropped: tuple[Dropped, ...]
    repeated: tuple[Repeated, ...]
    prompts: Mapping[str, bytes]

    @property
    def models(self) -> list[str]:
        """Models that were asked, in order of first appearance."""
        return list(dict.fromkeys(record.model for record in (*self.run.probes, *asked(self.run))))


def named(groups: Mapping[str, int], of: Mapping[str, int]) -> str:
    """Counts by arm in words: `rag-bm25-k5 2 of 20, agentic 1 of 20`; those of none are left out."""
    return ", ".join(f"{arm} {n} of {of[arm]}" for arm, n in groups.items() if n)


def by_arm(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records by their arm."""
    return grouped((record.arm, record) for record in records)
