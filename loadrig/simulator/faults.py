"""Which fault, if any, a request meets, and what it does to the planned reply. Seeded, so a rerun meets the same."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from loadrig.simulator.dialects import Dialect
from loadrig.simulator.latency import MS_NS, Due
from loadrig.simulator.scenario import FAULTS, Scenario
from loadrig.simulator.stream import CONTENT, Event

REFUSALS = {
    "rate_429": (429, "rate_limit_error", "Number of requests has exceeded your rate limit."),
    "rate_529": (529, "overloaded_error", "Overloaded"),
    "rate_500": (500, "api_error", "Internal server error"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` is the scenario's key; `share` is how far into the content the fault strikes, 0 to 1."""

    kind: str
    share: float


def choose(scenario: Scenario, chance: Random) -> Fault | None:
    """One draw against the rates laid end to end."""
    point, share = chance.random(), chance.random()
    for kind in FAULTS:
        rate = float(getattr(scenario, kind))
        if point < rate:
            return Fault(kind, share)
        point -= rate
    return None


def strike(dues: list[Due], fault: Fault | None, scenario: Scenario, request_id: str, *, dialect: Dialect) -> list[Due]:
    """The schedule with the fault in it: cut off after some content, ended by an error event, or held up."""
    if fault is None:
        return dues
    content = [place for place, due in enumerate(dues) if due.event.kind in CONTENT]
    at = content[int(fault.share * (len(content) - 1))] if content else len(dues) - 2
    if fault.kind == "rate_stall":
        late_ns = int(scenario.stall_ms * MS_NS)
        return dues[:at] + [Due(due.offset_ns + late_ns, due.event) for due in dues[at:]]
    kept = dues[: at + 1]
    if fault.kind == "rate_error_event":
        data = dialect.error_event("overloaded_error", "Overloaded", request_id)
        kept.append(Due(kept[-1].offset_ns, Event("error", data)))
    return kept
