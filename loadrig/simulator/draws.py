"""Chance, made reproducible: a generator seeded by the scenario, the attempt and the purpose of the draw.

The same attempt header gives the same draws in every run; another trial or another try gives others.
"""

from __future__ import annotations

import hashlib
from random import Random


def draw(scenario_seed: int, attempt: str, purpose: str) -> Random:
    """A generator of its own for one purpose, so that using one never shifts another."""
    digest = hashlib.blake2b(f"{scenario_seed}|{attempt}|{purpose}".encode(), digest_size=8).digest()
    return Random(int.from_bytes(digest, "big"))
