"""Advice as tables: what is known, the decision record, the nine factors, costs, mistakes, what nobody knows yet."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from rich.console import Console
from rich.text import Text

from loadrig.advice.costing import ArmCost, Cached
from loadrig.advice.situation import Situation
from loadrig.advice.whole import Advice
from loadrig.reports.table import NONE, Table, amount, number, one_line, percent
from loadrig.reports.terminal import draw

STYLES = {"recommended": "green", "worth a trial": "yellow"}


def show(advice: Advice, console: Console) -> None:
    """Prints the whole advice."""
    best = advice.record[0]
    console.print(Text(one_line(f"Advice for {advice.corpus}: {best.architecture}", 400), style="bold"))
    for condition in best.conditions:
        console.print(Text(f"  with {condition}"))
    console.print()
    for table in tables(advice):
        draw(table, console)
    console.print(Text(f"assumed: {'; '.join(advice.assumed)}", style="dim"))
    for warning in advice.warnings:
        console.print(Text(f"warning: {one_line(warning, 400)}", style="yellow"))


def tables(advice: Advice) -> Iterator[Table]:
    """All tables, in the order in which they are read."""
    yield situation(advice)
    yield record(advice)
    yield factors(advice)
    yield costs(advice)
    yield mistakes(advice)
    rows = tuple((one.what, one.told_by) for one in advice.unknown)
    yield Table("What nobody knows before a run", ("not known", "what tells it: loadrig"), rows, words=True)


def situation(advice: Advice) -> Table:
    """What is known, each with its number."""
    s = advice.situation
    known = (
        ("corpus", f"{s.documents:,} documents, {s.tokens:,} tokens ({advice.estimator})"),
        ("by the model", f"about {advice.tokens_by_model:,} tokens of a window of {s.window:,} ({advice.model})"),
        ("room", f"{s.budget:,} tokens of documents: {'fits' if s.fits else 'does not fit'}"),
        ("rights", "the same for everyone who asks" if s.uniform else _restricted(s)),
        ("changes", s.changes),
        ("volume", "not told" if s.per_day is None else f"{s.per_day:,.0f} questions a day"),
        ("cache pays above", NONE if s.crossover_per_day is None else f"{s.crossover_per_day:,.1f} questions a day"),
        ("questions", f"{s.kinds.n}: {s.kinds}"),
        ("latency", "somebody waits" if s.interactive else "nobody waits, as far as was said"),
    )
    return Table("What is known", ("", "value"), known, words=True)


def record(advice: Advice) -> Table:
    """Each architecture with its verdict and, a row each, what speaks for and against it."""
    rows = []
    for one in advice.record:
        for place, reason in enumerate(one.reasons):
            first = (one.architecture, one.verdict) if not place else ("", "")
            rows.append((*first, f"{'+' if reason.speaks == 'for' else '-'} {reason.said}"))
    notes = ("+ speaks for it, - against it; no reason is about accuracy, which nobody knows before a run",)
    return Table("Decision record", ("architecture", "verdict", "because"), tuple(rows), notes, words=True)


def factors(advice: Advice) -> Table:
    """Nine factors for three architectures."""
    rows = tuple((one.name, one.full_context, one.rag, one.agentic) for one in advice.factors)
    return Table("Nine factors", ("factor", "full context, cached", "rag", "agentic"), rows, words=True)


def costs(advice: Advice) -> Table:
    """Cost of a question by arm; hits and misses where something can be cached."""
    headers = (
        "arm",
        "prompt tokens",
        "kept",
        "no cache",
        "hit",
        "miss 5m",
        "miss 1h",
        "hits 5m",
        "hits 1h",
        "expected",
    )
    notes = [
        f"{advice.currency} a question; prompts of {advice.tried} of {advice.questions} questions were made, none sent",
        "kept: what the arm asks the endpoint to cache; hits: the share that finds it, at the volume told; expected: "
        "the cheapest way at that volume, without one the cost without a cache",
    ]
    if any(cost.too_large for cost in advice.costs):
        notes.append("! more than the model's window takes: it cannot be sent")
    if any(cost.guessed for cost in advice.costs):
        notes.append(
            "~ the arm's own guess: how often a model calls a tool, or what is found, nobody can say beforehand"
        )
    return Table("Cost per question", headers, tuple(map(_cost, advice.costs)), tuple(notes))


def mistakes(advice: Advice) -> Table:
    """Six that are often made."""
    rows = tuple((one.name, one.verdict, one.said) for one in advice.mistakes)
    return Table("Six mistakes", ("mistake", "verdict", "because"), rows, words=True)


def _cost(cost: ArmCost) -> tuple[str, ...]:
    short, long = cost.cached or (None, None)
    return (
        cost.arm,
        ("~" if cost.guessed else "") + number(cost.prompt_tokens) + ("!" if cost.too_large else ""),
        number(cost.static_tokens) if cost.static_tokens else NONE,
        _money(cost.off),
        _money(None if short is None else short.hit),
        _money(None if short is None else short.miss),
        _money(None if long is None else long.miss),
        _share(short),
        _share(long),
        _money(cost.expected),
    )


def _share(cached: Cached | None) -> str:
    return NONE if cached is None else percent(cached.hit_share)


def _money(value: Decimal | None) -> str:
    return amount(None if value is None else format(value, "f"))


def _restricted(s: Situation) -> str:
    return f"mixed: {s.restricted:,} of {s.documents:,} documents have labels" if s.restricted else "mixed, as was said"
