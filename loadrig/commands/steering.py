"""How a sweep goes from stage to stage: up a list of levels until the target is past its knee, or in search of the
highest load that keeps the plan's objectives.

What is decided is decided by the figures that the report will show (`loadrig.analysis.sweep`), of the stages on file.
In a search a stage has so many trials that one without a violation would clearly keep every objective; one that stays
undecided is repeated once, and both are judged together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from loadrig.analysis.load import stage_loads
from loadrig.analysis.sweep import Step, steps, tried
from loadrig.execution.steering import Planned
from loadrig.log import RunFolder
from loadrig.objectives import enough
from loadrig.plan import planned
from loadrig.search import Bounds, Tried, bracket, doublings, next_load
from loadrig.words.corpus import Question
from loadrig.words.settings import Plan

Say = Callable[[str], None]


@dataclass(slots=True)
class Levels:
    """The plan's levels or rates, from the lowest. With `stop` it ends behind the first that is saturated."""

    plan: Plan
    stop: bool
    say: Say
    ended: str | None = None

    def foreseen(self, questions: Sequence[Question]) -> tuple[Planned, ...]:
        return tuple(planned(self.plan, questions, load=load) for load in self._loads)

    def stages(self, questions: Sequence[Question], so_far: Callable[[], RunFolder]) -> Iterator[Planned]:
        position = 0
        for load in self._loads:
            one = planned(self.plan, questions, load=load, position=position)
            position += len(one[1])
            yield one
            step = _looked(so_far(), self.say)[-1]
            if step.saturated and self.stop and load != self._loads[-1]:
                self.ended = f"stopped behind {step.stage}, which is saturated: {step.cause}"
                self.say(f"{self.ended}; --no-stop goes on")
                return
        self.ended = "every level was run"

    def told(self) -> Mapping[str, Any]:
        return {"searched": False, "stop": self.stop, "ended": self.ended}

    @property
    def _loads(self) -> list[float]:
        return sorted(set(self.plan.load.rate or self.plan.load.levels))


@dataclass(slots=True)
class Searching:
    """The search within `bounds`. With `stop` no load above a saturated one is tried."""

    plan: Plan
    bounds: Bounds
    stop: bool
    say: Say
    ended: str | None = None
    _known: list[Tried] = field(default_factory=list)

    def foreseen(self, questions: Sequence[Question]) -> tuple[Planned, ...]:
        """The way up to the ceiling, and the stages that are left then, as large as the last: no search is longer."""
        up = doublings(self.bounds)
        rest = [(up[-1], again) for again in range(1, self.bounds.stages - len(up) + 1)]
        loads = [*((load, 0) for load in up), *rest]
        return tuple(planned(self._plan, questions, load=load, again=again) for load, again in loads)

    def stages(self, questions: Sequence[Question], so_far: Callable[[], RunFolder]) -> Iterator[Planned]:
        position = ran = 0
        while (load := next_load(self._known, self.bounds)) is not None:
            for again in (0, 1):
                one = planned(self._plan, questions, load=load, again=again, position=position)
                position, ran = position + len(one[1]), ran + 1
                yield one
                found = _looked(so_far(), self.say)
                if found[-1].verdict != "undecided" or ran >= self.bounds.stages:
                    break
            self._known = [
                replace(one, saturated=one.saturated and self.stop) for one in tried(found)
            ]  # fmt: skip
        self.ended = _why(self._known, self.bounds)
        self.say(f"search ended: {self.ended}")

    def told(self) -> Mapping[str, Any]:
        return {"searched": True, "stop": self.stop, "ended": self.ended, "most_stages": self.bounds.stages}

    @property
    def _plan(self) -> Plan:
        """With trials enough in a stage."""
        least = max(self.plan.load.least, enough(self.plan.objectives))
        return replace(self.plan, load=replace(self.plan.load, least=least))


def _looked(run: RunFolder, say: Say) -> tuple[Step, ...]:
    """The stages so far; says what the last one came to."""
    found = steps(run, stage_loads(run))
    last = found[-1]
    rate = "no rate" if last.rates.per_s is None else f"{last.rates.per_s:.2f} trials/s"
    verdict = [] if last.verdict is None else [f"objectives {last.verdict}"]
    past = [f"saturated ({last.cause})"] if last.saturated else []
    bound = ["client-bound"] if last.client_bound else []
    say("; ".join((f"stage {last.stage}: {rate}", *verdict, *past, *bound)))
    return found


def _why(known: Sequence[Tried], bounds: Bounds) -> str:
    """Why the search tries no further load."""
    found, top = bracket(known), max(known, key=lambda one: one.load)
    if sum(one.stages for one in known) >= bounds.stages:
        return f"all {bounds.stages} stages were used"
    if found.kept is None:
        return "no load tried keeps the objectives"
    if found.not_kept is not None:
        return "the bracket is as narrow as it gets"
    if top.saturated:
        return f"saturated at {top.load:g}: more load would only wait"
    return f"the ceiling of {bounds.ceiling:g} keeps the objectives"
