"""What becomes of a trial whose arm does not do its part."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from open_worker import run_dry, trials, working
from scripted_client import says
from scripted_server import Script, Server
from stream_events import reply

from loadrig.fleet.handle import Handle
from loadrig.words.arm import Answer, Client
from loadrig.words.corpus import Question
from loadrig.words.record import Failure, Record
from loadrig.words.settings import LimitSettings
from loadrig.worker.messages import Order


@dataclass(frozen=True)
class Guesses:
    """An arm that answers without asking the model."""

    name: str = "odd"

    async def answer(self, question: Question, client: Client) -> Answer:
        return Answer(says("yes"))


@dataclass(frozen=True)
class Hangs:
    """An arm that does not come back for long, though it asks nobody."""

    name: str = "odd"

    async def answer(self, question: Question, client: Client) -> Answer:
        await asyncio.sleep(4)
        return Answer(says("yes"))


def became(folder: Path, arm: Guesses | Hangs) -> Record:
    """The record of the one trial this arm is given, at a limit of 0.1 s."""

    async def work(handle: Handle, server: Server) -> Record:
        batches = await run_dry(handle, Order("c2", 1, trials(1, arm="odd"), more=False))
        assert server.requests == []
        return batches[-1].records[0]

    return working(folder, Script([(0, reply())]), work, arm, limits=LimitSettings(total=0.1))


def test_an_arm_that_answers_without_asking_has_failed(tmp_path: Path) -> None:
    """Whatever it says, nothing was measured: failed/arm_error, no answer kept, nothing to pay."""
    record = became(tmp_path, Guesses())
    assert (record.outcome, record.reason, record.answer, record.cost) == ("failed", "arm_error", "", "0")
    assert record.failure == Failure("arm_error", "the arm answered without asking the model")


def test_an_arm_that_hangs_is_ended_by_the_trials_limit(tmp_path: Path) -> None:
    """Nothing is on the wire that could time out; the trial still ends, as a timeout of its total."""
    record = became(tmp_path, Hangs())
    assert record.failure == Failure("timeout", "the trial took longer than 0.1 s", phase="total")
