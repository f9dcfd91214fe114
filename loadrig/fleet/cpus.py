"""Whether there are CPUs enough for the workers asked for: said with both numbers, before anything waits for them."""

from __future__ import annotations

from collections.abc import Sequence

from loadrig.words.errors import InputError

_REMEDY = "lower [load] workers or cpus_per_worker, or add nodes"


def compare(needed: float, found: float) -> None:
    """Raises `InputError` when more are needed than were found."""
    if needed > found:
        raise InputError(f"the workers ask for {needed:g} CPUs, there are {found:g}", remedy=_REMEDY)


def fit(workers: int, cpus_per_worker: float, nodes: Sequence[float]) -> None:
    """Raises `InputError` when nodes with so many CPUs each have no room for the workers: none is split."""
    compare(workers * cpus_per_worker, sum(nodes))
    room = workers if cpus_per_worker == 0 else sum(int(cpus / cpus_per_worker + 1e-6) for cpus in nodes)
    if room < workers:
        raise InputError(
            f"{workers} workers ask for {cpus_per_worker:g} CPUs each, the nodes have room for {room}", remedy=_REMEDY
        )
