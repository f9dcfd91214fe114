"""Calls before the first trial: of the probe, of priming a cache, of building what an arm answers from.

They are no trials and in none of their counts; each is on record in probes.jsonl, with what was asked, under what it
was asked for (`Turn.purpose`), and on the line of the bill of that name. What the target does wrong is in the record,
never raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from msgspec.structs import replace

from loadrig.cost import Prices
from loadrig.log import RunLog
from loadrig.wire.engine import Engine
from loadrig.wire.turn import Asker, Target
from loadrig.words.arm import Answer
from loadrig.words.corpus import Question
from loadrig.words.prompt import Prompt, Reply
from loadrig.words.record import Failure, Purpose, Record
from loadrig.words.settings import Plan
from loadrig.words.trial import Trial
from loadrig.worker.client import Notes
from loadrig.worker.recording import Ended, record_of
from loadrig.worker.setup import Setup

PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Means:
    """What such a call is sent and paid with. `room`: whether the budget has room for one more."""

    run: str
    log: RunLog
    targets: Mapping[str, Target]
    spent: Callable[[Record], None]
    room: Callable[[], bool]


class Beforehand:
    """Asks one model; several calls at once are fine. `seed`: new in every run, the calls' ids are made of it."""

    def __init__(self, plan: Plan, prices: Prices, means: Means, target: Target, engine: Engine) -> None:
        self.target = target
        self.room = means.room
        self.currency = prices.currency
        self._plan, self._means, self._clock = plan, means, engine.clock
        self._setup = Setup(means.run, "driver", plan, Path(), means.targets, prices)
        self._asker = Asker(engine, target, plan.limits, plan.retry)
        self.seed = f"{means.run}/{self._clock.label()}/{target.model.id}"
        self._number = 0

    async def ask(
        self, prompt: Prompt, *, purpose: Purpose = "answer", arm: str = PROBE, caller: tuple[str, ...] = ()
    ) -> tuple[Record, Reply | None]:
        """One call; the reply is None when none came. `arm`: for which it is asked. Raises `LogError`."""
        self._number += 1
        digest = blake2b(f"{self.seed}/{purpose}/{arm}/{self._number}".encode(), digest_size=6).hexdigest()
        trial = Trial(f"{PROBE}-{digest}", 0, arm, self.target.model.id, PROBE, PROBE, self._number, PROBE, "probe")
        began_at, begin_ns = self._clock.label(), self._clock.now_ns()
        deadline_ns = begin_ns + round(self._plan.limits.total * 1e9)
        asked = await self._asker.ask(prompt, trace=f"{trial.id}.1", deadline_ns=deadline_ns)
        failure = asked.turn.attempts[-1].failure if asked.reply is None else None
        if asked.reply is None and failure is None:
            failure = Failure("protocol", "no reply and no failure")
        ended = Ended(
            trial,
            Question(PROBE, PROBE, PROBE, "", caller=caller),
            None if asked.reply is None else Answer(asked.reply),
            failure,
            Notes((replace(asked.turn, purpose=purpose),), None, None, None),
            began_at=began_at,
            begin_ns=begin_ns,
            end_ns=self._clock.now_ns(),
        )
        record = record_of(ended, self._setup)
        self._means.log.probe(record, asked.fragments)
        self._means.spent(record)
        return record, asked.reply
