"""What an arm had built before the first trial, and what that comes to a question.

    cost         of all calls that the artefact took, when they were made, in this run or an earlier one
    cost_now     of those that this run asked, failed ones and those of an interrupted session too: what stands on the
                 bill's line `summaries`
    at n         (cost of the trials of an arm / questions asked) + cost / n: what a question costs when the artefact
                 serves n of them, here for the n asked in this run and for 1,000

Callers' artefacts are summed up: each of them is needed. Of a run that was taken up again the last session's count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from loadrig.analysis.bill import PerQuestion, charges, currency_of, money, per_question, plain
from loadrig.analysis.selection import asked, grouped
from loadrig.cost import total_of
from loadrig.log import RunFolder
from loadrig.words.record import Record

MANY = 1_000


@dataclass(frozen=True, slots=True)
class ArmBuilt:
    """One arm and model. `calls` the artefacts took; `paid`: those that this run asked, failed ones too. Money is a
    decimal string in the run's currency, None when some of it is unknown. `each`: a question without the artefact,
    `asked` of them here; `here`, `many`: with its share of the artefact, at so many as were asked here, at `MANY`; None
    of all three where one of the artefacts could not be built, for trials that need it failed at once."""

    arm: str
    model: str
    artefacts: int
    failed: int
    calls: int
    paid: int
    prompt_tokens: int
    output_tokens: int
    cost: str | None
    cost_now: str | None
    made_from: str | None
    made_to: str | None
    asked: int
    each: str | None
    here: str | None
    many: str | None


def built(run: RunFolder) -> tuple[ArmBuilt, ...]:
    """Of each arm and model that had something built; none in a run without."""
    rows: list[dict[str, Any]] = run.manifest.get("built") or []
    found = grouped(((row["arm"], row["model"]), row) for row in rows)
    trials = grouped(((record.arm, record.model), record) for record in asked(run))
    calls = grouped(((record.arm, record.model), record) for record in run.probes if _is_building(record))
    currency = currency_of(run)
    return tuple(
        _figures(of, calls.get(key, []), each=per_question(trials.get(key, []), currency, correct=None))
        for key, of in found.items()
    )


def _is_building(record: Record) -> bool:
    return bool(record.turns) and record.turns[-1].purpose == "summarise"


def _figures(rows: Sequence[dict[str, Any]], calls: Sequence[Record], *, each: PerQuestion) -> ArmBuilt:
    now = money((charge for record in calls for charge in charges(record)), None)
    last = list({tuple(row["caller"]): row for row in rows}.values())
    cost = total_of([row["cost"] for row in last])
    failed = sum(row["reason"] is not None for row in last)
    per_asked = None if failed else each.per_asked
    made = sorted(label for row in last for label in (row["made_from"], row["made_to"]) if label)
    return ArmBuilt(
        arm=rows[0]["arm"],
        model=rows[0]["model"],
        artefacts=len(last),
        failed=failed,
        calls=sum(row["calls"] for row in last),
        paid=len(calls),
        prompt_tokens=sum(row["prompt_tokens"] for row in last),
        output_tokens=sum(row["output_tokens"] for row in last),
        cost=cost,
        cost_now=None if now.unknown else now.amount,
        made_from=made[0] if made else None,
        made_to=made[-1] if made else None,
        asked=each.asked,
        each=per_asked,
        here=amortised(per_asked, cost, each.asked),
        many=amortised(per_asked, cost, MANY),
    )


def amortised(each: str | None, cost: str | None, n: int) -> str | None:
    """A question's cost with its share of what was built for n of them, to 12 digits; None when either is unknown or
    there is no question."""
    if each is None or cost is None or not n:
        return None
    return plain(round(Decimal(each) + Decimal(cost) / n, 12).normalize())
