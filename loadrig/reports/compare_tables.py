"""The tables of a comparison. Differences are b - a with 95 % intervals; a value beyond every success is `beyond`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from loadrig.analysis.compare.accuracy import Right
from loadrig.analysis.compare.figures import Figure
from loadrig.analysis.compare.gate import Gate
from loadrig.analysis.compare.marks import Marked
from loadrig.analysis.compare.whole import Comparison, Pair
from loadrig.reports.table import NONE, Table, bound_mark, bound_notes

LABELS = {
    "scheduled": "scheduled", "ttft": "TTFT", "ttfat": "TTFAT", "service": "service", "tokens_in": "prompt tokens",
    "tokens_out": "output tokens", "cost": "cost per question", "failed": "failed", "unanswered": "unanswered",
    "recall": "recall of gold documents",
}  # fmt: skip
TESTED = ("p", "after\nHolm", "word")


def named(pair: Pair) -> str:
    """`rag`, or `k5 -> k10` and `rag (m1 -> m2)` where the sides have other names."""
    arm = pair.arm_b if pair.arm_a == pair.arm_b else f"{pair.arm_a} -> {pair.arm_b}"
    return arm if pair.model_a == pair.model_b else f"{arm} ({pair.model_a} -> {pair.model_b})"


def name_of(one: Right | Marked | Figure) -> str:
    """`service p95 in c8`, `cost per question`, `accuracy on paraphrase`, `stale answers by rule`."""
    if isinstance(one, Right):
        return f"accuracy on {one.category}"
    if isinstance(one, Marked):
        return f"{one.mark} answers by {one.by}"
    kind = {"p50": " p50", "p95": " p95", "question": " of a typical question"}.get(one.kind, "")
    return f"{LABELS[one.name]}{kind}" + (f" in {one.stage}" if one.stage else "")


def told(one: Right | Marked | Figure) -> str:
    """`TTFT p95 in c8: higher, 0.188 to 0.238 s, +0.050 [+0.040, +0.056]`: what was found, with its numbers."""
    if isinstance(one, Right):
        points = _interval(one.difference.value, one.difference.low, one.difference.high, 100, 1)
        return f"{name_of(one)}: {one.word}, {one.right_a}/{one.n} to {one.right_b}/{one.n}, {points} points"
    if isinstance(one, Marked):
        points = _interval(one.difference.value, one.difference.low, one.difference.high, 100, 1)
        return f"{name_of(one)}: {one.word}, {one.marked_a}/{one.n} to {one.marked_b}/{one.n}, {points} points"
    scale, digits = (1e9, 3) if one.unit == "ns" else (1.0, _digits(one))
    a, b, difference, ratio = _difference(one, scale, digits)
    unit = {"ns": " s", "share": ""}.get(one.unit, f" {one.unit}")
    times = "" if ratio == NONE else f", {ratio} times"
    rig = "; client-bound, partly the rig's own" if one.client_bound else ""
    return f"{name_of(one)}: {one.word}, {a} to {b}{unit}, {difference}{times}{rig}"


def gates(gate: Gate | None) -> Table | None:
    """Each check of the gate."""
    if gate is None:
        return None
    words = {True: "passes", False: "FAILS", None: "NOT CHECKED"}
    rows = tuple((check.arm, check.rule, words[check.passed], check.said) for check in gate.checks)
    return Table(f"Gate: {'passed' if gate.passed else 'FAILED'}", ("arm", "rule", "verdict", "found"), rows)


def settings(comparison: Comparison) -> Table | None:
    """What differs between the sides, counted or not; None when nothing does."""
    rows = [
        (one.what, one.a, one.b, "yes" if counted else "no")
        for pair in comparison.pairs
        for counted, found in ((True, pair.settings.counted), (False, pair.settings.beside))
        for one in found
    ]
    notes = ("counted: what a comparison is made to vary; seeds, machines and libraries are named only",)
    return Table("What differs", ("setting", "a", "b", "counted"), tuple(dict.fromkeys(rows)), notes) if rows else None


def accuracies(comparison: Comparison) -> Table | None:
    """Accuracy over all questions, a pair a row."""
    rows = tuple((named(pair), *_right(pair.accuracy)) for pair in comparison.pairs if pair.accuracy is not None)
    notes = (
        "right of the questions graded on both sides, by the first answer to each; exact McNemar, Holm over the arms",
        "points: b - a; in brackets the 95 % interval, drawn over questions",
        "all repetitions: the same of the means over all repetitions of a question",
        "seen: smallest difference that n questions show in four of five cases, all that differ going one way",
    )
    headers = ("arm", "n", "a", "b", "points", "all repetitions", "seen", *TESTED)
    return Table("Accuracy", headers, rows, notes) if rows else None


def categories(comparison: Comparison) -> Table | None:
    """Accuracy by category, Holm over all categories of all pairs."""
    found = [(pair, row) for pair in comparison.pairs for row in pair.categories]
    rows = tuple((_lead(comparison, pair, row.category), *_right(row)) for pair, row in found)
    headers = ("category", "n", "a", "b", "points", "all repetitions", "seen", *TESTED)
    return Table("Accuracy by category", headers, rows) if rows else None


def marked(comparison: Comparison) -> Table | None:
    """Stale and invented answers, Holm over both marks of all pairs; None when nothing was judged for either."""
    found = [(pair, row) for pair in comparison.pairs for row in pair.marks]
    rows = tuple((_lead(comparison, pair, row.mark), row.by, *_marked(row)) for pair, row in found)
    notes = (
        "questions whose first answer has the mark, of those judged for it on both sides; exact McNemar",
        "by rule: the pre-check's marks, no grade; what was not answered has no mark",
    )
    headers = ("mark", "by", "n", "a", "b", "points", "seen", *TESTED)
    return Table("Stale and invented answers", headers, rows, notes) if rows else None


def differing(comparison: Comparison) -> Table | None:
    """The questions that only one side got right, and those that only one side answered with a mark."""
    rows = [
        (named(pair), one.question, one.a, one.b)
        for pair in comparison.pairs if pair.accuracy is not None
        for one in (*pair.accuracy.lost, *pair.accuracy.won)
    ]  # fmt: skip
    for pair in comparison.pairs:
        for row in pair.marks:
            rows += [(named(pair), question, row.mark, f"not {row.mark}") for question in row.went]
            rows += [(named(pair), question, f"not {row.mark}", row.mark) for question in row.came]
    return Table("Questions that differ", ("arm", "question", "a", "b"), tuple(rows)) if rows else None


def times(comparison: Comparison) -> Table | None:
    """Quantiles and shifts of times, in seconds."""
    found = [(pair, one) for pair in comparison.pairs for one in pair.figures if one.unit == "ns"]
    rows = tuple(
        (
            _lead(comparison, pair, f"{name_of(one)}{bound_mark(one.client_bound)}"), f"{one.ok_a}/{one.n_a}",
            f"{one.ok_b}/{one.n_b}", *_difference(one, 1e9, 3)[:3], *_tested(one),
        )
        for pair, one in found
    )  # fmt: skip
    notes = (
        "seconds; trials that did not succeed rank beyond every success; ok: successes of timed trials",
        "typical question: median over questions of the difference of their own medians; Wilcoxon's test",
        "p50, p95: over all trials; the test swaps the sides of whole questions",
        *bound_notes(*(one.client_bound for _, one in found)),
    )
    headers = ("time", "ok a", "ok b", "a", "b", "b - a", *TESTED)
    return Table("Times", headers, rows, notes) if rows else None


def figures(comparison: Comparison) -> Table | None:
    """Tokens, money, failures, recall."""
    rows = tuple(
        (_lead(comparison, pair, _unit(one)), *_difference(one, 1, _digits(one)), *_tested(one))
        for pair in comparison.pairs for one in pair.figures if one.unit != "ns"
    )  # fmt: skip
    notes = ("means over the questions asked on both sides, all stages together; b / a with its 95 % interval",)
    return Table("Tokens, money, failures", ("figure", "a", "b", "b - a", "b / a", *TESTED), rows, notes)


def _lead(comparison: Comparison, pair: Pair, text: str) -> str:
    """The first cell: with the arm's name where several are compared."""
    return text if len(comparison.pairs) == 1 else f"{named(pair)}: {text}"


