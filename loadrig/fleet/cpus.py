"""Whether there are CPUs enough for the workers asked for: said with both numbers, before anything waits for them."""

from __future__ import annotations

from loadrig.words.errors import InputError


def compare(needed: float, found: float) -> None:
    """Raises `InputError` when more are needed than were found."""
    if needed > found:
        raise InputError(
            f"the workers ask for {needed:g} CPUs, there are {found:g}",
            remedy="lower [load] workers or cpus_per_worker, or add nodes",
        )
