"""A run in sums: all that a nightly report needs of it, exact, so that no record has to be read twice.

- A cell is what the asked trials (measured and tail) of one local day, arm, model, category and route came to.
- `Part`: of a cell the trials that failed, or those that did not: tokens by tariff. A tariff is the rates that the
  manifest has on file for a model, at one prompt size and for one way of being served. A cost that a tariff does not
  reproduce to the last digit is `rest`: then what prices did cannot be told from what tokens did.
- `lines`: every charge of the run by local day and line of the bill; cells are the lines of `QUESTIONS`.
- `billed`: the same charges by UTC day and the model that replied, the way a provider adds them up.
- `each` and `ttft` are per question and per trial, kept encoded: only the nights that are looked at closely want them.

A trial's local day is that of the instant it began; one without (it was lost before it was recorded) has the day
`unknown`. Correct is by the pre-check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal

import msgspec

from loadrig.analysis.accuracy import prechecked
from loadrig.analysis.bill import Charge, LineName, charges, every_charge, every_record, plain
from loadrig.analysis.load import stage_loads
from loadrig.analysis.nightly.kinds import Kind, kind_of
from loadrig.analysis.nightly.tariffs import NO_TOKENS, Tokens, counted, fits, tariff_of
from loadrig.analysis.selection import arm_names, asked, grouped, timed
from loadrig.cost import prompt_tokens, total
from loadrig.log import RunFolder
from loadrig.words.record import Record

UNKNOWN = "unknown"
QUESTIONS: tuple[LineName, ...] = ("measured", "tail", "classifier", "retries", "failed")
Key = tuple[str, str, str, str, str | None]
Each = tuple[str, int, int, int, float]  # question, asked, answered, correct, known cost


class Sum(msgspec.Struct, frozen=True):
    """Money of several charges: `known` of them are in `amount`, `unknown` are not; `at_least`: one may be higher."""

    amount: str = "0"
    known: int = 0
    unknown: int = 0
    at_least: bool = False


class Part(msgspec.Struct, frozen=True):
    """`n` trials, their tokens (input, 5-minute write, 1-hour write, read, output) by tariff, all their known `money`,
    and the `rest` of it, which no tariff reproduces."""

    n: int = 0
    tokens: dict[str, Tokens] = {}
    money: str = "0"
    rest: str = "0"


class Cell(msgspec.Struct, frozen=True):
    """Asked trials of one day, arm, model, category and route. `keyed`: those whose question says what an answer must
    contain; `checked` of them were answered and looked at. `told` trials that did not fail told `tokens` in all."""

    day: str
    arm: str
    model: str
    category: str
    route: str | None
    asked: int
    answered: int
    failed: int
    keyed: int
    checked: int
    correct: int
    money: Sum
    told: int
    tokens: int
    sound: Part
    broken: Part
    each: msgspec.Raw
    ttft: msgspec.Raw


class Line(msgspec.Struct, frozen=True):
    """One line of the bill on one local day."""

    day: str
    name: LineName
    money: Sum


class Billed(msgspec.Struct, frozen=True):
    """What one model, as it named itself, was used for on one UTC day, whoever asked and why."""

    day: str
    model: str
    tokens: Tokens
    money: Sum


class RunNights(msgspec.Struct, frozen=True):
    """A run. `night`: the local day on which it began. `over_budget`: trials that a budget left out."""

    run: str
    kind: Kind
    night: str
    began_at: str
    status: str
    cut_short: bool
    over_budget: int
    not_run: int
    client_bound: bool | None
    arms: tuple[str, ...]
    options: dict[str, str]
    tariffs: dict[str, tuple[str, ...]]
    cells: tuple[Cell, ...]
    lines: tuple[Line, ...]
    billed: tuple[Billed, ...]


def local_day(began_at: str | None, zone: tzinfo) -> str:
    """ISO date of the wall time `began_at` (ISO, with offset) in `zone`."""
    return UNKNOWN if began_at is None else datetime.fromisoformat(began_at).astimezone(zone).date().isoformat()


def digest(run: RunFolder, zone: tzinfo) -> RunNights:
    """The run's sums, with days of `zone`."""
    manifest, tariffs = run.manifest, dict[str, tuple[str, ...]]()
    began = str(manifest.get("began_at") or min((r.began_at for r in run.records if r.began_at), default=""))
    kept_back = [record.reason for record in run.records if record.outcome == "not_run"]
    bound = {stage.client_bound for stage in stage_loads(run)} if asked(run) else set()
    return RunNights(
        run=run.path.name,
        kind=kind_of(run),
        night=local_day(began or None, zone),
        began_at=began,
        status=str(manifest.get("status")),
        cut_short=manifest.get("cut_short_after_s") is not None and manifest.get("status") != "complete",  # resumed
        over_budget=kept_back.count("budget"),
        not_run=len(kept_back),
        client_bound=True if True in bound else None if None in bound or not bound else False,
        arms=tuple(arm_names(run)),
        options={
            str(arm.get("name")): msgspec.json.encode(arm).decode()
            for arm in (manifest.get("plan") or {}).get("arms") or []
        },
        cells=tuple(_cells(run, zone, tariffs)),
        tariffs=tariffs,
        lines=tuple(_lines(run, zone)),
        billed=tuple(_billed(run)),
    )


