"""What a load must keep: how an objective is written, and whether a sample keeps it, breaks it or leaves it open. Pure.

Written as a name and a limit, `ttft_p95` and `"2s"`, or `error_share` and `"1%"`. A quantile is over all trials, and a
trial that did not succeed lies beyond every limit. It is judged by counting: of n trials the number within the limit is
binomial, so the q-quantile is clearly within it when that number is at least the upper rank of the quantile's 95 %
order-statistic interval, clearly over it when it is below the lower rank (`loadrig.stats`). A share of errors is
clearly kept when Wilson's 95 % interval lies at or below the limit, clearly broken when it lies above.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Literal

from loadrig.stats import ranks, wilson
from loadrig.words.errors import InputError
from loadrig.words.settings import Objective

Verdict = Literal["kept", "broken", "undecided"]

MEASURES = {"ttft": "ttft", "ttfat": "ttfat", "latency": "service", "scheduled": "scheduled", "tpot": "tpot"}
ERRORS = "error_share"
EXAMPLE = 'such as ttft_p95 = "2s", latency_p99 = "800ms", error_share = "1%"'
_UNITS_NS = {"ms": 1e6, "s": 1e9, "m": 60e9}
_MOST = 20_000  # trials: no objective is judged by more


def objective(name: str, limit: object) -> Objective:
    """The objective as a plan has it: `limit` a duration or share in words, or a number of seconds or share of 1.
    Raises `InputError`."""
    if name == ERRORS:
        return Objective(name=name, measure="errors", q=None, limit=_share(name, limit))
    found = re.fullmatch(r"([a-z]+)_p(\d{2})", name)
    if found is None or found[1] not in MEASURES or found[2] == "00":
        names = ", ".join(f"{one}_p95" for one in MEASURES)
        raise InputError(f"unknown objective {name!r}", remedy=f"one of {names}, with any quantile, or {ERRORS}")
    return Objective(name=name, measure=MEASURES[found[1]], q=int(found[2]) / 100, limit=_duration_ns(name, limit))


def written(text: str) -> Objective:
    """An objective in one piece, `ttft_p95<2s`. Raises `InputError`."""
    name, sign, limit = text.partition("<")
    if not sign:
        raise InputError(f"--objective {text!r} has no <", remedy='such as --objective "ttft_p95<2s"')
    return objective(name.strip(), limit.removeprefix("=").strip())


def of_quantile(q: float, within: int, n: int) -> Verdict:
    """`within` of `n` trials succeeded within the limit."""
    if n == 0:
        return "undecided"
    low, high = ranks(q, n)
    return "kept" if high <= n and within >= high else "broken" if within < low else "undecided"


def of_share(limit: float, k: int, n: int) -> Verdict:
    """`k` of `n` trials failed."""
    found = wilson(k, n)
    if found is None:
        return "undecided"
    return "kept" if found.high <= limit else "broken" if found.low > limit else "undecided"


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several objectives: one that is broken breaks the load, one that is open leaves it open."""
    found = set(verdicts)
    return "broken" if "broken" in found else "undecided" if "undecided" in found or not found else "kept"


def enough(objectives: Iterable[Objective]) -> int:
    """Trials with which a load that violates none of the objectives is clearly within all of them: 72 for a p95, 381
    for an error share of 1 %."""
    return max((_enough(one) for one in objectives), default=0)


def _enough(one: Objective) -> int:
    low, high = 1, _MOST
    while low < high:
        n = (low + high) // 2
        clean = of_share(one.limit, 0, n) if one.q is None else of_quantile(one.q, n, n)
        low, high = (low, n) if clean == "kept" else (n + 1, high)
    return high


def _duration_ns(name: str, limit: object) -> float:
    number, unit = _number(limit)
    if number is None or unit not in ("", *_UNITS_NS) or not 0 < number < math.inf:
        raise InputError(f"{name}: {limit!r} is no duration", remedy=EXAMPLE)
    return number * _UNITS_NS.get(unit, 1e9)


def _share(name: str, limit: object) -> float:
    number, unit = _number(limit)
    value = number if number is None or unit != "%" else number / 100
    if value is None or unit not in ("", "%") or not 0 < value < 1:
        raise InputError(f"{name}: {limit!r} is no share above 0 and below 1", remedy=EXAMPLE)
    return value


def _number(limit: object) -> tuple[float | None, str]:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z%]*)", str(limit).strip())
    return (float(found[1]), found[2]) if found and not isinstance(limit, bool) else (None, "")
