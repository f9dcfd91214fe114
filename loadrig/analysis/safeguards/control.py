"""The control ran first, and what it answered rightly without a document is dropped from accuracy."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.accuracy import verdict
from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.selection import CONTROL, asked, stage_names
from loadrig.log import RunFolder
from loadrig.words.safeguard import Figure, Safeguard

NAME = "control"
NAMED = 8


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    late = [stage for stage in stage_names(seen.run) if not _is_first(seen.run, stage)]
    for model in seen.models:
        records = [record for record in asked(seen.run) if record.model == model]
        questions = {record.question for record in records}
        judged = {r.question for r in records if r.arm == CONTROL and verdict(seen.run, r) is not None}
        known = [drop.question for drop in seen.dropped if drop.model == model]
        figures = (
            Figure("questions", len(questions)),
            Figure("judged without documents", len(judged)),
            Figure("known, and dropped", len(known)),
        )
        if not any(record.arm == CONTROL for record in records):
            why = "no control ran: what the model knew beforehand cannot be told from what the documents gave"
            yield Safeguard(NAME, "not checked", why, figures, model)
        elif late:
            yield Safeguard(NAME, "failed", f"the control did not come first in {', '.join(late)}", figures, model)
        elif known:
            told = ", ".join(known[:NAMED]) + (f" and {len(known) - NAMED} more" if len(known) > NAMED else "")
            why = f"it answered {len(known)} of {len(questions)} questions rightly, which are dropped: {told}"
            yield Safeguard(NAME, "warned", why, figures, model)
        elif judged != questions:
            why = (
                f"the control's answers to {len(questions - judged)} of {len(questions)} questions could not be judged"
            )
            yield Safeguard(NAME, "not checked", why, figures, model)
        else:
            why = f"it came first and answered none of {len(questions)} questions rightly: none is dropped"
            yield Safeguard(NAME, "passed", why, figures, model)


def _is_first(run: RunFolder, stage: str) -> bool:
    """Every control trial of the stage stands before every other in the plan's order. Trials of open loop are due by
    their times, and a stage that repeats its set begins anew with the control: its first pass counts. In a replay each
    question comes at its own time in every arm."""
    if stage in _replays(run):
        return True
    trials = [one for one in run.trials if one.stage == stage and one.phase == "measured"]
    first = min((one.repetition for one in trials), default=0)
    controls = [one.position for one in trials if one.arm == CONTROL and one.repetition == first]
    others = [one.position for one in trials if one.arm != CONTROL and one.repetition == first]
    return not controls or not others or max(controls) < min(others)


def _replays(run: RunFolder) -> set[str]:
    stages = run.manifest.get("stages") or []
    return {str(one["name"]) for one in stages if (one.get("open_loop") or {}).get("arrivals") == "replay"}
