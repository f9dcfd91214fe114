"""Our bill beside the provider's own, by UTC day and model: what each says was used, and the difference.

Two forms are read. CSV with a header: `day,model,input,cache_write,cache_read,output,cost`; day and model are needed,
a column or cell that is missing is not known, and rows of one day and model are added up. JSON: a list of objects with
those names, or what the Anthropic Admin API answers, `{"data": [{"starting_at": ..., "results": [...]}]}` of its usage
report of messages (tokens) or its cost report (`amount`, decimal cents), grouped by model in buckets of one day.

Providers add up by UTC day, whatever zone a plan is in, and by the model that replied; so do we here. Their report is
of all that their key was used for, and hours late: a difference says that somebody else used it, that it is too early,
or that a count or a price is wrong; it does not say which.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec

from loadrig.analysis.bill import plain
from loadrig.analysis.nightly.digest import Billed
from loadrig.cost import total
from loadrig.words.errors import InputError

COUNTS = ("input", "cache_write", "cache_read", "output")
NAMES = ("day", "model", *COUNTS, "cost")
MOST, FINEST = 15, 40  # digits before and after the point: what has more is no sum of money
REMEDY = "a CSV with day,model,input,cache_write,cache_read,output,cost, or the JSON of the provider's report"


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens and money (decimal string) of one day and model; None: not told."""

    input: int | None = None
    cache_write: int | None = None
    cache_read: int | None = None
    output: int | None = None
    cost: str | None = None


@dataclass(frozen=True, slots=True)
class Reconciled:
    """One UTC day and model: what we have on file, what they say, and theirs - ours; None where a side does not tell.
    `unknown`: charges of ours without a known cost, which are not in our sum."""

    day: str
    model: str
    ours: Used
    theirs: Used
    difference: Used
    unknown: int


Row = tuple[str, str, Used]


def read_usage(path: Path) -> tuple[Row, ...]:
    """Day, model and what was used, summed. Raises `InputError` with line and remedy."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"no usage report: {error}", path=path, remedy=f"name {REMEDY}") from error
    found = _of_json(text, path) if text.lstrip()[:1] in ("{", "[") else _of_csv(text, path)
    summed: dict[tuple[str, str], Used] = {}
    try:
        for day, model, used in found:
            summed[day, model] = _plus(summed.get((day, model)), used)
    except csv.Error as error:
        raise InputError(f"not a CSV: {error}", path=path, remedy=f"name {REMEDY}") from error
    if not summed:
        raise InputError("the usage report has no rows", path=path, remedy=f"name {REMEDY}")
    return tuple((day, model, used) for (day, model), used in sorted(summed.items()))


def reconciled(billed: Iterable[Billed], theirs: Iterable[Row]) -> tuple[Reconciled, ...]:
    """Side by side, on the days that the report is of: every row of theirs, and ours on those days."""
    given = {(day, model): used for day, model, used in theirs}
    days = {day for day, _ in given}
    mine: dict[tuple[str, str], list[Billed]] = {}
    for one in billed:
        if one.day in days:
            mine.setdefault((one.day, one.model), []).append(one)
    return tuple(
        _beside(key, mine.get(key, []), given.get(key, Used())) for key in sorted({*given, *mine})
    )  # fmt: skip


def _beside(key: tuple[str, str], mine: list[Billed], theirs: Used) -> Reconciled:
    a, b, c, d, e = (sum(one.tokens[place] for one in mine) for place in range(5))
    known = any(one.money.known for one in mine) or not mine
    ours = Used(a, b + c, d, e, plain(total(Decimal(one.money.amount) for one in mine)) if known else None)
    counts = {name: _minus(getattr(theirs, name), getattr(ours, name)) for name in COUNTS}
    cost = None
    if theirs.cost is not None and ours.cost is not None:
        cost = plain(Decimal(theirs.cost) - Decimal(ours.cost))
    return Reconciled(*key, ours, theirs, Used(**counts, cost=cost), sum(one.money.unknown for one in mine))


def _minus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a - b


def _plus(before: Used | None, more: Used) -> Used:
    """The sum of what was told."""
    if before is None:
        return more
    counts = {
        name: b if a is None else a if b is None else a + b
        for name in COUNTS
        for a, b in [(getattr(before, name), getattr(more, name))]
    }
    costs = [Decimal(cost) for cost in (before.cost, more.cost) if cost is not None]
    return Used(**counts, cost=plain(total(costs)) if costs else None)


def _of_csv(text: str, path: Path) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(text))
    for name in ("day", "model"):
        if name not in (reader.fieldnames or ()):
            raise InputError(f"no column {name!r}", path=path, line=1, remedy=f"name {REMEDY}")
    for name in reader.fieldnames or ():
        if name not in NAMES:
            remedy = f"name the columns {', '.join(NAMES)}"
            raise InputError(f"unknown column {name!r}", path=path, line=1, remedy=remedy)
        if (reader.fieldnames or []).count(name) > 1:
            raise InputError(f"two columns {name!r}", path=path, line=1, remedy="give each column once")
    for values in reader:
        if None in values or any(value is None for value in values.values()):
            raise InputError("not as many cells as the header has", path=path, line=reader.line_num,
                             remedy="give every row each column, empty where it is not known")  # fmt: skip
        yield _row(values, path, reader.line_num)


def _of_json(text: str, path: Path) -> Iterator[Row]:
    try:
        found = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", path=path, remedy=f"name {REMEDY}") from error
    rows = list(_buckets(found["data"])) if isinstance(found, dict) and isinstance(found.get("data"), list) else found
    if not isinstance(rows, list):
        raise InputError("no list of rows, and no 'data'", path=path, remedy=f"name {REMEDY}")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f"row {number} is no object", path=path, remedy=f"name {REMEDY}")
        if row.get("currency", "USD") != "USD":
            raise InputError(f"row {number} is in {row['currency']}", path=path, remedy="ask for a report in USD")
        yield _row(row, path, None, number)


def _buckets(data: list[Any]) -> Iterator[object]:
    """The provider's answer as rows of ours."""
    for bucket in data:
        if not isinstance(bucket, dict) or not isinstance(bucket.get("results"), list):
            yield None
            continue
        for result in bucket["results"]:
            yield {"day": bucket.get("starting_at"), **_result(result)} if isinstance(result, dict) else None


