"""Searching beside the event loop: a retriever that computes for long holds up no stream."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from scripted_client import tiny

from loadrig.words.corpus import Hit
from loadrig.worker.library import Texts, save
from loadrig.worker.searching import Found, Searching


@dataclass(frozen=True)
class Slow:
    """Computes for so many seconds, whatever is asked, without giving up the interpreter."""

    for_s: float

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: str) -> tuple[Hit, ...]:
        until = time.perf_counter() + self.for_s
        while time.perf_counter() < until:
            pass
        return (Hit(query, None, 1.0),)


def test_a_long_search_does_not_hold_the_loop(tmp_path: Path) -> None:
    """I7: two searches of 600 ms, one behind the other; meanwhile the loop never pauses for as long as one of them,
    and the second one's waiting for the first is no computing of its own, while its 600 ms are."""
    save(tmp_path, Texts(tiny(), {}), {"slow": Slow(0.6)})

    async def go() -> tuple[list[Found], float, float]:
        async with Searching(tmp_path) as searching:
            began, ticks = time.perf_counter(), [time.perf_counter()]
            both = asyncio.gather(*(searching.search("slow", word, 1, (), "chunk") for word in ("a", "b")))
            while not both.done():
                await asyncio.sleep(0.01)
                ticks.append(time.perf_counter())
            longest = max(later - earlier for earlier, later in pairwise(ticks))
            return await both, longest, time.perf_counter() - began

    found, longest_s, took_s = asyncio.run(go())
    assert [one.hits[0].doc for one in found] == ["a", "b"]
    assert longest_s < 0.5
    assert found[1].compute_ns / 1e9 < took_s - 0.5
    assert min(one.compute_ns for one in found) >= 600_000_000
