"""What a check found, and what follows from all of them.

Rules: each check ends in one of four states, with a sentence that says what was seen and one that says what it means
for measuring. Where a finding stands on the page follows from its state and from what is lost without it. A run makes
sense when nothing it cannot do without is broken, not there, or was never reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loadrig.words.safeguard import Figure

State = Literal["ok", "not there", "cannot tell", "broken"]
Group = Literal["measurable", "with care", "not measurable"]
GROUPS: tuple[Group, ...] = ("measurable", "with care", "not measurable")
LOST = {
    "streaming": "first-token times",
    "usage": "tokens and costs",
    "tools": "agentic arms",
    "structured output": "arms and judges that want a form",
}
NEEDED = ("connection", "TLS", "key", "dialect", "measured turn")  # without one of these there is nothing to measure


@dataclass(frozen=True, slots=True)
class Finding:
    """`means` is what it means for measuring. `lost`: where it belongs if it is not ok; ok is always measurable."""

    check: str
    state: State
    said: str
    means: str
    lost: Group = "with care"
    figures: tuple[Figure, ...] = ()

    @property
    def group(self) -> Group:
        return "measurable" if self.state == "ok" else self.lost


@dataclass(frozen=True, slots=True)
class Examination:
    """All that was found of one model at one endpoint. `endpoint` is its URL, with the way there, without a secret.
    `requests` were sent; `tokens` are those that the replies reported, `cost` their price, where it is known."""

    model: str
    provider: str
    endpoint: str
    findings: tuple[Finding, ...]
    requests: int
    tokens: int | None
    cost: str | None
    warnings: tuple[str, ...] = ()

    @property
    def makes_sense(self) -> bool:
        """Whether a run against this endpoint does."""
        found = {finding.check: finding.state for finding in self.findings}
        return all(found.get(check, "ok") == "ok" for check in NEEDED) and found.get("measured turn") == "ok"

    @property
    def verdict(self) -> str:
        """One sentence, the first that a reader needs."""
        if not self.makes_sense:
            first = next((one for one in self.findings if one.check in NEEDED and one.state != "ok"), None)
            return "A run makes no sense here" + ("." if first is None else f": {first.said}")
        not_here = [LOST.get(one.check, one.check) for one in self.findings if one.group == "not measurable"]
        return f"A run makes sense here{f', without {_listed(not_here)}' if not_here else ''}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
