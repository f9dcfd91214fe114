"""The bill once more, with the tokens it is for: what was spent by stage, arm, model, category and purpose.

Entries are made of the charges that the bill is made of, so their money and the bill's are the same sum, line by line.
An entry of `questions` holds all that asking them took (`PARTS`: measured, tail, the classifier, retries, what failed)
and how many were asked, answered and passed the pre-check; any other line of the bill is an entry of its own, which
belongs to no question. Tokens are those that replies told, summed; what was not told is in no sum, and `untold` counts
the charges without any.

Knows no rounding. A judge's calls are under the arm and category of its own run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from loadrig.analysis.accuracy import prechecked
from loadrig.analysis.bill import Charge, LineName, Money, charges, currency_of, every_record, money, plain
from loadrig.analysis.selection import arm_names, stage_names
from loadrig.cost import total
from loadrig.log import RunFolder
from loadrig.words.record import Record

Item = Literal["questions", "warmup", "superseded", "probe", "priming", "summaries", "judge"]
PARTS: tuple[LineName, ...] = ("measured", "tail", "classifier", "retries", "failed")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Sums over what was told, None where no reply told the counter; thinking is inside output. `told`: charges with
    some usage; `untold`: without."""

    input: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    cache_read: int | None = None
    output: int | None = None
    thinking: int | None = None
    told: int = 0
    untold: int = 0

    @property
    def prompt(self) -> int | None:
        """Uncached input + cache writes + cache reads, of what was told."""
        return _plus((self.input, self.cache_write_5m, self.cache_write_1h, self.cache_read))


@dataclass(frozen=True, slots=True)
class Entry:
    """What one purpose took. `parts`: of questions, the known money of each of `PARTS`, in that order; of anything else
    empty. `trials`: records; of questions these are `asked`. `correct`: pre-check passes, None: nothing was checked."""

    stage: str
    arm: str
    model: str
    category: str
    item: Item
    money: Money
    parts: tuple[str, ...]
    tokens: Tokens
    trials: int
    asked: int
    answered: int
    correct: int | None


@dataclass(frozen=True, slots=True)
class Spent:
    """One line of the bill, of one arm and model: its money and the tokens it is for."""

    line: LineName
    arm: str
    model: str
    money: Money
    tokens: Tokens


Key = tuple[str, str, str, str, Item]


@dataclass(slots=True)
class _Sum:
    """What an entry has come to so far."""

    charges: list[Charge] = field(default_factory=list)
    verdicts: list[bool] = field(default_factory=list)
    trials: int = 0
    asked: int = 0
    answered: int = 0


def ledger(run: RunFolder) -> tuple[Entry, ...]:
    """Every entry: questions first, then by stage, arm, model and category in the plan's order."""
    sums: dict[Key, _Sum] = {}
    for record, line, superseded in every_record(run):
        if record.outcome == "not_run":
            continue
        key = (record.stage, record.arm, record.model, record.category, _item(record, line))
        of = sums.setdefault(key, _Sum())
        of.charges += charges(record, superseded=superseded)
        of.trials += 1
        if key[-1] == "questions":
            of.asked += 1
            of.answered += record.outcome == "answered"
            if (passed := prechecked(run, record)) is not None:
                of.verdicts.append(passed)
    order = _order(run)
    currency = currency_of(run)
    return tuple(_entry(key, sums[key], currency) for key in sorted(sums, key=order))


def spent(run: RunFolder) -> tuple[Spent, ...]:
    """Every line of the bill by arm and model, arms in the plan's order, lines in the bill's."""
    found: dict[tuple[str, str, LineName], list[Charge]] = {}
    for record, line, superseded in every_record(run):
        for charge in charges(record, superseded=superseded):
            found.setdefault((record.arm, record.model, line or charge.line), []).append(charge)
    arms = {arm: place for place, arm in enumerate(arm_names(run))}
    lines = {name: place for place, name in enumerate(LINES)}
    keys = sorted(found, key=lambda key: (arms.get(key[0], len(arms)), key[0], key[1], lines[key[2]]))
    currency = currency_of(run)
    return tuple(
        Spent(line, arm, model, money(found[arm, model, line], currency), tokens(found[arm, model, line]))
        for arm, model, line in keys
    )


def tokens(found: Iterable[Charge]) -> Tokens:
    """The sum of what was told."""
    usages = [charge.usage for charge in found]
    told = [usage for usage in usages if usage is not None]
    sums = {name: _plus(getattr(usage, name) for usage in told) for name in COUNTERS}
    return Tokens(**sums, told=len(told), untold=len(usages) - len(told))


def summed(found: Iterable[Tokens]) -> Tokens:
    """Several sums as one."""
    found = list(found)
    sums = {name: _plus(getattr(of, name) for of in found) for name in COUNTERS}
    return Tokens(**sums, told=sum(of.told for of in found), untold=sum(of.untold for of in found))


def _plus(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


COUNTERS = ("input", "cache_write_5m", "cache_write_1h", "cache_read", "output", "thinking")
LINES: tuple[LineName, ...] = (*PARTS, "warmup", "superseded", "probe", "priming", "summaries", "judge")
_ITEMS: tuple[Item, ...] = ("questions", "warmup", "superseded", "probe", "priming", "summaries", "judge")


def _item(record: Record, line: LineName | None) -> Item:
    if line is None:
        return "warmup" if record.phase == "warmup" else "questions"
    return next(item for item in _ITEMS if item == line)


def _entry(key: Key, of: _Sum, currency: str | None) -> Entry:
    stage, arm, model, category, item = key
    parts = tuple(_known(of.charges, line) for line in PARTS) if item == "questions" else ()
    return Entry(
        stage=stage,
        arm=arm,
        model=model,
        category=category,
        item=item,
        money=money(of.charges, currency),
        parts=parts,
        tokens=tokens(of.charges),
        trials=of.trials,
        asked=of.asked,
        answered=of.answered,
        correct=sum(of.verdicts) if of.verdicts else None,
    )


def _known(found: Iterable[Charge], line: LineName) -> str:
    return plain(total(charge.amount for charge in found if charge.line == line and charge.amount is not None))


def _order(run: RunFolder) -> Callable[[Key], tuple[int, int, int, str, str, str, str]]:
    stages = {name: place for place, name in enumerate(stage_names(run))}
    arms = {name: place for place, name in enumerate(arm_names(run))}

    def place(key: Key) -> tuple[int, int, int, str, str, str, str]:
        stage, arm, model, category, item = key
        return (
            _ITEMS.index(item), stages.get(stage, len(stages)), arms.get(arm, len(arms)), stage, arm, model, category
        )  # fmt: skip

    return place
