"""Stopping at an awkward moment: nothing breaks, and nothing more goes out."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
from asking import LOOPS, MODEL, PROMPT, asker, head, new_engine, run, until
from scripted_server import Script, serving
from stream_events import reply

from loadrig.providers import load
from loadrig.wire.engine import Engine
from loadrig.wire.exchange import Exchange, Request
from loadrig.words.record import Failure
from loadrig.words.settings import LimitSettings

both_loops = pytest.mark.parametrize("loop", LOOPS)
STOPPED = Failure("cancelled", "the run was stopped")


def exchange(url: str) -> Exchange:
    dialect = load("anthropic")
    return Exchange(Request(head(url), "t1.1.1", dialect.body(PROMPT, MODEL)), dialect.reader())


@both_loops
def test_a_stop_in_the_turn_in_which_a_connect_limit_passes_ends_all_the_same(loop: str) -> None:
    """The limit of one of two connects has just struck, and its task has not heard of it yet: both end as cancelled."""

    async def go() -> list[Failure | None]:
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            fillers = [socket.socket() for _ in range(3)]
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(deaf.getsockname())
            async with new_engine() as engine:
                exchanges = [exchange(url), exchange(url)]
                limits = [LimitSettings(connect=0.05), LimitSettings(connect=5)]
                tasks = [asyncio.ensure_future(engine.run(*pair)) for pair in zip(exchanges, limits, strict=True)]
                await until(lambda: exchanges[0].connecting is not None)
                assert exchanges[0].connecting is not None
                due_s = exchanges[0].connecting.when()
                assert due_s is not None
                stopping = asyncio.get_running_loop().create_future()
                asyncio.get_running_loop().call_at(due_s + 1e-6, _stop, engine, stopping)
                time.sleep(0.08)  # noqa: ASYNC251 - so that both timers go off in one turn
                await stopping
                await asyncio.gather(*tasks)
            for filler in fillers:
                filler.close()
            return [each.failure for each in exchanges]

    assert run(asyncio.wait_for(go(), 3), loop) == [STOPPED, STOPPED]


def _stop(engine: Engine, told: asyncio.Future[None]) -> None:
    try:
        engine.stop()
    except RuntimeError as error:
        told.set_exception(error)
    else:
        told.set_result(None)


@both_loops
def test_what_lost_its_connection_is_not_sent_again_after_a_stop(loop: str) -> None:
    """An idle connection is closed when used, and the engine stopped before the exchange's task goes on: two requests
    were sent and no third, and it ends as cancelled."""

    async def go() -> tuple[int, Failure | None]:
        closes = Script([], head=b"", end="close")
        async with serving(Script([(0, reply())]), closes, Script([(0, reply())])) as server, new_engine() as engine:
            await asker(engine, server.url).ask(PROMPT, trace="t1.1")
            stopped = exchange(server.url)
            gone = stopped.gone

            def gone_and_stopped(how: str, at_ns: int) -> None:
                gone(how, at_ns)
                engine.stop()

            stopped.gone = gone_and_stopped  # type: ignore[method-assign]
            await engine.run(stopped, LimitSettings())
            return len(server.requests), stopped.failure

    assert run(asyncio.wait_for(go(), 3), loop) == (2, STOPPED)
