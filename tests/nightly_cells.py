"""Cells and runs of a nightly report by hand: every number is set by the test that checks it."""

from __future__ import annotations

from typing import Any

import msgspec

from loadrig.analysis.nightly.digest import Cell, Line, Part, RunNights, Sum
from loadrig.analysis.nightly.kinds import Kind

KIND = Kind(False, "USD", "corpus c 1234", "questions q.jsonl", "[]")
MILLION = 1_000_000


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def part(n: int, *, sent: int = 0, output: int = 0, money: str = "0", tariff: str = "m") -> Part:
    """`n` trials that used so many tokens in all."""
    return Part(n, {tariff: (sent, 0, 0, 0, output)} if n else {}, money)


def cell(arm: str = "rag", **given: Any) -> Cell:
    """Ten answered trials of one question each, which cost nothing; `given` overrides."""
    fields: dict[str, Any] = {
        "day": "2026-11-20", "model": "m", "category": "fact", "route": None, "asked": 10, "answered": 10, "failed": 0,
        "keyed": 10, "checked": 10, "correct": 10, "money": Sum(), "told": 10, "tokens": 1000, "sound": Part(),
        "broken": Part(), "each": raw([]), "ttft": raw([]),
    }  # fmt: skip
    return Cell(**{"arm": arm, **fields, **given})


def night_run(day: str, *cells: Cell, **given: Any) -> RunNights:
    """A complete run that began at four in the morning (UTC) of a day."""
    fields: dict[str, Any] = {
        "run": f"night-{day}", "kind": KIND, "night": day, "began_at": f"{day}T04:00:00Z", "status": "complete",
        "cut_short": False, "over_budget": 0, "not_run": 0, "client_bound": False, "options": {},
        "arms": tuple(dict.fromkeys(one.arm for one in cells)),
        "tariffs": {}, "cells": cells, "billed": (),
        "lines": tuple(Line(one.day, "measured", one.money) for one in cells),
    }  # fmt: skip
    return RunNights(**{**fields, **given})


def dear(day: str, cost: str, *, asked: int = 10, **given: Any) -> RunNights:
    """A night whose ten questions cost so much each: one token a millionth of it."""
    each = Sum(f"{asked * float(cost):.6f}", asked)
    used = part(asked, sent=asked * MILLION, money=each.amount)
    return night_run(
        day, cell(day=day, asked=asked, money=each, sound=used), tariffs={"m": (cost, "0", "0", "0", "0")}, **given
    )
