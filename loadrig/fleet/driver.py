"""The driver: leases trials to workers stage by stage, is the one writer of the log, and tells the observers.

Rules: planned = answered + unanswered + failed + not_run when it ends, however it ends: a dead worker's trials become
`lost`, what was never begun `not_run`. One exchange a worker is outstanding at a time. Knows nothing of Ray.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from loadrig.fleet.admission import Admission
from loadrig.fleet.beside import Beside, watched, with_driver
from loadrig.fleet.handle import Handle
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
    ended: deque[tuple[int, int]] = field(default_factory=deque)

    def rate_per_s(self, now_ns: int) -> float:
        """Trials this worker ended a second, over about the last two seconds."""
        while self.ended and now_ns - self.ended[0][0] > RATE_WINDOW_S * 1e9:
            self.ended.popleft()
        return sum(count for _, count in self.ended) / RATE_WINDOW_S


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
    ) -> None:
        """`unrun` are trials that an earlier part of the run put on file as not run."""
        self._info, self._log, self._observers = info, log, observers
        self._spending, self._unrun = spending, unrun
        self._clock = SystemClock()
        self._halted: Literal["stopped", "budget"] | None = None
        self._halted_ns = 0
        self._admission = Admission()
        self.watch = SelfWatch()
        self.warnings: list[str] = []
        self.interrupted = False
        self._dead: set[str] = set()

    def stop(self) -> None:
        """Leases nothing more, waits a little for what is in flight, then ends it."""
        self.interrupted = True
        self._halt("stopped")

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
        ledger = Ledger(trials, stage.concurrency, [handle.name for handle in alive])
        try:
            async with asyncio.TaskGroup() as group:
                for handle in alive:
                    group.create_task(self._pump(handle, states, ledger, stage))
        except BaseExceptionGroup as errors:
            if isinstance(errors.exceptions[0], LogError):  # a full disk: one line says it as well as four
                raise errors.exceptions[0] from None
            raise
        finally:
            self._close(ledger)
            for handle in alive:
                self._lose(ledger, handle)

    async def _pump(self, handle: Handle, states: dict[str, _State], ledger: Ledger, stage: Stage) -> None:
        state = states[handle.name]
        while not ledger.is_done:
            if self._halted:
                self._close(ledger)
            try:
                batch = await handle.exchange(self._order(handle, state, ledger, stage))
            except FleetError as error:
                self.warnings.append(str(error))
                self._dead.add(handle.name)
                handle.end()
                self._lose(ledger, handle)
                state.in_flight = 0
                return
            self._accept(batch, handle, state, ledger)
            in_flight = sum(one.in_flight for one in states.values())
            pulse = self.watch.pulse(stage, handle.name, batch, in_flight, len(ledger.workers))
            for observer in self._observers:
                observer.pulse(pulse)

    def _order(self, handle: Handle, state: _State, ledger: Ledger, stage: Stage) -> Order:
        now_ns = self._clock.now_ns()
        room = self._spending.room(ledger.in_hand)
        if room == 0 and ledger.in_hand == 0:
            self._halt("budget")
        trials = ledger.lease(handle.name, rate_per_s=state.rate_per_s(now_ns), room=0 if self._halted else room)
        return Order(
            stage=stage.name,
            credits=ledger.credits(handle.name),
            trials=trials,
            more=ledger.more and room != 0,
            ack=state.ack,
            stop=self._halted is not None,
            cancel=self._halted is not None and now_ns - self._halted_ns > GRACE_S * 1e9,
        )

    def _accept(self, batch: Batch, handle: Handle, state: _State, ledger: Ledger) -> None:
        fresh = [record for record in batch.records if ledger.end(handle.name, record.trial)]
        ledger.hand_back(handle.name, batch.returned)
        state.ack, state.in_flight = batch.number, batch.in_flight
        state.ended.append((self._clock.now_ns(), len(fresh)))
        self._write(fresh, batch.fragments)
        if self._halted is None and (denied := self._admission.denied):
            self.warnings.append(denied)
            self._halt("stopped")

    def _halt(self, why: Literal["stopped", "budget"]) -> None:
        if self._halted is None:
            self._halted, self._halted_ns = why, self._clock.now_ns()

    def _close(self, ledger: Ledger) -> None:
        """Writes what will not be leased any more as not run."""
        reason = self._halted or "stopped"
        left = [trial for trial in ledger.close() if trial.id not in self._unrun]  # else it is on file already
        self._write([unasked(trial, self._info.run, "not_run", reason) for trial in left])

    def _lose(self, ledger: Ledger, handle: Handle) -> None:
        failure = Failure("lost", f"worker {handle.name} (pid {handle.pid}) was lost with this trial in hand")
        lost = ledger.lose(handle.name)
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
