"""The collector's thresholds while a worker serves."""

from __future__ import annotations

import gc

from loadrig.worker.collector import rare_collections


def test_what_512_streams_make_is_no_reason_to_collect() -> None:
    """60,000 lists more start no collection; afterwards the collector is as it was."""
    before, seen = gc.get_threshold(), 0

    def collected(phase: str, info: object) -> None:
        nonlocal seen
        seen += phase == "start"

    with rare_collections():
        gc.callbacks.append(collected)
        held = [[number] for number in range(60_000)]
        gc.callbacks.remove(collected)
    assert (len(held), seen) == (60_000, 0)
    assert gc.get_threshold() == before


def test_cycles_that_pile_up_are_collected() -> None:
    """300,000 lists that hold themselves: at least two collections."""
    with rare_collections():
        begun = sum(generation["collections"] for generation in gc.get_stats())
        for _ in range(300_000):
            held: list[object] = []
            held.append(held)
        assert sum(generation["collections"] for generation in gc.get_stats()) >= begun + 2
