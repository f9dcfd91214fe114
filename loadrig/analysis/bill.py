"""The bill of a run and the cost of a question, in exact decimals.

Every HTTP attempt is charged on exactly one line, so the lines sum to the total: `superseded` (tries that were asked
again), `warmup`, `failed` (all attempts of trials that failed), `retries` (attempts followed by another of the same
turn), `classifier` (turns that asked of which kind a question is), `tail`, `measured`; of calls before the first trial
`priming` (of a cache), `summaries` and `probe`; `judge` (all that model judges of this run were asked). A question's
cost is that of its trial: measured + tail + classifier + retries + failed.

A charge is unknown when usage came but no price is known, or when a 200 reply or a whole trial ended without telling
its usage, or when a request was sent whole and no status came; the sum is then partial. An attempt that was refused
with a status, or never sent whole, costs nothing. A reply that broke off costs at least what it had reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, get_args

from loadrig.cost import is_free, is_open, total
from loadrig.graders.cases import judge_runs
from loadrig.log import RunFolder
from loadrig.words.record import Attempt, Purpose, Record, Usage

LineName = Literal[
    "measured", "tail", "classifier", "warmup", "retries", "failed", "superseded", "probe", "priming", "summaries",
    "judge",
]  # fmt: skip


_LINES: Mapping[Purpose, LineName] = MappingProxyType({"prime": "priming", "summarise": "summaries"})


@dataclass(frozen=True, slots=True)
class Charge:
    """One attempt on the bill; `amount` None: unknown. `usage`: the tokens it is for, as far as they were told."""

    line: LineName
    amount: Decimal | None
    at_least: bool
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Money:
    """A sum: `amount` is a plain decimal string of what is known, None when nothing of it is.

    `unknown` charges are not in it (the sum is partial); `at_least`: one in it may be higher.
    """

    amount: str | None
    currency: str | None
    at_least: bool
    unknown: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the bill."""

    name: LineName
    money: Money


@dataclass(frozen=True, slots=True)
class Bill:
    """All money of a run; the lines sum to the total."""

    lines: tuple[Line, ...]
    total: Money


@dataclass(frozen=True, slots=True)
class PerQuestion:
    """Money of `asked` trials and its quotients: total / asked, / answered, / correct (12 digits).

    None when the divisor is 0 or nothing is known; `correct` counts pre-check passes, None when nothing was checked.
    """

    total: Money
    asked: int
    answered: int
    correct: int | None
    per_asked: str | None
    per_answered: str | None
    per_correct: str | None


def charges(record: Record, *, superseded: bool = False) -> Iterator[Charge]:
    """The charges of one record."""
    if record.outcome == "not_run":
        return
    attempts = [(attempt, place == len(turn.attempts), turn.purpose) for turn in record.turns
                for place, attempt in enumerate(turn.attempts, start=1)]  # fmt: skip
    found = [
        _charge(attempt, _line(record, superseded=superseded, last=last, purpose=purpose))
        for attempt, last, purpose in attempts
    ]
    yield from found
    if record.cost is None and all(charge.amount is not None for charge in found):
        yield Charge(_line(record, superseded=superseded, last=True), None, at_least=False)
    elif not attempts and record.cost is not None:
        line = _line(record, superseded=superseded, last=True)
        yield Charge(line, Decimal(record.cost), _open(record.usage), record.usage)


def money(found: Iterable[Charge], currency: str | None) -> Money:
    """The sum of charges; of none at all: 0."""
    found = list(found)
    known = [charge.amount for charge in found if charge.amount is not None]
    unknown = len(found) - len(known)
    at_least = any(charge.at_least for charge in found)
    return Money(None if found and not known else plain(total(known)), currency, at_least, unknown)


def bill(run: RunFolder) -> Bill:
    """The whole bill of a run."""
    found, currency = [charge for _, charge in every_charge(run)], currency_of(run)
    lines = tuple(
        Line(name, money((c for c in found if c.line == name), currency)) for name in get_args(LineName)
    )  # fmt: skip
    return Bill(lines, money(found, currency))


def every_charge(run: RunFolder) -> Iterator[tuple[Record, Charge]]:
    """All that is on the bill of a run, each charge on its line and beside the record it belongs to."""
    for record, line, superseded in every_record(run):
        for charge in charges(record, superseded=superseded):
            yield record, charge if line is None else replace(charge, line=line)


def every_record(run: RunFolder) -> Iterator[tuple[Record, LineName | None, bool]]:
    """Each record with something on the bill: the one line it is on, or None where its attempts are on several; and
    whether it is superseded."""
    yield from ((record, None, False) for record in run.records)
    yield from ((record, "superseded", True) for record in run.superseded)
    yield from ((record, _beforehand(record), False) for record in run.probes)
    judging = (record for judge in judge_runs(run.path) for record in (*judge.records, *judge.superseded))
    yield from ((record, "judge", False) for record in judging)


def per_question(records: Iterable[Record], currency: str | None, *, correct: int | None) -> PerQuestion:
    """Cost per question of asked records, `correct` of which passed."""
    records = list(records)
    spent = money((charge for record in records for charge in charges(record)), currency)
    answered = sum(record.outcome == "answered" for record in records)

    def each(divisor: int | None) -> str | None:
        if not divisor or spent.amount is None:
            return None
        return plain(round(Decimal(spent.amount) / divisor, 12).normalize())

    return PerQuestion(
        spent, len(records), answered, correct, each(len(records)), each(answered), each(correct)
    )  # fmt: skip


def currency_of(run: RunFolder) -> str | None:
    """The run's currency: the manifest's, else the first record's."""
    named = run.manifest.get("currency")
    return str(named) if named else next((record.currency for record in run.records if record.currency), None)


def plain(amount: Decimal) -> str:
    """Plain decimal notation, never an exponent: 0.00000625."""
    return format(amount, "f")


def _charge(attempt: Attempt, line: LineName) -> Charge:
    if attempt.cost is not None:
        return Charge(line, Decimal(attempt.cost), _open(attempt.usage), attempt.usage)
    if attempt.usage is None and is_free(attempt):
        return Charge(line, Decimal(0), at_least=False)
    return Charge(line, None, at_least=False, usage=attempt.usage)


def _beforehand(record: Record) -> LineName:
    """What a call before the first trial was for."""
    purpose = record.turns[-1].purpose if record.turns else "answer"
    return _LINES.get(purpose, "probe")


def _open(usage: Usage | None) -> bool:
    return usage is not None and is_open(usage)


def _line(record: Record, *, superseded: bool, last: bool, purpose: Purpose = "answer") -> LineName:
    if superseded:
        return "superseded"
    if record.phase == "warmup":
        return "warmup"
    if record.outcome == "failed":
        return "failed"
    if not last:
        return "retries"
    return "classifier" if purpose == "classify" else record.phase
