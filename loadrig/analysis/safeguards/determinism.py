"""Answers alike to the byte across repetitions: the mark of a cache that answers in the model's place.

Some are alike by chance, short ones and refusals above all. So there are two rules. An arm is flagged when more than
5 % of its pairs of neighbouring repetitions are alike, whatever their length, and that many would come, if 5 % were,
less than once in a hundred times (binomial). All arms of a model together are flagged when more pairs of long answers
are alike than 1 % would give so often; a run that passes says which share of replays it could have seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadrig.analysis.checks import ALIKE_BY_CHANCE, LONG_CHARS, Alike, Repeated, long_answers_alike
from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.selection import CONTROL, grouped
from loadrig.words.safeguard import Figure, Safeguard

NAME = "determinism"
FEWEST = 2


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    rows = grouped((row.model, row) for row in seen.repeated if row.arm != CONTROL)
    long = {row.model: row for row in long_answers_alike(seen.run)}
    for model in seen.models:
        yield _one(model, rows.get(model, []), long.get(model))


def _one(model: str, rows: Sequence[Repeated], long: Alike | None) -> Safeguard:
    pairs, same = sum(row.pairs for row in rows), sum(row.same for row in rows)
    figures = (
        *(Figure(f"{row.arm}, alike of {row.pairs} pairs", row.same) for row in rows),
        Figure("pairs of long answers", long.pairs if long else 0),
        Figure("alike of these", long.same if long else 0),
        Figure("least share of replays that would be seen", round(long.seen, 4) if long and long.seen else None),
    )
    if not any(row.pairs >= FEWEST for row in rows):
        why = "no question was answered often enough: repetitions = 2 and more make pairs"
        return Safeguard(NAME, "not checked", why, figures, model)
    if flagged := [row for row in rows if row.flagged]:
        told = ", ".join(f"{row.arm} {row.same} of {row.pairs}" for row in flagged)
        why = f"repetitions answered byte for byte the same ({told}): a cache may be answering"
        return Safeguard(NAME, "failed", why, figures, model)
    if long is not None and long.flagged:
        why = (
            f"{long.same} of {long.pairs} pairs of answers of {LONG_CHARS} characters and more are alike to the byte, "
            f"and chance gives {ALIKE_BY_CHANCE:.0%} at most: some of them are replayed"
        )
        return Safeguard(NAME, "failed", why, figures, model)
    return Safeguard(
        NAME, "passed", f"{same} of {pairs} pairs of repetitions are alike; {_could(long)}", figures, model
    )


def _could(long: Alike | None) -> str:
    """Which replays would have been seen."""
    if long is None or long.seen is None:
        return f"too few of {LONG_CHARS} characters and more to see replays of a small share of requests"
    return f"replays of {long.seen:.1%} of requests and more would have been seen"
