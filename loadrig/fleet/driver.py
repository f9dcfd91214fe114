"""The driver: leases trials to workers stage by stage, is the one writer of the log, and tells the observers.

Rules: planned = answered + unanswered + failed + not_run when it ends, however it ends: a dead worker's trials become
`lost`, what was never begun `not_run`. One exchange a worker is outstanding at a time. A stage ends when nothing is in
flight any more, which the limit of a trial's total time bounds; the next begins then. Knows nothing of Ray.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import msgspec

from loadrig.fleet.admission import Admission
from loadrig.fleet.beside import Beside, watched, with_driver
from loadrig.fleet.changing import Changing
from loadrig.fleet.handle import Handle, UnreachableError
from loadrig.fleet.hours import LATE_NS, LEASE_AHEAD_NS, OVERDUE_NS, ROUND_TRIPS, START_AHEAD_NS, Hours, Offset
from loadrig.fleet.ledger import Ledger
from loadrig.fleet.selfwatch import SelfWatch
from loadrig.fleet.spending import Spending
from loadrig.log import RunLog
from loadrig.words.clock import SystemClock
from loadrig.words.errors import FleetError, LogError
from loadrig.words.record import Failure, Record
from loadrig.words.trial import Observer, RunInfo, Stage, Trial, unasked
from loadrig.worker.messages import Batch, Order

GRACE_S = 5.0  # how long a stopped run waits for what is in flight
RATE_WINDOW_S = 2.0


@dataclass(slots=True)
class _State:
    """What the driver remembers of a worker between two exchanges."""

    ack: int = 0
    in_flight: int = 0
    recorded: int = 0
    ended: deque[tuple[int, int]] = field(default_factory=deque)

    def rate_per_s(self, now_ns: int) -> float:
        """Trials this worker ended a second, over about the last two seconds."""
        while self.ended and now_ns - self.ended[0][0] > RATE_WINDOW_S * 1e9:
            self.ended.popleft()
        return sum(count for _, count in self.ended) / RATE_WINDOW_S


@dataclass(frozen=True, slots=True)
class _Book:
    """A stage as it runs."""

    stage: Stage
    ledger: Ledger
    hours: Hours


class Driver:
    """Runs the trials over the workers. `stop` ends a run early and keeps everything."""

    def __init__(
        self,
        info: RunInfo,
        log: RunLog,
        observers: Sequence[Observer],
        *,
        spending: Spending,
        unrun: frozenset[str] = frozenset(),
        changing: Changing | None = None,
    ) -> None:
        """`unrun` are trials that an earlier part of the run put on file as not run; `changing`: documents will change
        in this part."""
        self._info, self._log, self._observers = info, log, observers
        self._spending, self._unrun, self._changing = spending, unrun, changing
        self._clock = SystemClock()
        self._halted: Literal["stopped", "budget"] | None = None
        self._halted_ns = 0
        self._admission = Admission()
        self.watch = SelfWatch()
        self.warnings: list[str] = []
        self.interrupted = False
        self.surplus: set[str] = set()  # of closed-loop stages whose time was over: not planned any more
        self._dead: set[str] = set()

    def stop(self) -> None:
        """Leases nothing more, waits a little for what is in flight, then ends it."""
        self.interrupted = True
        self._halt("stopped")

    def spent(self, record: Record) -> None:
        """Counts a call that was no trial of this drive."""
        self._spending.add(record)

    def has_room(self) -> bool:
        """Whether the budget has room for a call beside a trial."""
        return self._spending.room(1) != 0

    async def drive(
        self,
        stages: Iterable[tuple[Stage, Sequence[Trial]]],
        handles: Sequence[Handle],
        beside: Sequence[Beside] = (),
    ) -> None:
        """Runs one stage after the other over the workers that are alive. `beside` are further processes whose lateness
        is in the figures."""
        for observer in self._observers:
            observer.started(self._info)
        alive = list(handles)
        states = {handle.name: _State() for handle in handles}
        async with with_driver(beside, handles) as others:
            for stage, trials in stages:
                self.watch.expect(stage.name, [*(handle.name for handle in alive), *(one.name for one in others)])
                async with watched(others, partial(self.watch.note, stage.name)):
                    await self._stage(stage, trials, alive, states)
                alive = [handle for handle in alive if handle.name not in self._dead]
        for observer in self._observers:
            observer.finished()

    async def _stage(
        self, stage: Stage, trials: Sequence[Trial], alive: Sequence[Handle], states: dict[str, _State]
    ) -> None:
        if self._changing is not None and stage.open_loop is None:  # an open loop's hours compare the clocks anyway
            await asyncio.gather(*(self._compared(stage, handle, states[handle.name]) for handle in alive))
        hours = await self._hours(stage, trials, alive, states)
        if self._changing is not None:
            self._changing.begin(hours.begin_ns)
        book = _Book(stage, Ledger(trials, stage.most, [handle.name for handle in alive]), hours)
        try:
            async with asyncio.TaskGroup() as group:
                for handle in alive:
                    group.create_task(self._pump(handle, states, book))
        except BaseExceptionGroup as errors:
            if isinstance(errors.exceptions[0], LogError):  # a full disk: one line says it as well as four
                raise errors.exceptions[0] from None
            raise
        finally:
            for handle in alive:
                if book.ledger.held(handle.name):  # it would go on with that, though nobody asks it any more
                    self._lose(book, handle, states[handle.name], is_dead=False)
            self._close(book)
            self._log.sync()

    async def _hours(
        self, stage: Stage, trials: Sequence[Trial], alive: Sequence[Handle], states: dict[str, _State]
    ) -> Hours:
        """When the stage begins and ends; in open loop the workers' clocks are compared with ours first."""
        if stage.open_loop is None:
            begin_ns = self._clock.now_ns()
            lasts_ns = None if stage.duration_s is None else round(stage.duration_s * 1e9)
            return Hours(begin_ns, None if lasts_ns is None else begin_ns + lasts_ns)
        offsets = await asyncio.gather(*(self._compared(stage, handle, states[handle.name]) for handle in alive))
        for handle, offset in zip(alive, offsets, strict=True):
            self.watch.note_clock(stage.name, handle.name, offset)
        first_ns = min(trial.due_ns or 0 for trial in trials)  # of a run taken up: what lies before is not waited for
        begin_ns = self._clock.now_ns() + START_AHEAD_NS - first_ns
        end_ns = begin_ns + stage.open_loop.length_ns + LATE_NS
        by_name = {handle.name: offset for handle, offset in zip(alive, offsets, strict=True)}
        return Hours(begin_ns, end_ns, by_name)

    async def _compared(self, stage: Stage, handle: Handle, state: _State) -> Offset:
        """The worker's clock against ours; unknown when it does not answer, which its first order will find out."""
        offset = Offset()
        with contextlib.suppress(FleetError):
            for _ in range(ROUND_TRIPS):
                sent_ns = self._clock.now_ns()
                batch = await handle.exchange(Order(stage.name, 0, ack=state.ack, wait_s=0))
                state.ack = batch.number
                offset.add(
                    sent_ns=sent_ns, heard_ns=batch.heard_ns, answered_ns=batch.answered_ns,
                    back_ns=self._clock.now_ns(),
                )  # fmt: skip
                if self._changing is not None:
                    self._changing.heard(handle.name, batch, sent_ns=sent_ns)
        return offset

    async def _pump(self, handle: Handle, states: dict[str, _State], book: _Book) -> None:
        state = states[handle.name]
        while not book.ledger.is_done:
            if self._halted or book.hours.is_over(self._clock.now_ns()):
                self._close(book)
            order = self._order(handle, state, book)
            self._log.lease(handle.name, order.trials)
            sent_ns = self._clock.now_ns()
            try:
                batch = await handle.exchange(order)
            except FleetError as error:
                self.warnings.append(str(error))
                self._dead.add(handle.name)
                self._lose(book, handle, state, is_dead=not isinstance(error, UnreachableError))
                return
            if self._changing is not None:  # first: on file before any record of after, and writing takes time
                self._changing.heard(handle.name, batch, sent_ns=sent_ns)
            self._accept(batch, handle, state, book.ledger)
            in_flight = sum(one.in_flight for one in states.values())
            pulse = self.watch.pulse(book.stage, handle.name, batch, in_flight, len(book.ledger.workers))
            for observer in self._observers:
                observer.pulse(pulse)

    def _order(self, handle: Handle, state: _State, book: _Book) -> Order:
        ledger, hours, now_ns = book.ledger, book.hours, self._clock.now_ns()
        room = self._spending.room(ledger.in_hand)
        if room == 0 and ledger.in_hand == 0:
            self._halt("budget")
        stop = self._halted is not None or hours.is_over(now_ns)
        room = 0 if stop else room
        if book.stage.open_loop is None:
            trials = ledger.lease(handle.name, rate_per_s=state.rate_per_s(now_ns), room=room)
        else:
            at_ns = now_ns - hours.begin_ns
            trials = ledger.lease_due(
                handle.name, until_ns=at_ns + LEASE_AHEAD_NS, overdue_ns=at_ns + OVERDUE_NS, room=room
            )
        return Order(
            stage=book.stage.name,
            credits=ledger.credits(handle.name),
            trials=trials,
            more=ledger.more and room != 0,
            ack=state.ack,
            wait_s=ledger.period_s,
            stop=stop,
            cancel=self._halted is not None and now_ns - self._halted_ns > GRACE_S * 1e9,
            begin_ns=hours.begin_of(handle.name),
            end_ns=hours.end_of(handle.name),
            change_ns=None if self._changing is None else self._changing.at_ns(handle.name),
        )

    def _accept(self, batch: Batch, handle: Handle, state: _State, ledger: Ledger) -> None:
        held = ledger.held(handle.name)
        fresh = [record for record in batch.records if record.trial in held]
        self._write(fresh, batch.fragments)  # first: what cannot be written is not acknowledged
        for record in fresh:
            ledger.end(handle.name, record.trial)
        self._log.take_back(handle.name, [held[one] for one in batch.returned if one in held])
        ledger.hand_back(handle.name, batch.returned)
        state.ack, state.in_flight = batch.number, batch.in_flight
        state.recorded += len(fresh)
        state.ended.append((self._clock.now_ns(), len(fresh)))
        if self._halted is None and (denied := self._admission.denied):
            self.warnings.append(denied)
            self._halt("stopped")

    def _halt(self, why: Literal["stopped", "budget"]) -> None:
        if self._halted is None:
            self._halted, self._halted_ns = why, self._clock.now_ns()

    def _close(self, book: _Book) -> None:
        """Writes what will not be leased any more as not run. What a closed loop had no time for is not planned."""
        stage, hours = book.stage, book.hours
        # A trial that was tried or left out in an earlier part of the run is on file already.
        left = [trial for trial in book.ledger.close() if trial.try_no == 1 and trial.id not in self._unrun]
        is_over = self._halted is None and hours.is_over(self._clock.now_ns())
        if is_over and stage.open_loop is None:
            self.surplus.update(trial.id for trial in left)
            return
        reason = "late" if is_over else self._halted or "stopped"
        records = [unasked(trial, self._info.run, "not_run", reason) for trial in left]
        if is_over:  # how long they had waited when they were given up
            ages = [hours.age_ns(trial.due_ns or 0) for trial in left]
            records = [
                msgspec.structs.replace(one, scheduled_ns=age_ns) for one, age_ns in zip(records, ages, strict=True)
            ]
        self._write(records)

    def _lose(self, book: _Book, handle: Handle, state: _State, *, is_dead: bool) -> None:
        """Ends a worker, and writes as lost what it may have sent of what it has in hand. One that is not dead for
        certain, and cannot be ended so that it is, may yet send what is due later."""
        begun = handle.end()
        held = tuple(book.ledger.held(handle.name).values())
        lost = book.ledger.lose(
            handle.name,
            sent_until_ns=book.hours.sent_until_ns(handle.name, self._clock.now_ns())
            if is_dead or begun is not None else None,
            begun=None if begun is None else max(0, begun - state.recorded),
        )  # fmt: skip
        state.in_flight = 0
        self._log.take_back(handle.name, [trial for trial in held if trial not in lost])
        failure = Failure("lost", f"{handle} was lost with this trial in hand")
        run, name = self._info.run, handle.name
        self._write([unasked(trial, run, "failed", "lost", failure=failure, worker=name) for trial in lost])

    def _write(self, records: Sequence[Record], fragments: dict[str, bytes] | None = None) -> None:
        self._log.append(records, fragments or {})
        for record in records:
            self.watch.add(record)
            self._spending.add(record)
            self._admission.add(record)
            for observer in self._observers:
                observer.record(record)
