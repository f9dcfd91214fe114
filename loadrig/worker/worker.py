"""A worker: keeps its credits' worth of trials in flight and hands finished records to the driver.

Rules: `exchange` is the only way in or out; a slot that falls free is filled from the waiting trials before the
ended trial's record is made; because hundreds of replies may end in one loop turn while others stream, records are made
for half a millisecond a turn at most, handed over in batches of bounded size, and trials begun a few a turn; a trial
always ends in a record, whatever became of it; a batch is kept until it is acknowledged. In open loop a trial is begun
at its due time, never before: the worker sleeps to the instant, not for an interval, and one that finds all slots taken
begins as soon as one falls free. The same class runs in the driver's own loop (`--inline`) and inside a Ray actor.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace

import msgspec

from loadrig.wire.engine import Engine
from loadrig.wire.turnstile import AT_ONCE
from loadrig.words.clock import Clock, SystemClock
from loadrig.words.trial import Trial
from loadrig.worker.answering import Answered, Answering
from loadrig.worker.changing import Changing
from loadrig.worker.collector import rare_collections
from loadrig.worker.editions import Editions
from loadrig.worker.library import open_texts
from loadrig.worker.messages import Batch, Order
from loadrig.worker.outbox import Outbox
from loadrig.worker.probe import Probe
from loadrig.worker.searching import Searching
from loadrig.worker.setup import Setup

SLICE_NS = 500_000


class Worker:
    """Call `run` once, as a task of its own, and `exchange` until the run is over; then `close`.

    `begins` is called before each trial is begun: who keeps count knows what was sent if the worker is killed.
    """

    def __init__(
        self, setup: Setup, clock: Clock | None = None, *, begins: Callable[[], object] = lambda: None
    ) -> None:
        self._setup = setup
        self._clock = clock or SystemClock()
        self._begins = begins
        self._exchanging = asyncio.Lock()
        self._waiting: deque[Trial] = deque()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._resting = 0  # slots between two trials, where the plan has a pause
        self._alarm: asyncio.TimerHandle | None = None
        self._ended: deque[tuple[Answered, bool]] = deque()
        self._outbox = Outbox()
        self._returned: list[str] = []
        self._order = Order("", 0)
        self._last = Batch(0, ())
        self._probe = Probe()
        self._work = asyncio.Event()
        self._news = asyncio.Event()
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()

    async def run(self) -> None:
        """Opens what a worker needs, serves until `close`, and leaves no task, socket or process behind."""
        texts, setup = open_texts(self._setup.library), self._setup
        editions = Editions(texts, (question.caller for question in texts.questions.values()))
        async with AsyncExitStack() as stack:
            stack.enter_context(rare_collections())
            searching = await stack.enter_async_context(Searching(setup.library))
            self._engine = await stack.enter_async_context(Engine(self._clock))
            self._answering = Answering(
                setup, texts.questions, editions, searching, engine=self._engine, clock=self._clock
            )
            await self._answering.ready()
            self._changing = Changing(setup.library, texts.rebuilt, editions, searching, self._clock)
            self._group = await stack.enter_async_context(asyncio.TaskGroup())
            own = [self._group.create_task(one) for one in (self._probe.run(), self._record(), self._changing.run())]
            self._ready.set()
            await self._closing.wait()
            for task in own:
                task.cancel()
            self._end(cancel=True)

    async def wait_ready(self) -> str:
        """Returns the worker's name once it can take trials."""
        await self._ready.wait()
        return self._setup.worker

    def close(self) -> None:
        """Ends `run`; trials in flight end as cancelled, and from now on none is begun."""
        self._waiting.clear()
        self._closing.set()

    async def exchange(self, order: Order) -> Batch:
        """Takes trials and credits; answers with what ended, after `order.wait_s`, or before that when it has run dry
        or has a full batch to tell. An order that comes again, because its answer was lost or late, is answered with
        the same batch, and its trials are taken once."""
        async with self._exchanging:
            return await self._exchange(order)

    async def _exchange(self, order: Order) -> Batch:
        heard_ns = self._clock.now_ns()
        if order.ack != self._last.number:
            self._last = replace(self._last, heard_ns=heard_ns, answered_ns=self._clock.now_ns())
            return self._last
        if order.stage != self._order.stage:
            self._probe.begin_stage()
        self._order = order
        self._changing.told(order.change_ns)
        if not self._closing.is_set():
            self._waiting.extend(order.trials)
        if order.begin_ns is not None and order.trials:  # some may come late, from a worker that died
            self._waiting = deque(sorted(self._waiting, key=_due_ns))
        if order.stop or order.cancel:
            self._end(cancel=order.cancel)
        self._fill()
        if not self._is_dry() and not self._outbox.is_full:
            self._news.clear()
            try:
                async with asyncio.timeout(order.wait_s):
                    await self._news.wait()
            except TimeoutError:
                pass
        self._last = self._batch(heard_ns)
        return self._last

    def _batch(self, heard_ns: int) -> Batch:
        records, fragments = self._outbox.take()
        batch = Batch(
            number=self._last.number + 1,
            records=records,
            fragments=fragments,
            in_flight=len(self._running),
            waiting=len(self._waiting),
            returned=tuple(self._returned),
            credits=self._order.credits,
            vitals=self._probe.take(),
            heard_ns=heard_ns,
            answered_ns=self._clock.now_ns(),
            adoption=self._changing.adoption,
        )
        self._returned.clear()
        return batch

    def _is_dry(self) -> bool:
        """A slot is free that the driver could fill, or nothing is left and something is to be told."""
        if self._order.more and not self._order.stop:
            return self._order.begin_ns is None and self._taken < self._order.credits and not self._waiting
        return not self._running and not self._ended and bool(self._outbox or self._returned)

    @property
    def _taken(self) -> int:
        """Slots that are not free."""
        return len(self._running) + self._resting

    def _fill(self) -> None:
        order, now_ns = self._order, self._clock.now_ns()
        if order.end_ns is not None and now_ns >= order.end_ns:
            self._end(cancel=False)  # too late for what still waits
        taken = self._taken
        most = taken + AT_ONCE
        while self._waiting and taken < order.credits and not order.stop:
            if taken == most:  # a stage begins with hundreds: the others in the turns that follow
                asyncio.get_running_loop().call_soon(self._fill)
                return
            due_ns = None if order.begin_ns is None else order.begin_ns + _due_ns(self._waiting[0])
            if due_ns is not None and due_ns > now_ns:
                self._wake(due_ns - now_ns)
                return
            trial = self._waiting.popleft()
            self._begins()
            self._running[trial.id] = self._group.create_task(self._one(trial, due_ns))
            taken += 1

    def _wake(self, in_ns: int) -> None:
        """Calls `_fill` when the next trial is due. Timers go by whole milliseconds, so it may be called a little
        early, and then waits again."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_later(-(-in_ns // 1_000_000) / 1e3, self._fill)

    def _end(self, *, cancel: bool) -> None:
        self._returned.extend(trial.id for trial in self._waiting)
        self._waiting.clear()
        if cancel:
            self._engine.stop()  # what is in flight ends as cancelled, with what had come of it

    async def _one(self, trial: Trial, due_ns: int | None) -> None:
        answered = await self._answering.answer(trial, due_ns)
        is_falling = due_ns is None and self._taken < self._order.credits and not self._order.more
        del self._running[trial.id]
        if think_s := self._setup.plan.load.think_s:
            self._resting += 1
            asyncio.get_running_loop().call_later(think_s, self._rested)
        self._fill()
        self._ended.append((answered, is_falling and trial.phase == "measured"))
        self._work.set()
        if self._is_dry():
            self._news.set()

    def _rested(self) -> None:
        self._resting -= 1
        self._fill()
        if self._is_dry():
            self._news.set()

    async def _record(self) -> None:
        """Makes the records of ended trials, a slice a loop turn; the task group that owns it ends it."""
        while True:
            await self._work.wait()
            until_ns = self._clock.now_ns() + SLICE_NS
            while self._ended and self._clock.now_ns() < until_ns:
                self._take_down(*self._ended.popleft())
            if not self._ended:
                self._work.clear()
            if self._is_dry() or self._outbox.is_full:
                self._news.set()
            await asyncio.sleep(0)

    def _take_down(self, answered: Answered, is_tail: bool) -> None:
        record = answered.record()
        told = msgspec.structs.replace(record, phase="tail") if is_tail else record
        self._outbox.add(told, answered.fragments)


def _due_ns(trial: Trial) -> int:
    return trial.due_ns or 0
