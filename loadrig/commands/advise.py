"""`loadrig advise CORPUS QUESTIONS`: what can be decided before any run. Sends nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import cast, get_args

import msgspec
from rich.console import Console

from loadrig.advice.situation import Changes
from loadrig.advice.trying import plan_of
from loadrig.advice.whole import Asked, advise
from loadrig.config import read_plan
from loadrig.reports.advice import show
from loadrig.words.errors import InputError, described
from loadrig.words.settings import CorpusSettings, Plan, QuestionSettings

MODEL = "claude-haiku-5-5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The command line, as it was written."""

    corpus: str
    questions: str
    slice: str | None = None
    model: str | None = None
    window: int | None = None
    prices: str | None = None
    per_day: float | None = None
    changes: str = "never"
    money_per_month: str | None = None
    mixed_rights: bool = False
    interactive: bool = False
    plan: Path | None = None
    write_plan: Path | None = None


def run(flags: Flags, console: Console, *, json: bool) -> None:
    """Prints the advice, as tables or as one JSON object, and writes the plan that was wished for."""
    asked = _asked(flags)
    if flags.write_plan is not None and flags.write_plan.exists():
        raise InputError("is there already", path=flags.write_plan, remedy="name a file that is not there yet")
    advice = advise(asked)
    if flags.write_plan is not None:
        try:
            flags.write_plan.write_text(plan_of(asked, advice), encoding="utf-8")
        except OSError as error:
            problem = f"cannot be written: {described(error)}"
            raise InputError(problem, path=flags.write_plan, remedy="name a file in a folder that is there") from error
    if json:
        console.file.write(msgspec.json.format(msgspec.json.encode(advice)).decode() + "\n")
    else:
        show(advice, console)


def _asked(flags: Flags) -> Asked:
    if flags.changes not in get_args(Changes):
        raise InputError(f"--changes {flags.changes!r}", remedy=f"one of: {', '.join(get_args(Changes))}")
    plan = None if flags.plan is None else read_plan(flags.plan)
    return Asked(
        corpus=_corpus(flags, plan),
        questions=QuestionSettings(path=flags.questions),
        model=flags.model or (MODEL if plan is None else plan.model[0].id),
        changes=cast("Changes", flags.changes),
        per_day=flags.per_day,
        mixed_rights=flags.mixed_rights,
        interactive=flags.interactive,
        window=flags.window,
        prices=flags.prices or (None if plan is None else plan.prices.path),
        money_per_month=None if flags.money_per_month is None else _money(flags.money_per_month),
        plan=plan,
    )


def _corpus(flags: Flags, plan: Plan | None) -> CorpusSettings:
    """With the passages as the plan cuts them."""
    named = CorpusSettings(path=flags.corpus, slice=flags.slice)
    if plan is None:
        return named
    return replace(named, chunk_tokens=plan.corpus.chunk_tokens, chunk_overlap=plan.corpus.chunk_overlap)


def _money(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount <= 0:
        raise InputError(f"--money-per-month {text!r}", remedy='a decimal above 0, such as "500.00"')
    return amount
