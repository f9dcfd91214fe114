"""Tables of tokens and money: per question, per turn, and the whole bill."""

from __future__ import annotations

from loadrig.analysis.summary import Summary
from loadrig.reports.speed import models_of
from loadrig.reports.table import Table, amount, label, money, number


def tokens(summary: Summary) -> Table:
    """Tokens per question and per turn, turns and tool calls, by arm and stage."""
    rows = []
    for arm in summary.arms:
        each, turn, tools = arm.tokens_per_question, arm.tokens_per_turn, arm.tools
        counters = (each.prompt, each.uncached, each.cache_write, each.cache_read, each.output, each.thinking)
        rows.append(
            (
                f"{label(arm.arm, arm.model, models_of(summary))}, {arm.stage}",
                *map(number, counters), number(turn.prompt), number(turn.output),
                number(arm.turns.mean, 1), number(tools.per_trial.mean, 1),
                ", ".join(f"{name} {n}" for name, n in tools.by_tool.items()) or "-",
                f"{tools.reformulated} of {tools.searched}" if tools.searched else "-", str(tools.capped),
            )
        )  # fmt: skip
    headers = (
        "arm, stage", "prompt", "uncached", "cache write", "cache read", "output", "thinking", "prompt/turn",
        "output/turn", "turns", "tool calls", "by tool", "reformulated", "at the cap",
    )  # fmt: skip
    notes = ("means per question, as the provider counts; they compare arms of one model, not models",)
    return Table("Tokens", headers, tuple(rows), notes)


def turn_by_turn(summary: Summary) -> Table | None:
    """The growth of a conversation, for arms of several turns; None when there are none."""
    rows = tuple(
        (
            f"{label(arm.arm, arm.model, models_of(summary))}, {arm.stage}", str(turn.turn), str(turn.n),
            number(turn.prompt), number(turn.output), "-" if turn.cost is None else amount(f"{turn.cost:.12f}"),
        )
        for arm in summary.arms if len(arm.by_turn) > 1 for turn in arm.by_turn
    )  # fmt: skip
    headers = ("arm, stage", "turn", "trials", "prompt", "output", summary.currency or "cost")
    return Table("Turn by turn", headers, rows) if rows else None


def cost(summary: Summary) -> Table:
    """Cost per question asked, answered and correct, each divisor named."""
    rows = tuple(
        (
            f"{label(arm.arm, arm.model, models_of(summary))}, {arm.stage}", money(arm.cost.total),
            str(arm.cost.asked), amount(arm.cost.per_asked), str(arm.cost.answered), amount(arm.cost.per_answered),
            number(arm.cost.correct), amount(arm.cost.per_correct),
        )
        for arm in summary.arms
    )  # fmt: skip
    unit = summary.currency or "cost"
    headers = (
        "arm, stage", "spent", "asked", f"{unit}/asked", "answered", f"{unit}/answered", "correct", f"{unit}/correct",
    )  # fmt: skip
    notes = ("correct by pre-check; >= : some replies broke off, or some charges are unknown and not in the sum",)
    return Table("Cost per question", headers, rows, notes)


def bill(summary: Summary) -> Table:
    """The whole bill; its lines sum to the total."""
    named = [(line.name, line.money) for line in summary.bill.lines]
    rows = tuple((name, money(sum_of), str(sum_of.unknown)) for name, sum_of in [*named, ("total", summary.bill.total)])
    return Table("Whole bill", ("line", "spent", "unknown charges"), rows)
