"""Tokens of different models are not compared: each counts its own way, so across models only money compares."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen
from loadrig.words.safeguard import Figure, Safeguard

NAME = "tokens across models"


def check(seen: Seen) -> Iterator[Safeguard]:
    """One for the run."""
    models = seen.models
    figures = (Figure("models", len(models)),)
    if len(models) > 1:
        why = "tokens of different models are not comparable: compare models by cost only"
        yield Safeguard(NAME, "warned", why, figures)
    else:
        yield Safeguard(NAME, "passed", "one model: its arms' tokens compare", figures)
