"""What documents are worth: each model's grounded arms against its control, and what the control does instead."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.selection import ALL
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import Finding, Strength, listed, p_told
from loadrig.statistics.power import ALPHA

KEY = "{}/summary.json: behaviour.{}"


def told(part: Part) -> Iterator[Finding]:
    """Sentences on one run."""
    for model in part.models:
        gaps = sorted((gap for gap in part.summary.behaviour.gaps if gap.model == model), key=lambda gap: gap.gap)
        if not gaps:
            why = "no control ran, so nothing can be told of what the documents give"
            yield Finding(f"{part.name}, {model}: {why}", (), "cannot be told")
            continue
        least, most = gaps[0], gaps[-1]
        largest = max(gap.p_holm for gap in gaps)
        within = [gap.arm for gap in gaps if gap.p_holm > ALPHA]
        said = (
            f"{part.name}, {model}: grounded arms are {100 * least.gap:+.0f} ({least.arm}) to {100 * most.gap:+.0f} "
            f"points ({most.arm}) from the control, right in {100 * least.control:.0f} % of {least.n} questions"
        )
        said += f"; inside noise for {listed(within, 8)}" if within else ": every arm is higher"
        said += f" (exact McNemar, largest Holm p {p_told(largest)})"
        strength: Strength = "inside noise" if len(within) == len(gaps) else "result"
        yield Finding(said, (KEY.format(part.name, "gaps"),), strength)
    for one in part.summary.behaviour.control:
        if one.category == ALL:
            labels = ", ".join(f"{n} {name}" for name, n in one.labels.items() if n)
            said = f"{part.name}, {one.model}: of {one.n} answers without documents: {labels}"
            yield Finding(said, (KEY.format(part.name, "control"),), "description")
