"""A whole worker kept at N trials in flight, and driven as the driver does: leased ahead, its batches encoded.

Rules: nothing of the worker is left out (arm, prompt, wire, record, prices), and of the driver's part the record's JSON
and two histograms are in the same process, so the cost measured is that of a run. Of a record only a few stamps are
kept. CPU is process time of this process, all of its threads.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from loadrig.arms.control import Control
from loadrig.cost import Prices
from loadrig.sketch import Sketch
from loadrig.wire.turn import Target
from loadrig.words.corpus import Corpus, Document, Question
from loadrig.words.record import Record
from loadrig.words.settings import CorpusSettings, Plan, QuestionSettings
from loadrig.words.trial import Trial
from loadrig.worker.library import Texts, save
from loadrig.worker.messages import Batch, Order
from loadrig.worker.probe import Pauses
from loadrig.worker.setup import Setup
from loadrig.worker.worker import Worker

MODEL = "claude-haiku-5-5"  # one with a price, so that pricing is part of the cost
AHEAD_S = 0.25
_TEXT = "Nothing is asked here and nothing is answered."


# Of one reply: the attempt's name at the target; begin, first token and end on the worker's clock. A plain tuple, which
# the garbage collector lets go of: what the rig collects must not become a pause of the worker.
Timed = tuple[str, int, int | None, int]


@dataclass(slots=True)
class Window:
    """What was seen between two instants: replies that ended there, each from when its connection stood, process time,
    the worker's own lateness."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    replies: list[Timed] = field(default_factory=list)
    failed: int = 0
    record_bytes: int = 0
    stamps: Counter[str] = field(default_factory=Counter)
    lags_ns: list[int] = field(default_factory=list)
    pauses: Pauses = field(default_factory=Pauses)
    loop: str = ""


@dataclass(slots=True)
class Rig:
    """An open worker; made by `rig`. `asked`: trials it was given so far."""

    worker: Worker
    asked: int = 0
    _acknowledged: int = 0
    _ttft: Sketch = field(default_factory=Sketch)
    _service: Sketch = field(default_factory=Sketch)

    async def load(self, model: str, streams: int, *, warm_s: float, seconds: float) -> Window:
        """Keeps `streams` trials of `model` in flight; the window opens after `warm_s`. Leaves none in flight."""
        window, encode = Window(), msgspec.json.Encoder().encode
        opens = time.perf_counter() + warm_s
        rate_per_s, waiting = 0.0, 0
        opened: tuple[float, float] | None = None
        while True:
            wanted = streams + round(AHEAD_S * rate_per_s) - waiting
            asked_at = time.perf_counter()
            batch = await self._exchange(model, streams, max(0, wanted))
            now, waiting = time.perf_counter(), batch.waiting
            rate_per_s += 0.3 * (len(batch.records) / max(now - asked_at, 0.001) - rate_per_s)
            for record in batch.records:
                self._note(window, record, encode(record), counts=opened is not None)
            if opened is not None:
                window.lags_ns += batch.vitals.lags_ns
                window.pauses += batch.vitals.pauses
                window.loop = batch.vitals.loop
                if now - opened[0] >= seconds:
                    window.seconds, window.cpu_s = now - opened[0], time.process_time() - opened[1]
                    break
            elif now >= opens:
                opened = (now, time.process_time())
        while batch.in_flight or batch.waiting:
            batch = await self._exchange(model, streams, 0, stop=True)
        begin_ns, end_ns = opened[0] * 1e9, (opened[0] + window.seconds) * 1e9
        window.replies = [one for one in window.replies if begin_ns <= one[3] <= end_ns]
        return window

    async def _exchange(self, model: str, streams: int, trials: int, *, stop: bool = False) -> Batch:
        leased = tuple(self._trial(model) for _ in range(trials))
        order = Order("s", streams, leased, more=not stop, ack=self._acknowledged, stop=stop)
        batch = await self.worker.exchange(order)
        self._acknowledged = batch.number
        return batch

    def _trial(self, model: str) -> Trial:
        self.asked += 1
        return Trial(f"t{self.asked}", self.asked, "control", model, "q1", "none", 1, "s", "measured")

    def _note(self, window: Window, record: Record, line: bytes, *, counts: bool) -> None:
        if record.trial_ttft_ns is not None:
            self._ttft.record(record.trial_ttft_ns)
        if record.service_ns is not None:
            self._service.record(record.service_ns)
        if not counts:
            return
        window.record_bytes += len(line)
        if record.outcome != "answered":
            window.failed += 1
            return
        window.stamps[record.turns[0].attempts[-1].stamp] += 1
        window.replies.append(timed(record))


def timed(record: Record) -> Timed:
    """The last attempt of its first turn, from when its connection stood: connecting is told apart."""
    attempts = record.turns[0].attempts
    last = attempts[-1]
    stood_ns = last.begin_ns + (last.connect_ns or 0) + (last.tls_ns or 0)
    return f"{record.trial}.1.{len(attempts)}", stood_ns, last.first_token_ns, last.end_ns


@asynccontextmanager
async def rig(folder: Path, targets: Mapping[str, Target]) -> AsyncIterator[Rig]:
    """A worker that asks `targets`, by model id. `folder` is an empty one for its library."""
    plan = Plan(
        corpus=CorpusSettings(path="none"),
        questions=QuestionSettings(path="none"),
        model=tuple(replace(target.model, id=name) for name, target in targets.items()),
        arms=(Control(),),
    )
    corpus = Corpus("none", (Document("none", _TEXT, 9),), (), (), "", "none")
    save(folder, Texts(corpus, {"q1": Question("q1", "none", "What is asked?", "Nothing.")}), {})
    worker = Worker(Setup("selftest", "w1", plan, folder, targets, Prices.load()))
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        await worker.wait_ready()
        yield Rig(worker)
        worker.close()
