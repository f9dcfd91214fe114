"""One trial from lease to record: runs the arm against a client of its own and says what became of it.

What the target does wrong ends in the record, and so does what an arm or a retriever does wrong: a plan may name
anybody's, and one question it cannot bear must not cost the rest of the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec

from loadrig.wire.engine import Engine
from loadrig.wire.turn import Asker
from loadrig.words.arm import Answer
from loadrig.words.clock import Clock
from loadrig.words.corpus import Question
from loadrig.words.errors import FleetError, SearchFailed, TurnFailed, described
from loadrig.words.record import Failure, Record
from loadrig.words.trial import Trial
from loadrig.worker.client import Means, TrialClient
from loadrig.worker.editions import Editions
from loadrig.worker.recording import Ended, record_of
from loadrig.worker.searching import Searching
from loadrig.worker.setup import Setup

_GRACE_NS = 1_000_000_000


class Answered(msgspec.Struct, frozen=True, gc=False):
    """An ended trial. The record is made on request, after the freed slot has been filled."""

    ended: Ended
    setup: Setup
    fragments: Mapping[str, bytes]

    def record(self) -> Record:
        return record_of(self.ended, self.setup)


class _Limit:
    """Ends the present task a second after its trial's `total`: the wire keeps that limit itself, and records what came
    until then; this one catches a hang elsewhere."""

    def __init__(self, client: TrialClient) -> None:
        self._client = client
        self._task = asyncio.current_task()
        self._is_struck = False

    @property
    def due_ns(self) -> int:
        return self._client.deadline_ns + _GRACE_NS

    def look(self, now_ns: int) -> int | None:
        if now_ns < self.due_ns or self._task is None:
            return self.due_ns
        self._is_struck = True
        self._task.cancel()
        return None

    def has_struck(self) -> bool:
        """Whether a cancellation was this one's, and nobody else's besides."""
        return self._is_struck and self._task is not None and self._task.uncancel() == 0


class Answering:
    """Holds what the trials of a worker share; `answer` runs one."""

    def __init__(
        self,
        setup: Setup,
        questions: Mapping[str, Question],
        editions: Editions,
        searching: Searching,
        *,
        engine: Engine,
        clock: Clock,
    ) -> None:
        self._setup = setup
        self._questions = questions
        self._editions = editions
        self._searching = searching
        self._clock = clock
        self._watchdog = engine.watchdog
        self._total_ns = round(setup.plan.limits.total * 1e9)
        self._arms = {arm.name: arm for arm in setup.plan.arms}
        self._askers = {
            model: Asker(engine, target, setup.plan.limits, setup.plan.retry, workers=setup.workers)
            for model, target in setup.targets.items()
        }

    async def ready(self) -> None:
        """What would otherwise be paid for while trials are in flight."""
        for asker in self._askers.values():
            await asker.ready()

    def _built(self, trial: Trial, question: Question) -> str | None:
        if not self._setup.built:
            return None
        return self._setup.built.get((trial.arm, trial.model, tuple(sorted(set(question.caller)))))

    async def answer(self, trial: Trial, due_ns: int | None = None) -> Answered:
        """Runs the trial to its end, whatever that is. Raises only when its task is cancelled. `due_ns`: in open loop
        the instant at which it was to begin."""
        question = self._questions[trial.question]
        total_ns = self._total_ns
        began_at, begin_ns = self._clock.label(), self._clock.now_ns()
        version = self._editions.version
        means = Means(
            self._askers[trial.model], self._editions.view(question.caller), self._searching, self._clock,
            self._setup.run, None if version is None else self._editions, self._built(trial, question),
        )  # fmt: skip
        client = TrialClient(trial, means, caller=question.caller, deadline_ns=begin_ns + total_ns)
        limit = _Limit(client)
        self._watchdog.add(limit, limit.due_ns)
        answer: Answer | None = None
        failure: Failure | None = None
        try:
            answer = await self._arms[trial.arm].answer(question, client)
        except TurnFailed as failed:
            failure = failed.failure
        except asyncio.CancelledError:
            if not limit.has_struck():
                raise
            failure = Failure("timeout", f"the trial took longer than {total_ns / 1e9:g} s", phase="total")
        except FleetError:
            raise  # ours: this worker cannot go on
        except SearchFailed as error:
            failure = Failure("arm_error", str(error))
        except Exception as error:  # noqa: BLE001 - arms and retrievers are foreign code
            failure = Failure("arm_error", described(error))
        finally:
            self._watchdog.discard(limit)
        end_ns, notes = self._clock.now_ns(), client.notes()
        if answer is not None and not notes.turns:
            answer, failure = None, Failure("arm_error", "the arm answered without asking the model")
        ended = Ended(
            trial, question, answer, failure, notes,
            began_at=began_at, begin_ns=begin_ns + notes.held_ns, end_ns=end_ns - notes.returned_late_ns,
            due_ns=due_ns, corpus_version=version,
        )  # fmt: skip
        return Answered(ended, self._setup, client.fragments)
