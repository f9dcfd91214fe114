"""A whole worker in the test's own loop, over the tiny corpus, asking a scripted server as the one model `m-1`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from asking import head, run
from scripted_client import tiny
from scripted_server import Script, Server, serving

from loadrig.arms.control import Control
from loadrig.arms.rag import Rag
from loadrig.cost import Prices
from loadrig.fleet.handle import Handle
from loadrig.fleet.inline import inline_fleet
from loadrig.providers import load
from loadrig.wire.turn import Target
from loadrig.words.record import Record
from loadrig.words.settings import ModelSettings
from loadrig.words.trial import Trial
from loadrig.worker.library import Texts, build_indexes, save
from loadrig.worker.messages import Batch, Order
from loadrig.worker.setup import Setup
from plans import plan, questions

T = TypeVar("T")


def trials(count: int, **given: Any) -> tuple[Trial, ...]:
    """Trials t1, t2, ... of the control arm, each of a question of its own."""
    fields = {"arm": "control", "model": "m-1", "category": "fact", "repetition": 1, "stage": "c2", "phase": "measured"}
    return tuple(
        Trial(**{"id": f"t{n}", "position": n, "question": f"q{n}", **fields, **given}) for n in range(1, count + 1)
    )


def setup_of(folder: Path, url: str, *further: Any, worker: str = "w1", **given: Any) -> Setup:
    """What a worker is told, with its library in `folder`. Its plan has `further` arms beside control and rag, and
    whatever is `given`."""
    texts = Texts(tiny(), {question.id: question for question in questions(5)})
    save(folder, texts, build_indexes({"bm25"}, texts.corpus)[0])
    small = plan(Control(), Rag(k=1), *further, **given, model=(ModelSettings(id="m-1"),))
    return Setup(
        "r1", worker, small, folder, {"m-1": Target(small.model[0], load("anthropic"), head(url))}, Prices.load()
    )


def working(
    folder: Path, script: Script, work: Callable[[Handle, Server], Coroutine[Any, Any, T]], *further: Any, **given: Any
) -> T:
    """What `work` makes of a worker that is ready and the server it asks; both are closed behind it."""

    async def go() -> T:
        async with serving(script) as server:
            setup = setup_of(folder, server.url, *further, **given)
            async with inline_fleet(setup) as (handle,), asyncio.timeout(10):
                return await work(handle, server)

    return run(go())


async def exchanged(handle: Handle, order: Order, until: Callable[[list[Batch]], bool]) -> list[Batch]:
    """Batches until `until` holds of them, each acknowledged; the order's trials go out once."""
    batches = [await handle.exchange(replace(order, wait_s=0.02))]
    while not until(batches):
        batches.append(await handle.exchange(replace(order, trials=(), ack=batches[-1].number, wait_s=0.02)))
    return batches


async def run_dry(handle: Handle, order: Order) -> list[Batch]:
    """Batches until every trial of the order has a record."""
    return await exchanged(handle, order, lambda batches: len(records(batches)) == len(order.trials))


def records(batches: list[Batch]) -> list[Record]:
    """All of them, in the order they came."""
    return [record for batch in batches for record in batch.records]
