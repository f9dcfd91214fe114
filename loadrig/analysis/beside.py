"""What differs in the settings of several runs, each held against the first, as a comparison of two holds them.

Arms and models of one name are held against each other; where two runs have none in common, the first of each. Says
nothing of figures: whether those differ by more than chance is a comparison's to say, two runs at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadrig.analysis.compare.settings import Changed, settings
from loadrig.analysis.compare.sides import Side, side_of
from loadrig.analysis.selection import arm_names, asked
from loadrig.log import RunFolder
from loadrig.words.errors import InputError


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that is not the same in all runs: its value in each, in the order of the runs. `counted`: it is what a
    comparison is made to vary; else chance and surroundings."""

    what: str
    values: tuple[str, ...]
    counted: bool


Found = tuple[Changed, bool]


def allowed(first: RunFolder, other: RunFolder) -> None:
    """Raises `InputError` for a simulated run beside a real one, and for a run beside itself."""
    if bool(first.manifest.get("simulated")) is not bool(other.manifest.get("simulated")):
        raise InputError(
            "a simulated run is not shown beside a real one",
            path=other.path,
            remedy="show simulated beside simulated: its figures are dial settings, not evidence",
        )
    if first.path.resolve() == other.path.resolve():
        raise InputError("the same run twice", path=other.path, remedy="name each run once")


def against(first: RunFolder, other: RunFolder) -> list[Found]:
    """What differs between two runs, each thing once, and whether it counts."""
    found: dict[str, Found] = {}
    for a, b in _pairs(first, other):
        of = settings(a, b)
        for changed, counted in (*((one, True) for one in of.counted), *((one, False) for one in of.beside)):
            what = f"{b.arm}: {changed.what}" if changed.what.startswith(("arm", "first requests")) else changed.what
            found.setdefault(what, (Changed(what, changed.a, changed.b), counted))
    first_arms, other_arms = (", ".join(arm_names(run)) for run in (first, other))
    if first_arms != other_arms:
        found.setdefault("arms", (Changed("arms", first_arms, other_arms), True))
    return list(found.values())


def merged(found: Sequence[Sequence[Found]]) -> tuple[Setting, ...]:
    """What each of the other runs differs by from the first, as one row a thing.

    >>> merged([[(Changed("retries", "0", "2"), True)], []])
    (Setting(what='retries', values=('0', '2', '0'), counted=True),)
    """
    rows: dict[str, list[str]] = {}
    counted: dict[str, bool] = {}
    for place, of in enumerate(found):
        for changed, counts in of:
            row = rows.setdefault(changed.what, [changed.a] * (len(found) + 1))
            row[place + 1] = changed.b
            counted[changed.what] = counts
    return tuple(Setting(what, tuple(row), counted[what]) for what, row in rows.items())


def _pairs(first: RunFolder, other: RunFolder) -> Iterator[tuple[Side, Side]]:
    a, b = ([*dict.fromkeys((record.arm, record.model) for record in asked(run))] for run in (first, other))
    common = [key for key in a if key in b]
    if common:
        yield from ((side_of(first, *key), side_of(other, *key)) for key in common)
    elif a and b:
        yield side_of(first, *a[0]), side_of(other, *b[0])
