"""Tables of routing: what went which way, beside one way for all, stuffed beside retrieved, how sure replies were."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.routes import Beside, Premium, is_sent
from loadrig.analysis.summary import Summary
from loadrig.context import COST_RATIO_ALERT
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, Table, amount, fraction, label, percent, several, share
from loadrig.stats import Share


def tables(summary: Summary) -> Iterator[Table]:
    """Those that have something to tell; a run of no router has at most the premium of stuffing, over the alert."""
    found = (ways(summary), beside(summary), _premiums(summary), _reliability(summary), _bins(summary))
    yield from (table for table in found if table is not None)


def ways(summary: Summary, *, full: bool = True) -> Table | None:
    """What went which way; in full with intervals, service times and why. None where no arm sends questions different
    ways."""
    rows = []
    for one in summary.routing.ways:
        cells = [
            label(one.arm, one.model, models_of(summary)),
            one.way,
            f"{one.n} of {one.of}",
            percent(one.n / one.of),
        ]
        cells += [share(one.right) if full else _count(one.right), several(one.ttfat.p50, one.ttfat.p95)]
        cells += [several(one.service.p50, one.service.p95)] if full else []
        cells += [amount(one.cost.per_asked)]
        cells += ["; ".join(f"{note} {n}" for note, n in one.notes.items()) or NONE] if full else []
        rows.append(tuple(cells))
    headers = (
        "arm", "way", "trials", "share", "right", "TTFAT s\np50/p95", *(("service s\np50/p95",) if full else ()),
        f"{summary.currency or 'cost'}\n/asked", *(("why, if not plain",) if full else ()),
    )  # fmt: skip
    notes = [
        "trials: asked, all repetitions; right: of the questions that first went it; cost: with the classifier's turn "
        "and every turn before the last",
        "ways got different questions: they compare routes no more than the questions that took them",
    ]
    return Table("Routes", headers, tuple(rows), tuple(notes if full else notes[1:])) if rows else None


def _count(of: Share | None) -> str:
    return NONE if of is None else f"{of.k}/{of.n}"


def beside(summary: Summary) -> Table | None:
    """Each router beside each arm that treats all questions alike; None where there is nothing to hold it against."""
    rows = tuple(_beside(one, summary) for one in summary.routing.beside)
    headers = ("arm", "beside", "n", "right", "other", "points", "reached", "n", "cost, of\nthe other's")
    notes = (
        "over the questions that both were asked, each by its first trial; in brackets bootstrap intervals (95 %), "
        "none where the two agree on every question",
        "reached: the points are at most one below, whatever their interval; cost: of those whose cost is known in "
        "both; what was primed or built beforehand is in neither",
    )
    return Table("Routers beside one way for all", headers, rows, notes) if rows else None


def _beside(one: Beside, summary: Summary) -> tuple[str, ...]:
    reached = NONE if one.reached is None else "yes" if one.reached else "no"
    return (
        label(one.arm, one.model, models_of(summary)), one.against, str(one.n),
        fraction(one.right), fraction(one.right_against), _points(one), reached, str(one.cost_n), _cost(one),
    )  # fmt: skip


def _points(one: Beside) -> str:
    return NONE if one.difference is None else f"{100 * one.difference:+.1f}{_ends(one.low, one.high, '+.1f')}"


def _cost(one: Beside) -> str:
    return NONE if one.cost is None else f"{100 * one.cost:.0f} %{_ends(one.cost_low, one.cost_high, '.0f')}"


def _ends(low: float | None, high: float | None, form: str) -> str:
    """An interval of shares, in hundredths; nothing where the sample is too small to give it."""
    return "" if low is None or high is None else f" [{100 * low:{form}}, {100 * high:{form}}]"


def _premiums(summary: Summary) -> Table | None:
    has_router = any(is_sent(one.way) for one in summary.routing.ways)
    shown = [one for one in summary.routing.premiums if has_router or one.alert]
    rows = tuple(_premium(one, summary) for one in shown)
    headers = ("stuffed", "retrieved", "n", f"{summary.currency or 'cost'}\nstuffed", "retrieved", "ratio", "alert")
    notes = (
        f"means a question; the same questions where n is one number; alert: over {COST_RATIO_ALERT:g} times",
    )  # fmt: skip
    return Table("What stuffing costs beside retrieving", headers, rows, notes) if rows else None


def _premium(one: Premium, summary: Summary) -> tuple[str, ...]:
    n = str(one.n_stuffed) if one.paired else f"{one.n_stuffed} and {one.n_retrieved}"
    stuffed = label(one.stuffed, one.model, models_of(summary))
    means = (amount(f"{one.mean_stuffed:.12f}"), amount(f"{one.mean_retrieved:.12f}"))
    return stuffed, one.retrieved, n, *means, f"{one.ratio:.1f}", "yes" if one.alert else "no"


def _reliability(summary: Summary) -> Table | None:
    rows = tuple(
        (
            label(one.arm, one.model, models_of(summary)), str(one.n), str(one.without), fraction(one.confidence),
            fraction(one.right), fraction(one.brier), fraction(one.ece), f"{one.kept[0]}/{one.kept[1]}",
            f"{one.sent_on[0]}/{one.sent_on[1]}",
        )
        for one in summary.routing.reliability
    )  # fmt: skip
    headers = (
        "arm", "n", "without", "mean\nconfidence", "right", "Brier", "ECE", "right of\nkept",
        "right of\nsent on",
    )  # fmt: skip
    notes = (
        "of first answers, by pre-check, to questions that the control did not know; without: trials in which no "
        "confidence was asked for or given",
        "Brier: mean of (confidence - right) squared; ECE: mean over ten bins, weighed by size, of the distance "
        "between share right and confidence; 0 is best of both",
        "right of sent on: first answers that were right and cost a second one all the same",
    )
    return Table("How sure, and how right", headers, rows, notes) if rows else None


def _bins(summary: Summary) -> Table | None:
    rows = tuple(
        (
            label(one.arm, one.model, models_of(summary)), f"{of.low:.1f} to {of.high:.1f}", str(of.n),
            fraction(of.confidence), fraction(of.right),
        )
        for one in summary.routing.reliability for of in one.bins
    )  # fmt: skip
    headers = ("arm", "confidence", "n", "mean", "right")
    return Table("Confidence against being right", headers, rows, ("a lower end belongs to its bin",)) if rows else None
