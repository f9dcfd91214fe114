"""The comparison of two runs, as frozen values that encode to strict JSON (compare.json).

`a` is the baseline. Every difference is b - a. Which word it earns is in `loadrig.analysis.compare.words`; with more
than one thing that differs, no word says what made the difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from loadrig.analysis.compare.accuracy import Right, accuracy
from loadrig.analysis.compare.accuracy import worded as worded_rights
from loadrig.analysis.compare.figures import Figure, bounds, figures
from loadrig.analysis.compare.figures import worded as worded_figures
from loadrig.analysis.compare.marks import Marked, marks
from loadrig.analysis.compare.marks import worded as worded_marks
from loadrig.analysis.compare.settings import Settings, settings
from loadrig.analysis.compare.sides import Side, pairs
from loadrig.analysis.compare.tokens import Recounted, recounted, told
from loadrig.analysis.compare.words import ALPHA
from loadrig.analysis.summary import SIMULATED
from loadrig.log import RunFolder
from loadrig.statistics.clustered import DRAWS, Draws

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Pair:
    """An arm and a model of a against one of b: `accuracy` of all questions (None: none can be graded on both sides),
    then by category; `marks`: stale and invented answers. `only_a` and `only_b`: questions asked on one side only,
    which are in no figure; `unasked`: of the former, those that were planned on the other side. `recounted`: prompt
    tokens of the same requests."""

    arm_a: str
    arm_b: str
    model_a: str
    model_b: str
    settings: Settings
    questions: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    unasked: tuple[str, ...]
    accuracy: Right | None
    categories: tuple[Right, ...]
    marks: tuple[Marked, ...]
    figures: tuple[Figure, ...]
    recounted: Recounted | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared; `cannot_say`: more than one thing differs in some pair. `draws` are seed and numbers."""

    schema: int
    a: str
    b: str
    simulated: bool
    note: str | None
    cannot_say: bool
    warnings: tuple[str, ...]
    draws: Draws
    alpha: dict[str, float]
    pairs: tuple[Pair, ...]


def compare(
    a: RunFolder, b: RunFolder, *, arms: Sequence[str] = (), models: Sequence[str] = (), draws: Draws = DRAWS
) -> Comparison:
    """Raises `InputError` when nothing can be compared, or a simulated run with a real one."""
    found = pairs(a, b, arms=arms, models=models)
    bound = bounds(a), bounds(b)
    # So many permutations that a p which Holm lets pass over all figures of all pairs is more than the last one drawn.
    tests = sum(3 * 4 * max(1, len(x.stages)) + 6 for x, _ in found)
    drawn = replace(draws, permutations=max(draws.permutations, math.ceil(4 * tests / ALPHA["figures"])))
    rights = [accuracy(x, y, drawn) for x, y in found]
    judged = [marks(x, y, drawn) for x, y in found]
    counted = [figures(x, y, bound, drawn) for x, y in found]
    whole = iter(worded_rights([row for rows in rights for row in rows[:1]], "accuracy"))
    parts = iter(worded_rights([row for rows in rights for row in rows[1:]], "categories"))
    said = iter(worded_marks([row for rows in judged for row in rows]))
    rest = iter(worded_figures([row for rows in counted for row in rows]))
    paired = tuple(
        _pair(
            sides,
            next(whole) if rows else None,
            categories=tuple(next(parts) for _ in rows[1:]),
            marked=tuple(next(said) for _ in marked),
            found=tuple(next(rest) for _ in of),
        )
        for sides, rows, marked, of in zip(found, rights, judged, counted, strict=True)
    )
    simulated = bool(a.manifest.get("simulated"))
    return Comparison(
        schema=SCHEMA,
        a=_named(a),
        b=_named(b),
        simulated=simulated,
        note=SIMULATED if simulated else None,
        cannot_say=any(len(pair.settings.counted) > 1 for pair in paired),
        warnings=tuple(dict.fromkeys(_warnings((a, b), paired))),
        draws=drawn,
        alpha={str(name): level for name, level in ALPHA.items()},
        pairs=paired,
    )


def _pair(
    sides: tuple[Side, Side],
    right: Right | None,
    *,
    categories: tuple[Right, ...],
    marked: tuple[Marked, ...],
    found: tuple[Figure, ...],
) -> Pair:
    a, b = sides
    only_a, only_b = (
        tuple(name for name in one.questions if name not in other.questions) for one, other in ((a, b), (b, a))
    )
    planned = {trial.question for trial in b.run.trials if (trial.arm, trial.model) == (b.arm, b.model)}
    return Pair(
        arm_a=a.arm,
        arm_b=b.arm,
        model_a=a.model,
        model_b=b.model,
        settings=settings(a, b),
        questions=len(a.questions.keys() & b.questions.keys()),
        only_a=only_a,
        only_b=only_b,
        unasked=tuple(name for name in only_a if name in planned),
        accuracy=right,
        categories=categories,
        marks=marked,
        figures=found,
        recounted=recounted(a, b),
    )


def _named(run: RunFolder) -> str:
    return str(run.manifest.get("run", run.path.name))


def _warnings(runs: tuple[RunFolder, RunFolder], found: Sequence[Pair]) -> Iterator[str]:
    for run in runs:
        status = run.manifest.get("status")
        if status in ("interrupted", "running"):
            yield f"{_named(run)} is {status}: figures are of what there is"
    for pair in found:
        name = _arms(pair)
        if pair.only_a or pair.only_b:
            yield (
                f"{name}: {len(pair.only_a)} questions of a only and {len(pair.only_b)} of b only are in no figure"
                + (f"; {len(pair.unasked)} of them b had planned and not asked" if pair.unasked else "")
            )
        if pair.recounted is not None and pair.recounted.other:
            yield f"{name}: {told(pair.recounted)}"
        if pair.settings.unchecked:
            yield f"{name}: not checked, as neither manifest says it: {', '.join(pair.settings.unchecked)}"
    if bound := [_arms(pair) for pair in found if any(figure.client_bound for figure in pair.figures)]:
        yield f"a stage is client-bound, its times partly the rig's own: {', '.join(bound)}"


def _arms(pair: Pair) -> str:
    return pair.arm_b if pair.arm_a == pair.arm_b else f"{pair.arm_a} / {pair.arm_b}"
