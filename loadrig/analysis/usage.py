"""Tokens, turns and tool calls of a group of trials. Missing is not zero: each mean is over what was reported.

Tokens are the provider's. A trial's are the sum over its turns: context that is sent again is paid again. They
compare arms of one model; models count differently, so across models only money compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, pairwise

from loadrig.cost import prompt_tokens
from loadrig.words.record import Record, ToolCall, Turn, Usage

SEARCH = "search"


@dataclass(frozen=True, slots=True)
class TokenMeans:
    """Means over `n` usages. prompt = uncached + cache_write + cache_read; thinking is inside output."""

    n: int
    prompt: float | None
    uncached: float | None
    cache_write: float | None
    cache_read: float | None
    output: float | None
    thinking: float | None


@dataclass(frozen=True, slots=True)
class TurnMeans:
    """Means over the `n` turns that were the `turn`-th of their trial. `cost`: of those whose cost is known; `tokens`:
    of those that told any, by kind."""

    turn: int
    n: int
    prompt: float | None
    output: float | None
    cost: float | None
    tokens: TokenMeans


@dataclass(frozen=True, slots=True)
class Count:
    """A count per trial over `n` trials."""

    n: int
    mean: float | None
    min: int | None
    max: int | None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Tool calls per trial and by tool; `reformulated` of `searched` trials searched again in other words after a
    search without hits; `capped` trials ended at the turn cap. `repeated`: calls made before in their trial, word for
    word. Trials in which a call was not run because of a loop, or of the token budget: `warned`, `overdrawn`; of these
    `looped` and `spent` ended so, and the others went on to an answer or to another end."""

    per_trial: Count
    by_tool: dict[str, int]
    searched: int
    reformulated: int
    capped: int
    repeated: int
    warned: int
    looped: int
    overdrawn: int
    spent: int


def token_means(usages: Iterable[Usage | None]) -> TokenMeans:
    """Means over the usages that there are."""
    known = [usage for usage in usages if usage is not None]
    return TokenMeans(
        n=len(known),
        prompt=_mean(known, lambda u: None if u.input is None else prompt_tokens(u)),
        uncached=_mean(known, lambda u: u.input),
        cache_write=_mean(known, _written),
        cache_read=_mean(known, lambda u: u.cache_read),
        output=_mean(known, lambda u: u.output),
        thinking=_mean(known, lambda u: u.thinking),
    )


def per_turn(records: Iterable[Record]) -> TokenMeans:
    """Means over all turns of all trials."""
    return token_means(turn.usage for record in records for turn in record.turns)


def by_turn(records: Iterable[Record]) -> tuple[TurnMeans, ...]:
    """Means for the first, second, ... turn of a trial."""
    records = list(records)
    longest = max((len(record.turns) for record in records), default=0)
    rows = []
    for place in range(longest):
        turns = [record.turns[place] for record in records if len(record.turns) > place]
        means, costs = token_means(turn.usage for turn in turns), [_cost(turn) for turn in turns]
        rows.append(TurnMeans(place + 1, len(turns), means.prompt, means.output, _average(costs), means))
    return tuple(rows)


def turns_per_trial(records: Iterable[Record]) -> Count:
    """Model calls per trial."""
    return _count([len(record.turns) for record in records])


def tool_use(records: Iterable[Record]) -> ToolUse:
    """What the agent did in `records`."""
    records = list(records)
    calls = [list(chain.from_iterable(turn.tool_calls for turn in record.turns)) for record in records]
    searches = [[call for call in trial if call.name == SEARCH] for trial in calls]
    withheld = [{call.withheld for call in trial} for trial in calls]
    return ToolUse(
        per_trial=_count([len(trial) for trial in calls]),
        by_tool=dict(sorted(Counter(call.name for trial in calls for call in trial).items())),
        searched=sum(bool(trial) for trial in searches),
        reformulated=sum(_reformulated(trial) for trial in searches),
        capped=sum(record.reason == "turn_cap" for record in records),
        repeated=sum(call.repeated for trial in calls for call in trial),
        warned=sum("loop" in whys for whys in withheld),
        looped=sum(record.reason == "loop" for record in records),
        overdrawn=sum("budget" in whys for whys in withheld),
        spent=sum((record.outcome, record.reason) == ("unanswered", "budget") for record in records),
    )


def _reformulated(searches: Sequence[ToolCall]) -> bool:
    return any(not first.hits and first.input != second.input for first, second in pairwise(searches))


def _written(usage: Usage) -> int | None:
    parts = [part for part in (usage.cache_write_5m, usage.cache_write_1h) if part is not None]
    return sum(parts) if parts else None


def _cost(turn: Turn) -> float | None:
    return None if turn.cost is None else float(Decimal(turn.cost))


def _mean(usages: Sequence[Usage], counter: Callable[[Usage], int | None]) -> float | None:
    return _average([counter(usage) for usage in usages])


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _count(values: Sequence[int]) -> Count:
    return Count(len(values), _average(values), min(values, default=None), max(values, default=None))
