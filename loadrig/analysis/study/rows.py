"""The runs of a study side by side: what was asked, how long it took, what it cost, what the safeguards said; and what
each differs in from the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from loadrig.analysis.bill import Money
from loadrig.analysis.compare.settings import Changed, settings
from loadrig.analysis.compare.sides import pairs
from loadrig.analysis.study.answers import Part
from loadrig.words.errors import InputError
from loadrig.words.safeguard import Verdict, worst


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. `calls`: HTTP exchanges of every kind, warm-up, probes and tries asked again with them; `wall_s`: sum
    over its sessions, one that was killed left out.
    """

    name: str
    about: str
    status: str
    questions: int
    models: tuple[str, ...]
    arms: int
    planned: int
    answered: int
    failed: int
    calls: int
    wall_s: float | None
    cost: Money
    worst: Verdict
    graded_by: str


@dataclass(frozen=True, slots=True)
class Differs:
    """What a run differs in from the first, over the arms and models that both have. `common`: questions of both."""

    run: str
    first: str
    changed: tuple[Changed, ...]
    beside: tuple[str, ...]
    only_here: tuple[str, ...]
    common: int
    why: str = ""


def row(part: Part) -> RunRow:
    """The run's row."""
    run, summary = part.run, part.summary
    counts = summary.counts[0]
    sent = (*run.records, *run.superseded, *run.probes)
    return RunRow(
        name=part.name,
        about=part.about,
        status=str(summary.identity.status),
        questions=len(run.questions),
        models=tuple(part.models),
        arms=len({trial.arm for trial in run.trials}),
        planned=counts.planned,
        answered=counts.answered,
        failed=counts.failed,
        calls=sum(len(turn.attempts) for record in sent for turn in record.turns),
        wall_s=_wall_s(part),
        cost=summary.bill.total,
        worst=worst(one.verdict for one in summary.safeguards),
        graded_by=summary.grading.by,
    )


def differs(first: Part, part: Part) -> Differs:
    """Of the run against the first. An arm that only one of them has is named, not compared."""
    only = tuple(arm for arm in part.arms if arm not in first.arms)
    try:
        sides = pairs(first.run, part.run)
    except InputError as error:
        return Differs(part.name, first.name, (), (), only, 0, error.problem)
    found = [settings(a, b) for a, b in sides]
    changed = {one.what: one for of in found for one in of.counted}
    beside = dict.fromkeys(one.what for of in found for one in of.beside)
    common = max(len(a.questions.keys() & b.questions.keys()) for a, b in sides)
    return Differs(part.name, first.name, tuple(changed.values()), tuple(beside), only, common)


def _wall_s(part: Part) -> float | None:
    took = list(_sessions(part))
    return sum(took) if took else None


def _sessions(part: Part) -> Iterator[float]:
    for session in part.run.manifest.get("sessions") or []:
        begun, ended = session.get("began_at"), session.get("ended_at")
        if begun and ended:
            yield (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
