"""Tables of the prompt cache: what was read and written, warm beside cold, and why calls read nothing."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.caching import ArmCaching, Side
from loadrig.analysis.prefixes import LIFETIMES
from loadrig.analysis.summary import Summary
from loadrig.reports.speed import models_of
from loadrig.reports.table import FEW_NOTE, NONE, Table, amount, fraction, label, money, number, several

SILENT = "silent no-cache"


def tables(summary: Summary) -> Iterator[Table]:
    """None where nothing was to be cached."""
    if summary.caching:
        yield usage(summary)
        yield sides(summary)
        if any(one.misses for one in summary.caching):
            yield misses(summary)


def usage(summary: Summary) -> Table:
    """Requests, the share of tokens read, and what was written."""
    rows = tuple(
        (
            _name(summary, one), _lifetime(one), str(one.prefixes),
            f"{one.hits}/{one.told}", fraction(one.hit_share), number(one.read), str(one.writes),
            number(one.written_5m + one.written_1h), f"{one.primed}: {money(one.priming)}" if one.primed else NONE,
            number(one.minimum), number(one.pays_from),
        )
        for one in summary.caching
    )  # fmt: skip
    headers = (
        "arm", "kept\nfor", "prefixes", "requests\nhit/told", "share\nread", "tokens\nread",
        "requests\nthat wrote", "tokens\nwritten", "primed", "least\ntokens", "pays from\nquestions",
    )  # fmt: skip
    return Table("Prompt cache", headers, rows, tuple(_notes(summary)))


def sides(summary: Summary) -> Table:
    """Trials that found their prefix and trials that did not."""
    rows = tuple((_name(summary, one), *_side(one.warm), *_side(one.cold)) for one in summary.caching)
    each = f"{summary.currency or 'cost'}\neach"
    headers = (
        "arm", "warm\nn", "TTFT s\np50/p95", "timed", each, "cold\nn", "TTFT s\np50/p95", "timed", each,
    )  # fmt: skip
    few = (FEW_NOTE,) if any("*" in cell for row in rows for cell in row) else ()
    notes = (
        "warm, cold: the trial's first request that asked for caching read from it, or did not; first tokens of timed "
        "successes, over all stages; each: per question asked",
    )  # fmt: skip
    return Table("Warm and cold", headers, rows, (*notes, *_neither(summary), *few))


def _neither(summary: Summary) -> Iterator[str]:
    for one in summary.caching:
        if one.neither:
            trials = "1 trial is" if one.neither == 1 else f"{one.neither} trials are"
            yield f"{_name(summary, one)}: {trials} neither, for the first request told no counters"


def misses(summary: Summary) -> Table:
    """Why requests read nothing."""
    rows = tuple(
        (_name(summary, one), miss.when, miss.reason, str(miss.n), number(miss.written))
        for one in summary.caching
        for miss in one.misses
    )
    headers = ("arm", "in", "reason", "requests", "tokens written")
    notes = ("in: priming before the run, warm-up (and tries asked again), or the trials; reasons: docs/caching.md",)
    return Table("Requests that read nothing from the cache", headers, rows, notes)


def _notes(summary: Summary) -> Iterator[str]:
    yield (
        "of measured and tail trials; share read: tokens read from the cache / all prompt tokens; primed: calls "
        "before the run and their money, in the bill and in no cost per question, of the first of arms that share a "
        "prefix; least: shorter prefixes are not cached, and nobody is told; pays from: a priming call included "
        "where there was one"
    )
    for one in summary.caching:
        silent = one.told and not one.read and not one.writes
        if silent:
            yield f"{_name(summary, one)}: {SILENT}: nothing was written or read in {one.told} requests"
        if one.primed_warm:
            yield (
                f"{_name(summary, one)}: {one.primed_warm} of {one.primed} priming calls found their prefix kept by an "
                "earlier run: the option cold keeps runs apart"
            )
        if one.told < one.requests:
            yield f"{_name(summary, one)}: {one.requests - one.told} of {one.requests} requests told no counters"


def _side(of: Side) -> tuple[str, ...]:
    spread = of.ttft.successes
    return str(of.n), several(spread.p50, spread.p95), f"{of.ttft.ok}/{of.ttft.n}", amount(of.cost.per_asked)


def _lifetime(one: ArmCaching) -> str:
    return "several" if one.lifetime_s is None else LIFETIMES[one.lifetime_s]


def _name(summary: Summary, one: ArmCaching) -> str:
    return label(one.arm, one.model, models_of(summary))