def _result(result: Mapping[str, Any]) -> dict[str, Any]:
    written = result.get("cache_creation")
    counts = list(written.values()) if isinstance(written, dict) else []
    cents, is_tokens = result.get("amount"), "uncached_input_tokens" in result
    try:
        cost = None if cents is None else str(Decimal(str(cents)) / 100)
    except ArithmeticError:
        cost = str(cents)
    return {
        "model": result.get("model"),
        "input": result.get("uncached_input_tokens"),
        "cache_write": sum(n for n in counts if isinstance(n, int)) if is_tokens else None,
        "cache_read": result.get("cache_read_input_tokens"),
        "output": result.get("output_tokens"),
        "cost": cost,
        "currency": result.get("currency") or "USD",
    }


def _row(values: Mapping[str, Any], path: Path, line: int | None, number: int | None = None) -> Row:
    where = "" if number is None else f"row {number}: "

    def wrong(name: str, remedy: str) -> InputError:
        return InputError(f"{where}{name} {values.get(name)!r}"[:160], path=path, line=line, remedy=remedy)

    try:
        day = _day(str(values.get("day")))
    except (ValueError, OverflowError) as error:
        raise wrong("day", "a UTC day such as 2026-10-25") from error
    if not isinstance(values.get("model"), str) or not values["model"].strip():
        raise wrong("model", "the model's name; ask the provider to group its report by model")
    counts: dict[str, int | None] = {}
    for name in COUNTS:
        value = values.get(name)
        if value in (None, ""):
            counts[name] = None
        elif not isinstance(value, bool) and re.fullmatch(r"[0-9]{1,15}", str(value).strip()):
            counts[name] = int(str(value))
        else:
            raise wrong(name, "tokens as a whole number, or nothing where it is not known")
    return day, values["model"].strip(), Used(**counts, cost=_cost(values.get("cost"), wrong))


def _day(text: str) -> str:
    if len(text) == 10:
        return date.fromisoformat(text).isoformat()
    at = datetime.fromisoformat(text)
    return (at if at.tzinfo is None else at.astimezone(UTC)).date().isoformat()


def _cost(value: object, wrong: Any) -> str | None:
    if value in (None, ""):
        return None
    try:
        cost = Decimal(str(value).strip())
    except InvalidOperation as error:
        raise wrong("cost", "a decimal such as 12.34, without a currency's sign") from error
    if not cost.is_finite() or cost.adjusted() >= MOST or -int(cost.as_tuple().exponent) > FINEST:
        raise wrong("cost", "a decimal such as 12.34, without a currency's sign")
    return plain(cost)
