"""Tables of tokens and money: per question, per turn, and the whole bill."""

from __future__ import annotations

from loadrig.analysis.summary import Summary
from loadrig.reports.speed import row_header, row_name
from loadrig.reports.table import Table, amount, money, number


def tokens(summary: Summary) -> Table:
    """Tokens per question and per turn, by arm and stage."""
    rows = []
    for arm in summary.arms:
        each, turn = arm.tokens_per_question, arm.tokens_per_turn
        counters = (each.prompt, each.uncached, each.cache_write, each.cache_read, each.output, each.thinking)
        rows.append((row_name(summary, arm), *map(number, (*counters, turn.prompt, turn.output))))
    headers = (
        row_header(summary), "prompt", "uncached", "cache write", "cache read", "output", "thinking", "prompt/turn",
        "output/turn",
    )  # fmt: skip
    notes = ("means per question, as the provider counts; they compare arms of one model, not models",)
    return Table("Tokens", headers, tuple(rows), notes)


def turns(summary: Summary) -> Table | None:
    """Turns and tool calls, for arms that have more than one turn; None when there is none."""
    rows = []
    for arm in summary.arms:
        tools = arm.tools
        if len(arm.by_turn) > 1 or tools.by_tool:
            again = f"{tools.reformulated} of {tools.searched}" if tools.searched else "-"
            named = ", ".join(f"{name} {n}" for name, n in tools.by_tool.items()) or "-"
            means = (number(arm.turns.mean, 1), number(tools.per_trial.mean, 1))
            rows.append((row_name(summary, arm), *means, named, again, str(tools.capped)))
    headers = (row_header(summary), "turns", "tool calls", "by tool", "reformulated", "at the cap")
    notes = ("turns and tool calls: means per question; reformulated: of the trials that searched",)
    return Table("Turns and tools", headers, tuple(rows), notes) if rows else None


def turn_by_turn(summary: Summary) -> Table | None:
    """The growth of a conversation, for arms of several turns; None when there are none."""
    rows = tuple(
        (
            row_name(summary, arm), str(turn.turn), str(turn.n),
            number(turn.prompt), number(turn.output), "-" if turn.cost is None else amount(f"{turn.cost:.12f}"),
        )
        for arm in summary.arms if len(arm.by_turn) > 1 for turn in arm.by_turn
    )  # fmt: skip
    headers = (row_header(summary), "turn", "trials", "prompt", "output", summary.currency or "cost")
    return Table("Turn by turn", headers, rows) if rows else None


def cost(summary: Summary) -> Table:
    """Cost per question asked, answered and correct, each divisor named."""
    rows = tuple(
        (
            row_name(summary, arm), money(arm.cost.total),
            str(arm.cost.asked), amount(arm.cost.per_asked), str(arm.cost.answered), amount(arm.cost.per_answered),
            number(arm.cost.correct), amount(arm.cost.per_correct),
        )
        for arm in summary.arms
    )  # fmt: skip
    unit = summary.currency or "cost"
    headers = (
        row_header(summary), "spent", "asked", f"{unit}/asked", "answered", f"{unit}/answered", "correct",
        f"{unit}/correct",
    )  # fmt: skip
    notes = ("correct by pre-check; >= : some replies broke off, or some charges are unknown and not in the sum",)
    return Table("Cost per question", headers, rows, notes)


def bill(summary: Summary) -> Table:
    """The whole bill; its lines sum to the total."""
    named = [(line.name, line.money) for line in summary.bill.lines]
    rows = tuple((name, money(sum_of), str(sum_of.unknown)) for name, sum_of in [*named, ("total", summary.bill.total)])
    return Table("Whole bill", ("line", "spent", "unknown charges"), rows)
