"""Which questions were right in which arm: one mark a question and arm, by the trial that accuracy counts.

A mark is that of the question's first asked trial, and names it; so what stands in a column sums to the arm's share.
Of a large set the questions on which arms differ are shown first, as many as there is room for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from loadrig.analysis.accuracy import can_be_graded, verdict
from loadrig.analysis.selection import asked, by_arm_and_model, in_order
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.html import Section
from loadrig.reports.html.pieces import body, environment, paragraph
from loadrig.reports.speed import models_of
from loadrig.reports.table import label, one_line
from loadrig.words.record import Record

MOST = 300
Kind = Literal["right", "wrong", "unanswered", "failed", "no-key", "dropped"]
SIGNS: Mapping[Kind, str] = {
    "right": "+", "wrong": "\N{MINUS SIGN}", "unanswered": "?", "failed": "!", "no-key": "\N{MIDDLE DOT}",
    "dropped": "d",
}  # fmt: skip
LEGEND = (
    "+ right, \N{MINUS SIGN} not right, ? unanswered, ! failed, \N{MIDDLE DOT} cannot be graded, d left out because "
    "the control answered it rightly, nothing: not asked."
)


@dataclass(frozen=True, slots=True)
class Mark:
    """What became of one question in one arm, by the trial named."""

    kind: Kind
    sign: str
    trial: str
    told: str


@dataclass(frozen=True, slots=True)
class Row:
    """A question and its marks, None where it was not asked."""

    question: str
    category: str
    text: str
    marks: tuple[Mark | None, ...]

    @property
    def differs(self) -> bool:
        """Whether some arms were right and others were not."""
        kinds = {mark.kind for mark in self.marks if mark is not None}
        return "right" in kinds and bool(kinds & {"wrong", "unanswered", "failed"})


def section(run: RunFolder, summary: Summary) -> Section | None:
    """None where no answer can be graded."""
    arms, rows = marks(run, summary)
    if not any(mark.kind in ("right", "wrong") for row in rows for mark in row.marks if mark is not None):
        return None
    shown = sorted(rows, key=lambda row: not row.differs)[:MOST] if len(rows) > MOST else rows
    differ = sum(row.differs for row in rows)
    told = f"{differ} of {len(rows)} questions were right in some arms and not in others. {LEGEND}"
    left = "" if len(shown) == len(rows) else f" Shown are {len(shown)}, those on which arms differ first."
    html = environment.get_template("questions.html").render(arms=arms, rows=sorted(shown, key=_place))
    return Section("Questions", body(paragraph(told + left), Markup(html)))  # noqa: S704 - Jinja escaped


def _place(row: Row) -> tuple[str, str]:
    return row.category, row.question


def marks(run: RunFolder, summary: Summary) -> tuple[tuple[str, ...], list[Row]]:
    """The arms by name, and every question with a mark for each of them."""
    known = {(drop.question, drop.model) for drop in summary.dropped}
    firsts: list[dict[str, Record]] = []
    names: list[str] = []
    for arm, model, found in by_arm_and_model(run, (((r.arm, r.model), r) for r in in_order(run, asked(run)))):
        names.append(label(arm, model, models_of(summary)))
        firsts.append({record.question: record for record in reversed(found)})
    every = {question: record.category for first in firsts for question, record in first.items()}
    rows = []
    for question, category in every.items():
        text = run.questions[question].question if question in run.questions else ""
        of = tuple(_mark(run, first.get(question), name, known) for name, first in zip(names, firsts, strict=True))
        rows.append(Row(question, category, one_line(text, 160), of))
    return tuple(names), rows


def _mark(run: RunFolder, record: Record | None, arm: str, known: set[tuple[str, str]]) -> Mark | None:
    if record is None:
        return None
    kind = _kind(run, record, dropped=(record.question, record.model) in known)
    return Mark(kind, SIGNS[kind], record.trial, f"{arm}, {record.question}: {kind}, trial {record.trial}")


def _kind(run: RunFolder, record: Record, *, dropped: bool) -> Kind:
    if dropped:
        return "dropped"
    if not can_be_graded(run, record):
        return "no-key"
    if record.outcome == "failed":
        return "failed"
    if record.outcome == "unanswered":
        return "unanswered"
    found = verdict(run, record)
    return "no-key" if found is None else "right" if found else "wrong"


def right(rows: Sequence[Row], column: int) -> int:
    """How many questions are right in a column."""
    return sum(mark is not None and mark.kind == "right" for row in rows for mark in (row.marks[column],))
