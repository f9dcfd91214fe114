"""A run whose stages are chosen as it goes.

A stage is planned on file before its first trial is sent, so that a run that was stopped can be taken up as any other.
Nothing is sent between two stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from loadrig.execution import folder as folders
from loadrig.execution.steering import Planned, Steering
from loadrig.fleet.driver import Driver
from loadrig.log import RunFolder, read_run
from loadrig.words.corpus import Question

HALTED = ("stopped", "budget")


@dataclass(frozen=True, slots=True)
class Course:
    """The run in `folder` and who steers it; `manifest` is what will be on file at its end."""

    steering: Steering
    folder: Path
    manifest: dict[str, Any]
    driver: Driver

    def stages(self, questions: Sequence[Question]) -> Iterator[Planned]:
        """Puts each stage on file and hands it out; ends with the steering, or when the run was stopped."""
        self.manifest["sweep"] = self.steering.told()
        for stage, trials in self.steering.stages(questions, self._so_far):
            if self._is_halted():
                break
            folders.add_stage(self.folder, self.manifest, stage, trials)
            yield stage, trials
            self.manifest["sweep"] = self.steering.told()
        self.manifest["sweep"] = self.steering.told()

    def _so_far(self) -> RunFolder:
        """With what the rig saw of itself, which the manifest on file has only at the end."""
        run = read_run(self.folder)
        seen = [asdict(one) for one in self.driver.watch.measurements()]
        return replace(run, manifest={**run.manifest, "self_measurement": seen})

    def _is_halted(self) -> bool:
        names = [stage["name"] for stage in self.manifest["stages"][-1:]]
        return self.driver.interrupted or any(
            one.reason in HALTED for one in read_run(self.folder).records if one.stage in names
        )
