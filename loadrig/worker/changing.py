"""A worker's part in a change of documents: at the instant it is told, the new texts hold; then indexes are rebuilt.

Rules: trials in flight go on; what a conversation has read stays in it, and what it reads next is new. New indexes are
built in a process of their own and loaded by the search process, each as soon as it is there; nothing of it runs on
this loop. One that cannot be built costs the run nothing but its freshness: the old one stays, and that is told.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from loadrig.words.change import Adoption, Reindexed
from loadrig.words.clock import Clock
from loadrig.worker.editions import Editions
from loadrig.worker.rebuilding import name_of, rebuilding
from loadrig.worker.searching import Searching


class Changing:
    """`told` it the instant, `run` does it. `adoption` is what has come of it so far; None: nothing yet. `rebuilt` are
    the retrievers to be built anew, as the library has them."""

    def __init__(
        self, library: Path, rebuilt: tuple[str, ...], editions: Editions, searching: Searching, clock: Clock
    ) -> None:
        self._library, self._rebuilt = library, rebuilt
        self._editions, self._searching, self._clock = editions, searching, clock
        self._at_ns: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.adoption: Adoption | None = None

    def told(self, at_ns: int | None) -> None:
        """Documents change at that instant of this worker's clock; heard once, and again with every order."""
        if at_ns is not None and not self._at_ns.done():
            self._at_ns.set_result(at_ns)

    async def run(self) -> None:
        """Waits for the instant, and sees the change through."""
        at_ns = await self._at_ns
        while (left_ns := at_ns - self._clock.now_ns()) > 0:  # noqa: ASYNC110 - no poll: timers go by whole milliseconds
            await asyncio.sleep(-(-left_ns // 1_000_000) / 1e3)
        self._editions.change()
        self.adoption = Adoption(self._clock.now_ns())
        if not self._rebuilt:
            return
        async with rebuilding(self._library) as building:
            try:
                for _ in self._rebuilt:
                    name, one = await building.built()
                    self._note(name, await self._loaded(name, one) if one.failure is None else one)
            except EOFError:
                code = await building.exit_code()
                failure = f"the process that built new indexes ended with exit code {code}"
                self.adoption = replace(self.adoption, failure=failure)

    async def _loaded(self, name: str, built: Reindexed) -> Reindexed:
        open_ns = await self._searching.open(name_of(self._rebuilt.index(name)))
        return replace(built, open_ns=open_ns, ready_ns=self._clock.now_ns())

    def _note(self, name: str, one: Reindexed) -> None:
        assert self.adoption is not None, "texts are new before indexes are"
        self.adoption = replace(self.adoption, indexes={**self.adoption.indexes, name: one})
