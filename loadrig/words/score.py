"""Grades: what one grader says of one answer, and whose word counts. scores.jsonl holds them, never a record.

`correct`, `stale` and `invented` are independent: a refusal is wrong and neither of the others, and a right answer may
still tell of something that was never there. None is "not graded", and is never taken for no.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

Kind = Literal["precheck", "sheet", "judge"]
Mark = Literal["correct", "stale", "invented", "supported"]
Key = tuple[str, int]  # trial and try
SCHEMA = 1
PRECHECK = "precheck"


class Grader(msgspec.Struct, frozen=True, tag_field="row", tag="grader"):
    """Who graded, when (UTC, a label) and by what: `source` is the rule's version, the sheet's file or the model.

    Of a judge: `folder` is that of its calls, below the run's; it counts from `floor` of raw agreement with a sheet on
    at least `least` answers; `simulated`: it was no model.
    """

    name: str
    kind: Kind
    graded_at: str
    source: str
    folder: str | None = None
    floor: float | None = None
    least: int | None = None
    simulated: bool = False


class Score(msgspec.Struct, frozen=True, tag_field="row", tag="score", rename={"try_no": "try"}):
    """One grader's marks for the answer of one trial and try (`try` in JSON). `score`: 0 to 1, for answers that are
    right in part. `supported`: by what was put before the model; only a judge says. `note`: the reason for a mark
    against the answer."""

    grader: str
    trial: str
    try_no: int
    correct: bool | None = None
    stale: bool | None = None
    invented: bool | None = None
    score: float | None = None
    supported: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """What the automatic rules say of one answer: the three marks, of which `correct` is `complete` (all that the key
    demands is there; None when it demands nothing) and not `against` (it opens with the reference's opposite); `note`
    is the reason for each mark against it."""

    complete: bool | None
    against: bool
    correct: bool | None
    stale: bool | None
    invented: bool | None
    note: str


@dataclass(frozen=True, slots=True)
class Grading:
    """The marks that count in a run, and whose they are. `by` says it in words: `the sheet of anna`. `graders` are
    names; where the first has no mark for an answer, that of the next counts. `kind`: `sheet`, `judge`, or both."""

    by: str
    kind: str
    graders: tuple[str, ...]
    scores: Mapping[Key, Score]