def summed(found: Iterable[Charge]) -> Sum:
    """The charges' money, exactly."""
    found = list(found)
    known = [charge.amount for charge in found if charge.amount is not None]
    if not all(amount.is_finite() for amount in known):
        raise ValueError("a cost that is no number")
    return Sum(
        plain(total(known)), len(known), len(found) - len(known), any(charge.at_least for charge in found)
    )  # fmt: skip


def _cells(run: RunFolder, zone: tzinfo, tariffs: dict[str, tuple[str, ...]]) -> Iterator[Cell]:
    groups = grouped((_key(record, zone), record) for record in asked(run))
    in_time = {(record.trial, record.try_no) for record in timed(run)}
    order = {arm: place for place, arm in enumerate(arm_names(run))}
    for key, found in sorted(groups.items(), key=lambda of: (of[0][0], order[of[0][1]], of[0][2:4], of[0][4] or "")):
        keyed = [r for r in found if (q := run.questions.get(r.question)) is not None and q.must_contain]
        verdicts = [passed for record in keyed if (passed := prechecked(run, record)) is not None]
        told = [r.usage for r in found if r.outcome != "failed" and r.usage is not None and r.usage.input is not None]
        firsts = [r.trial_ttft_ns for r in found if (r.trial, r.try_no) in in_time and r.outcome != "failed"]
        yield Cell(
            *key,
            asked=len(found),
            answered=sum(record.outcome == "answered" for record in found),
            failed=sum(record.outcome == "failed" for record in found),
            keyed=len(keyed),
            checked=len(verdicts),
            correct=sum(verdicts),
            money=summed(charge for record in found for charge in charges(record)),
            told=len(told),
            tokens=sum(prompt_tokens(usage) + (usage.output or 0) for usage in told),
            sound=_part(run, [record for record in found if record.outcome != "failed"], tariffs),
            broken=_part(run, [record for record in found if record.outcome == "failed"], tariffs),
            each=msgspec.Raw(msgspec.json.encode(list(_each(run, found)))),
            ttft=msgspec.Raw(msgspec.json.encode(sorted(ns for ns in firsts if ns is not None))),
        )


def _key(record: Record, zone: tzinfo) -> Key:
    return local_day(record.began_at, zone), record.arm, record.model, record.category, record.route


def _each(run: RunFolder, records: Iterable[Record]) -> Iterator[Each]:
    for question, found in sorted(grouped((record.question, record) for record in records).items()):
        spent = total(c.amount for record in found for c in charges(record) if c.amount is not None)
        yield (
            question, len(found), sum(record.outcome == "answered" for record in found),
            sum(bool(prechecked(run, record)) for record in found), float(spent),
        )  # fmt: skip


def _part(run: RunFolder, records: list[Record], tariffs: dict[str, tuple[str, ...]]) -> Part:
    tokens: dict[str, Tokens] = {}
    money, rest = list[Decimal](), list[Decimal]()
    for record in records:
        for charge in charges(record):
            if charge.amount is None:
                continue
            money.append(charge.amount)
            named = None if charge.usage is None else tariff_of(run.manifest, record.model, charge.usage)
            if charge.usage is not None and named is not None and fits(charge.amount, charge.usage, named.rates):
                tariffs[named.name] = named.rates
                before = tokens.get(named.name, NO_TOKENS)
                tokens[named.name] = counted(before, charge.usage)
            else:
                rest.append(charge.amount)
    return Part(len(records), tokens, plain(total(money)), plain(total(rest)))


def _lines(run: RunFolder, zone: tzinfo) -> Iterator[Line]:
    found = grouped(
        ((local_day(record.began_at, zone), charge.line), charge) for record, charge in every_charge(run)
    )  # fmt: skip
    for (day, name), of in sorted(found.items()):
        yield Line(day, name, summed(of))


@dataclass(slots=True)
class _Used:
    tokens: Tokens = NO_TOKENS
    charges: list[Charge] = field(default_factory=list)


def _billed(run: RunFolder) -> Iterator[Billed]:
    found: dict[tuple[str, str], _Used] = {}
    for record, _, superseded in every_record(run):
        named = next((turn.reply_model for turn in reversed(record.turns) if turn.reply_model), record.model)
        for charge in charges(record, superseded=superseded):
            of = found.setdefault((local_day(record.began_at, UTC), named), _Used())
            of.charges.append(charge)
            if charge.usage is not None:
                of.tokens = counted(of.tokens, charge.usage)
    for (day, model), of in sorted(found.items()):
        yield Billed(day, model, of.tokens, summed(of.charges))
