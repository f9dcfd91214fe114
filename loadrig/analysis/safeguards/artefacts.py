"""Artefacts of the instrument that look like findings, each with the checks that would have caught it.

All four were seen to imitate a result: an answer starved by its ceiling reads as a question retrieval cannot answer, a
changed crediting rule as better searching, a window cut in silence as a model that overlooks things, and a cache as a
model without variance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loadrig.words.safeguard import Safeguard, Verdict, worst


@dataclass(frozen=True, slots=True)
class Artefact:
    """One artefact: what it looks like, the checks for it, and the worst of their verdicts."""

    name: str
    looks_like: str
    checks: tuple[str, ...]
    verdict: Verdict


ARTEFACTS = (
    ("output ceiling", "the hardest questions are not answered", ("output ceiling",)),
    ("crediting rule", "an arm searches better than before", ("crediting rule",)),
    (
        "silent truncation",
        "a model overlooks what stands in a long context",
        ("context probe", "prompt tokens", "prompt tokens of trials"),
    ),
    (
        "cache that was not off",
        "answers do not vary, latencies and costs are low",
        ("cache", "reply ids", "determinism"),
    ),
)


def artefacts(found: Iterable[Safeguard]) -> tuple[Artefact, ...]:
    """Every artefact with its verdict."""
    found = list(found)
    return tuple(
        Artefact(name, looks, checks, worst(one.verdict for one in found if one.name in checks))
        for name, looks, checks in ARTEFACTS
    )
