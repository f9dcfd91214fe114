"""Plants judges that prefer one arm, has them judge a run, and holds them against a sheet. Tests and benchmarks only.

Nothing that a judge is shown names an arm, so a preference can only hang on how an answer is put: answers of full
context end with a sentence, which the judge takes for a sign that they are right.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from planting import Fault, model_of

from loadrig.analysis.selection import asked
from loadrig.commands.grade_judge import Asked, judge
from loadrig.graders.blind import with_answer
from loadrig.graders.scores import read, replace
from loadrig.graders.standing import Calibration, calibration, judges
from loadrig.log import RunFolder
from loadrig.simulator.judge import holds
from loadrig.words.score import Grader, Score
from loadrig.words.settings import BudgetSettings, LoadSettings

BY_ARM = "calibration by arm"
ERRS = 0.01
MANNER = "All papers were read for this."


def sheet(run: RunFolder) -> None:
    """A person's marks of every answer of the run: one who reads as the simulated judge does, and never errs."""
    found = [
        Score("sheet", r.trial, r.try_no, correct=holds(r.answer, run.questions[r.question].reference))
        for r in with_answer(run, asked(run))
    ]
    replace(run.path, Grader("sheet", "sheet", "", ""), found)


def fair() -> Fault:
    """A judge that errs now and then, whoever answered."""
    return Fault("fair judge", f"{ERRS:.0%} of verdicts turned round", (), {"judge_errs": ERRS})


def partial(share: float, *, drawn: bool) -> Fault:
    """A judge that takes answers of that manner for right; `share`: of full context's that have it."""
    keys = {"judge_likes_marker": MANNER, "judge_errs": ERRS}
    return Fault("judge prefers one arm", f"{share:.0%} of its answers are right to it", (BY_ARM,), keys, drawn=drawn)


def mannered(share: float) -> Fault:
    """A clean provider: so many answers over many documents have the manner."""
    return Fault("clean", "", (), {"marks_wide": MANNER, "marks_wide_share": share})


def held(run: RunFolder, fault: Fault, folder: Path, *, seed: int = 0) -> Calibration:
    """A judge with the fault, asked about every answer of the run and held against its sheet."""
    folder.mkdir(parents=True)
    name = f"judge{seed}"
    asking = Asked(
        model=model_of(name, fault, folder, seed), load=LoadSettings(concurrency=(4,), warmup=0, cycle=False),
        budget=BudgetSettings(), name=name, seed=seed, all_repetitions=False, faithfulness=False, floor=0.9, least=20,
        gate=False, confirmed=True, command_line="",
    )  # fmt: skip
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        judge(run.path, asking)
    known = read(run.path)
    return next(calibration(run, one, known) for one in judges(known) if one.grader.name == name)


def leaning(found: Calibration) -> dict[str, str]:
    """Arms to which a judge is kinder or harsher than the sheet, and by how much."""
    return {
        one.arm: f"{'kinder' if one.kinder > one.harsher else 'harsher'} to {one.arm} ({one.kinder} to {one.harsher}, "
        f"p {one.p:.2g})"
        for one in found.by_arm if one.leans
    }  # fmt: skip
