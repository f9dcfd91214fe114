"""Prompt tokens of trials: reported ones against the local estimate times the ratio that was calibrated for the arm.

The ratio is the provider's own count of one prompt of the arm's kind over the local estimate of it, taken before the
run; it differs from model to model (1.13 and 1.54 were seen for one text), so nothing fixed would do. Over a sample of
each arm's first turns; those with tools or a form for the reply are left out: the estimate does not know what they add.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.selection import asked, grouped
from loadrig.cost import prompt_tokens
from loadrig.tokens import estimator
from loadrig.words.record import Record
from loadrig.words.safeguard import Figure, Safeguard

NAME = "prompt tokens of trials"
SAMPLE, OFF = 10, 0.12
_TEXTS = ("text", "content", "system")
_HIDDEN = frozenset(
    {"output_config", "response_format", "tools"}
)  # what an endpoint makes of these, nobody can estimate


def check(seen: Seen) -> Iterator[Safeguard]:
    """Each model: the arm that is farthest off."""
    known = ratios(seen.run.manifest)
    groups = grouped(((r.model, r.arm), r) for r in asked(seen.run) if r.turns)
    for model in seen.models:
        offs = {
            arm: off
            for (of, arm), records in groups.items()
            if of == model and (off := _off(records, seen.prompts, known.get((arm, model)))) is not None
        }
        if not offs:
            why = "no ratio was calibrated for this model, or no tokens were reported"
            yield Safeguard(NAME, "not checked", why, of=model)
            continue
        arm = max(offs, key=lambda name: abs(offs[name]))
        figures = tuple(Figure(f"{name}, difference", round(off, 4)) for name, off in offs.items())
        told = (
            f"at most {offs[arm]:+.0%} from what the calibrated ratio gives (arm {arm}, {SAMPLE} calls an arm at most)"
        )
        yield Safeguard(NAME, "failed" if abs(offs[arm]) > OFF else "passed", told, figures, model)


def ratios(manifest: Mapping[str, Any]) -> dict[tuple[str, str], Decimal]:
    """Provider's tokens over local ones by arm and model, where its count gave them before the run."""
    rows = (manifest.get("estimate") or {}).get("arms") or []
    return {(row["arm"], row["model"]): Decimal(row["ratio"]) for row in rows if row.get("calibrated")}


def _off(records: Sequence[Record], prompts: Mapping[str, bytes], ratio: Decimal | None) -> float | None:
    """How far reported tokens of a sample are from the estimate, as a share; None where it cannot be told."""
    reported = expected = 0
    if ratio is None:
        return None
    for record in records[:: -(-len(records) // SAMPLE)]:
        turn = record.turns[0]
        if turn.usage is None or turn.usage.input is None or any(part not in prompts for part in turn.prompt):
            continue
        body = msgspec.json.decode(b"".join(prompts[part] for part in turn.prompt) or b"{}")
        if isinstance(body, dict) and not _HIDDEN.isdisjoint(body):
            continue
        local = sum(estimator().count(text) for text in _texts(body))
        reported, expected = reported + prompt_tokens(turn.usage), expected + local
    return reported / (expected * float(ratio)) - 1 if expected else None


def _texts(value: object) -> Iterator[str]:
    """What a request body says to the model, whatever its dialect: not the names of its parts."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str):
                if key in _TEXTS:
                    yield inner
            else:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
