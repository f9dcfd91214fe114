"""How sure replies said they were, held against whether they were right: of every arm that asks for a confidence.

    right  = the answer that the confidence is about passes the pre-check; where a trial went on after it, that is the
             first answer, not the one given in the end
    Brier  = mean of (confidence - right)^2, 0 best, 0.25 that of always saying 0.5      (Brier 1950)
    ECE    = sum over bins of n of bin / n x |share right of bin - mean confidence of bin|, ten bins of equal width
             (Naeini, Cooper, Hauskrecht 2015)

over asked trials whose question has a key and whose confidence is known, questions that the control knew left out.
Repetitions of a question are not independent, so no interval is given. `kept` and `sent_on` tell what the floor did: a
first answer that was right and was sent on has cost a second one for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loadrig.analysis.accuracy import dropped
from loadrig.analysis.selection import asked, by_arm_and_model, grouped
from loadrig.arms.escalate import said_in
from loadrig.graders.automatic import marks
from loadrig.log import RunFolder
from loadrig.words.record import Record

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Confidences from `low` to below `high`, the last bin's end included: `n`, their mean, and the share right."""

    low: float
    high: float
    n: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """`n` trials with a confidence and a key, `without` asked trials that have no confidence. `kept`: of so many first
    answers that were the last so many were right; `sent_on`: likewise of those that were not. Bins without any are
    left out."""

    arm: str
    model: str
    n: int
    without: int
    confidence: float
    right: float
    brier: float
    ece: float
    kept: tuple[int, int]
    sent_on: tuple[int, int]
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Sure:
    """One confidence and what became of it."""

    confidence: float
    right: bool
    kept: bool


def reliability(run: RunFolder) -> tuple[Reliability, ...]:
    """Of every arm and model of which a trial has a confidence."""
    told = {record.arm for record in asked(run) if record.confidence is not None}
    knew = {(drop.question, drop.model) for drop in dropped(run)} if told else set()
    records = [
        ((record.arm, record.model), record)
        for record in asked(run)
        if record.arm in told and (record.question, record.model) not in knew
    ]
    rows = []
    for arm, model, found in by_arm_and_model(run, records):
        known = list(_sure(run, found))
        if known:
            without = sum(record.confidence is None for record in found)
            rows.append(measured(arm, model, known, without))
    return tuple(rows)


def measured(arm: str, model: str, known: list[Sure], without: int = 0) -> Reliability:
    """The figures of at least one confidence."""
    n = len(known)
    bins = tuple(_bin(at, of) for at, of in sorted(grouped((_place(one.confidence), one) for one in known).items()))
    kept, sent = ([one.right for one in known if one.kept is stays] for stays in (True, False))
    return Reliability(
        arm, model, n, without,
        confidence=sum(one.confidence for one in known) / n,
        right=sum(one.right for one in known) / n,
        brier=sum((one.confidence - one.right) ** 2 for one in known) / n,
        ece=sum(of.n / n * abs(of.right - of.confidence) for of in bins),
        kept=(sum(kept), len(kept)), sent_on=(sum(sent), len(sent)), bins=bins,
    )  # fmt: skip


def _bin(at: int, of: list[Sure]) -> Bin:
    n = len(of)
    return Bin(at / BINS, (at + 1) / BINS, n, sum(one.confidence for one in of) / n, sum(one.right for one in of) / n)


def _place(confidence: float) -> int:
    """Which bin; a lower end belongs to its bin, and 1 to the last."""
    return min(BINS - 1, int(confidence * BINS))


def _sure(run: RunFolder, records: list[Record]) -> Iterator[Sure]:
    for record in records:
        question = run.questions.get(record.question)
        if question is None or record.confidence is None:
            continue
        kept = (record.route or "").split(">")[-1] == "rag"
        right = marks(question, record.answer if kept else _first(record)).correct
        if right is not None:
            yield Sure(record.confidence, right, kept)


def _first(record: Record) -> str:
    """The answer that a confidence came with: of the first turn that was to answer."""
    return next((said_in(turn.text).text for turn in record.turns if turn.purpose == "answer"), "")
