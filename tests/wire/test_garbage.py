"""What a reply leaves behind: nothing that waits for the garbage collector, whose pauses would be measured."""

from __future__ import annotations

import gc

import pytest
from asking import LOOPS, PROMPT, asker, new_engine, run
from scripted_server import Script, serving
from stream_events import reply

from loadrig.wire.exchange import Exchange


@pytest.mark.parametrize("loop", LOOPS)
def test_an_exchange_is_gone_with_its_turn_without_the_collector(loop: str) -> None:
    """Ten turns with the collector switched off: of their ten exchanges at most the last is still there."""

    async def go() -> int:
        async with serving(Script([(0, reply())])) as server, new_engine() as engine:
            one = asker(engine, server.url)
            gc.collect()
            gc.disable()
            try:
                for number in range(10):
                    await one.ask(PROMPT, trace=f"t.{number}")
                return sum(isinstance(found, Exchange) for found in gc.get_objects())
            finally:
                gc.enable()

    assert run(go(), loop) <= 1