def _right(row: Right) -> tuple[str, ...]:
    again = NONE if row.repeated is None else _interval(row.repeated.value, row.repeated.low, row.repeated.high, 100, 1)
    seen = NONE if row.detectable is None else f"{math.ceil(1000 * row.detectable) / 10:.1f}"
    points = _interval(row.difference.value, row.difference.low, row.difference.high, 100, 1)
    tested = (_p(row.p), _p(row.adjusted_p), row.word)
    return (str(row.n), f"{row.right_a}/{row.n}", f"{row.right_b}/{row.n}", points, again, seen, *tested)


def _marked(row: Marked) -> tuple[str, ...]:
    seen = NONE if row.detectable is None else f"{math.ceil(1000 * row.detectable) / 10:.1f}"
    points = _interval(row.difference.value, row.difference.low, row.difference.high, 100, 1)
    tested = (_p(row.p), _p(row.adjusted_p), row.word)
    return (str(row.n), f"{row.marked_a}/{row.n}", f"{row.marked_b}/{row.n}", points, seen, *tested)


def _difference(one: Figure, scale: float, digits: int) -> tuple[str, str, str, str]:
    found = one.difference
    if found is None:
        return NONE, NONE, "not compared", NONE
    a, b = (_number(value / scale, digits) for value in (found.a, found.b))
    ratio = NONE if one.ratio is None else _interval(one.ratio.value, one.ratio.low, one.ratio.high, 1, 2, sign=False)
    return a, b, _interval(found.value, found.low, found.high, 1 / scale, digits), ratio


def _tested(one: Figure) -> Sequence[str]:
    return (NONE,) * 3 if one.difference is None else (_p(one.difference.p), _p(one.adjusted_p), one.word)


def _interval(
    value: float, low: float | None, high: float | None, scale: float, digits: int, *, sign: bool = True
) -> str:
    alone = _number(scale * value, digits, sign=sign)
    if low is None or high is None or low == high == value:  # where nothing varies nothing is known of the width
        return alone
    return f"{alone} [{', '.join(_number(scale * end, digits, sign=sign) for end in (low, high))}]"


def _number(value: float, digits: int, *, sign: bool = False) -> str:
    if not math.isfinite(value):
        return "beyond" if value > 0 else "-beyond"
    return f"{value:+,.{digits}f}" if sign else f"{value:,.{digits}f}"


def _unit(one: Figure) -> str:
    return name_of(one) if one.unit == "tokens" else f"{name_of(one)}, {one.unit}"


def _digits(one: Figure) -> int:
    return {"tokens": 1, "share": 3}.get(one.unit, 6)


def _p(value: float) -> str:
    return "1" if value >= 0.9995 else f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"
