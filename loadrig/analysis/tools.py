"""What an agent does, by arm and category, over all stages: calls, searches tried again, the cap.

    reformulated share = trials with a search that found nothing (or failed) and a next one in other words / trials

over all of the arm's trials that were sent, as the study counts it, so that an agent that never searched is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadrig.analysis.selection import arm_names, grouped
from loadrig.analysis.usage import ToolUse, tool_use
from loadrig.log import RunFolder
from loadrig.stats import Share, wilson
from loadrig.words.record import Record

ALL = "all"


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
    order = {arm: place for place, arm in enumerate(arm_names(run))}
    groups = grouped(((record.arm, record.model), record) for record in records)
    using = {key: found for key, found in groups.items() if any(turn.tool_calls for r in found for turn in r.turns)}
    return tuple(
        ArmTools(arm, model, _categories(found))
        for (arm, model), found in sorted(using.items(), key=lambda group: (order[group[0][0]], group[0][1]))
    )


def _categories(records: Sequence[Record]) -> tuple[CategoryTools, ...]:
    named = sorted(grouped((record.category, record) for record in records).items())
    return tuple(_category(name, found) for name, found in [(ALL, records), *named])


def _category(name: str, records: Sequence[Record]) -> CategoryTools:
    use = tool_use(records)
    n = use.per_trial.n
    return CategoryTools(name, use, wilson(use.reformulated, n), wilson(use.capped, n))
