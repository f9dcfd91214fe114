"""What an agent does, by arm and category, over all stages: calls, searches tried again, the cap, loops, the budget.

    reformulated share = trials with a search that found nothing (or failed) and a next one in other words / trials

over all of the arm's trials that were sent, as the study counts it, so that an agent that never searched is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadrig.analysis.selection import by_arm_and_model, by_category
from loadrig.analysis.usage import ToolUse, tool_use
from loadrig.log import RunFolder
from loadrig.stats import Share, wilson
from loadrig.words.record import Record


@dataclass(frozen=True, slots=True)
class CategoryTools:
    """Of one category (`all`: every one). Calls per trial are in `use`; shares are of its `per_trial.n` trials, with
    Wilson's interval only to show how few they are: repetitions are not independent."""

    category: str
    use: ToolUse
    reformulated: Share | None
    capped: Share | None


@dataclass(frozen=True, slots=True)
class ArmTools:
    """An arm that called a tool at least once."""

    arm: str
    model: str
    categories: tuple[CategoryTools, ...]


def tools_by_arm(run: RunFolder, records: Sequence[Record]) -> tuple[ArmTools, ...]:
    """Every arm and model that used tools, in the plan's order."""
    groups = by_arm_and_model(run, (((record.arm, record.model), record) for record in records))
    return tuple(
        ArmTools(arm, model, _categories(found))
        for arm, model, found in groups if any(turn.tool_calls for record in found for turn in record.turns)
    )  # fmt: skip


def _categories(records: Sequence[Record]) -> tuple[CategoryTools, ...]:
    return tuple(_category(*of) for of in by_category((record.category, record) for record in records))


def _category(name: str, records: Sequence[Record]) -> CategoryTools:
    use = tool_use(records)
    n = use.per_trial.n
    return CategoryTools(name, use, wilson(use.reformulated, n), wilson(use.capped, n))
