"""Whose fault a late figure is, whole: the simulator as a process, the socket, the worker, manifest and summary."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_run import Watching, fire

from loadrig.arms.control import Control
from loadrig.words.settings import ModelSettings
from loadrig.words.trial import Pulse, RunInfo
from plans import plan

MODEL = "claude-haiku-5-5"
MS = 1_000_000


@dataclass
class Holding(Watching):
    """Holds the simulator from the second pulse to the third, a tenth of a second, as a busy machine would."""

    seen: int = 0

    def pulse(self, pulse: Pulse) -> None:
        self.seen += 1
        if self.seen in (2, 3):
            os.kill(self.simulators[0], signal.SIGSTOP if self.seen == 2 else signal.SIGCONT)


def scenario(folder: Path, *, first_ms: float) -> Path:
    path = folder / "scenario.toml"
    dials = f"base_ms = {first_ms}\ndecode_ms_per_token = 2\nfixed_answer_tokens = 9\n"
    path.write_text(f"{dials}prefill_us_per_token = 0\njitter = 0\n")
    return path


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="holds a process with a signal")
def test_a_stage_slowed_by_its_simulator_is_marked_and_the_simulator_is_named(tmp_path: Path) -> None:
    """It did not run for 100 ms of a second: its loop lag p99 is over 50 ms, the limit below that, and it is said."""
    of = plan(Control(), repetitions=4, load={"concurrency": (2,)}, model=(ModelSettings(id=MODEL),))
    fired = fire(of, {MODEL: scenario(tmp_path, first_ms=100)}, tmp_path, stopper=Holding(), loop="uvloop")
    stage = fired.summary.stages[0]
    assert stage.client_bound is True
    (cause,) = (cause for mark in stage.client for cause in mark.causes if cause.process == "simulator")
    assert cause.measure == "lag_p99_ns"
    assert cause.value > 50 * MS > cause.limit
    (said,) = (warning for warning in fired.summary.warnings if "client-bound" in warning)
    assert f"stage {stage.stage} is client-bound" in said
    assert "simulator: loop lag p99" in said


def test_a_slow_target_with_an_idle_rig_is_not_marked(tmp_path: Path) -> None:
    """A first token after 1.2 s is the target's: worker and simulator were both sampled, and in time for it."""
    of = plan(Control(), load={"concurrency": (4,)}, model=(ModelSettings(id=MODEL),))
    fired = fire(of, {MODEL: scenario(tmp_path, first_ms=1200)}, tmp_path, loop="uvloop")
    (stage,) = fired.summary.stages
    assert {mark.process: mark.lag_limit_ns >= 50 * MS for mark in stage.client} == {"w1": True, "simulator": True}
    assert all((mark.lag_n or 0) >= 90 for mark in stage.client)
    assert stage.client_bound is False
    assert not [warning for warning in fired.summary.warnings if "client-bound" in warning]


def test_a_dead_simulator_is_not_taken_for_a_quiet_one(tmp_path: Path) -> None:
    """It was killed before it could tell of itself: its trials failed, and the stage is not checked."""

    @dataclass
    class Killing(Watching):
        def started(self, info: RunInfo) -> None:
            os.kill(self.simulators[0], signal.SIGKILL)

    resting = {"concurrency": (1,), "think_s": 0.1}  # a refusal takes no time; the worker is to be sampled
    of = plan(Control(), load=resting, model=(ModelSettings(id=MODEL),))
    fired = fire(of, {MODEL: scenario(tmp_path, first_ms=100)}, tmp_path, stopper=Killing(), loop="uvloop")
    assert {record.outcome for record in fired.run.records} == {"failed"}
    (stage,) = fired.summary.stages
    assert [mark.bound for mark in stage.client if mark.process == "simulator"] == [None]
    assert stage.client_bound is not False  # a worker that was late itself may have marked it
    assert any("no samples of simulator" in said or "is client-bound" in said for said in fired.summary.warnings)
