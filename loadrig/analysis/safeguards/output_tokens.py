"""Output tokens: reported ones against the local estimate of the text that came, over all calls of a model.

No tokenizer makes as few tokens of a text as 0.7 times the local estimate of it (0.9 to 1.54 were seen), so fewer were
not all counted. Where the provider counted prompts before the run, its own ratio to the estimate is laid on that. Needs
no counter. Thinking that is told is taken off; thinking that is not can only add, so too many are not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.safeguards.trial_tokens import ratios
from loadrig.analysis.selection import asked
from loadrig.stored import has_text
from loadrig.tokens import estimator
from loadrig.words.record import Turn
from loadrig.words.safeguard import Figure, Safeguard

NAME = "output tokens"
LEAST, SAMPLE = 0.7, 200


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    calibrated = ratios(seen.run.manifest)
    for model in seen.models:
        turns = [turn for record in asked(seen.run) if record.model == model for turn in record.turns if _counts(turn)]
        ratio = min((ratio for (_, of), ratio in calibrated.items() if of == model), default=Decimal(1))
        yield _one(model, turns[:: max(1, -(-len(turns) // SAMPLE))], LEAST * max(1.0, float(ratio)))


def _one(model: str, turns: Sequence[Turn], least: float) -> Safeguard:
    local = sum(
        estimator().count(turn.text) + sum(estimator().count(one.input) for one in turn.tool_calls) for turn in turns
    )
    reported = sum((turn.usage.output or 0) - (turn.usage.thinking or 0) for turn in turns if turn.usage is not None)
    if not local:
        return Safeguard(NAME, "not checked", "no reply with a text reported output tokens", of=model)
    share = reported / local
    figures = (
        Figure("replies", len(turns)),
        Figure("reported, less thinking", reported),
        Figure("local estimate of the text", local),
        Figure("ratio", round(share, 4)),
        Figure("least that is plausible", round(least, 4)),
    )
    told = f"{share:.2f} times the local estimate of the text of {len(turns)} replies"
    if share < least:
        return Safeguard(NAME, "failed", f"{told} was reported: below {least:.2f} not all is counted", figures, model)
    return Safeguard(NAME, "passed", f"{told} was reported; below {least:.2f} it would have failed", figures, model)


def _counts(turn: Turn) -> bool:
    """Whether it has a text and its whole output was reported."""
    usage = turn.usage
    return usage is not None and usage.output is not None and usage.exact and has_text(turn)
