"""Accuracy by depth: where in a prompt what answers the question stood, and what the middle costs.

    gap = share right with it early (or late) - share right with it in the middle

Of arms that place gold documents each is one band, and the gap is paired by question: the same question, early and in
the middle. Of full context over a corpus of made probes a question is in the band that holds all that answers it; there
early and middle are different questions. A question counts by its first asked trial; one that could not be placed is
counted apart and in no share. Paired: the interval is a bootstrap over questions, p McNemar's exact; else Newcombe's
interval of two Wilson intervals (Statistics in Medicine 1998, 17:873) and Fisher's exact p. Holm's adjustment holds
over all gaps of a run. Faithful: the share that a judge found supported, where one has judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot

from loadrig.analysis.experiments.cells import Cell
from loadrig.analysis.grading import supported_by
from loadrig.analysis.selection import grouped
from loadrig.arms.placed import NOT_PLACED
from loadrig.context import EVAL_BANDS
from loadrig.corpus.placing import Band, bands_of
from loadrig.graders.scores import read
from loadrig.graders.standing import judges
from loadrig.log import RunFolder
from loadrig.statistics.clustered import mean_difference
from loadrig.statistics.groups import fisher
from loadrig.statistics.keyed import single_each
from loadrig.statistics.paired import mcnemar
from loadrig.statistics.several import holm
from loadrig.stats import Share, wilson
from loadrig.words.record import Record

PLACED, WHOLE = "placed", "full_context"
ALPHA = 0.05
MIDDLE = 0.5


@dataclass(frozen=True, slots=True)
class AtBand:
    """One band: `right` of the questions placed in it, `supported` of those a judge looked at; the least and the most
    depth that was reached; `not_placed`: questions of it that could not be."""

    band: str
    right: Share | None
    supported: Share | None
    least: float | None
    most: float | None
    not_placed: int


@dataclass(frozen=True, slots=True)
class DepthGap:
    """`end` - middle over `n` questions, of which each side has its own where it is not `paired`; then `n` is the
    smaller number. `found`: the end is better, beyond noise."""

    end: str
    middle: str
    n: int
    paired: bool
    at_end: float
    in_middle: float
    gap: float
    low: float | None
    high: float | None
    p: float
    adjusted_p: float = 1.0
    found: bool = False


@dataclass(frozen=True, slots=True)
class Depths:
    """One context of one model: `length` tokens of documents where they were chosen so, None: the whole corpus."""

    name: str
    model: str
    length: int | None
    bands: tuple[AtBand, ...]
    gaps: tuple[DepthGap, ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A question's first trial in a band."""

    record: Record
    band: str
    right: bool | None
    depths: tuple[float, ...]


def depths(run: RunFolder, every: Iterable[Cell]) -> tuple[Depths, ...]:
    """Every context in which something stood at a known depth; none in most runs."""
    groups = grouped(found for cell in every for found in _of(run, cell))
    marks = _supported(run) if groups else {}
    rows = [_row(key, seen, marks) for key, seen in groups.items()]
    gaps = [gap for row in rows for gap in row.gaps]
    judged = iter(
        [
            replace(gap, adjusted_p=p, found=p <= ALPHA and gap.low is not None and gap.low > 0)
            for gap, p in zip(gaps, holm([gap.p for gap in gaps]), strict=True)
        ]
    )
    return tuple(replace(row, gaps=tuple(next(judged) for _ in row.gaps)) for row in rows)


def gap_of(end: Mapping[str, bool], middle: Mapping[str, bool], *, names: tuple[str, str]) -> DepthGap | None:
    """The gap between questions with their answer at an end and in the middle; None where one side has none."""
    if not end or not middle:
        return None
    paired = mcnemar(middle, end)
    if paired is not None:
        difference = mean_difference(single_each(middle), single_each(end))
        assert difference is not None
        return DepthGap(
            *names, n=paired.n, paired=True, at_end=difference.b, in_middle=difference.a, gap=difference.value,
            low=difference.low, high=difference.high, p=paired.p,
        )  # fmt: skip
    a, b = (wilson(sum(side.values()), len(side)) for side in (end, middle))
    assert a is not None
    assert b is not None
    gap = a.share - b.share
    return DepthGap(
        *names, n=min(a.n, b.n), paired=False, at_end=a.share, in_middle=b.share, gap=gap,
        low=gap - hypot(a.share - a.low, b.high - b.share), high=gap + hypot(a.high - a.share, b.share - b.low),
        p=fisher(end, middle),
    )  # fmt: skip


def family(cell: Cell) -> str:
    """`placed-8k` of `placed-8k-b40-60`: what its bands are compared within."""
    return cell.arm.replace(f"-b{'_'.join(band.name for band in bands_of(cell.options['band']))}", "")


def _of(run: RunFolder, cell: Cell) -> Iterator[tuple[tuple[str, str, int | None], _Seen]]:
    """What a cell's questions tell of depth."""
    if cell.kind == PLACED:
        bands = bands_of(cell.options["band"])
        name = "+".join(band.name for band in bands)
        key = (family(cell), cell.model, int(cell.options["length"]))
        for question, records in cell.side.questions.items():
            asked = run.questions.get(question)
            if asked is not None and asked.gold:
                yield key, _Seen(records[0], name, cell.right.get(question), records[0].depths)
    elif cell.kind == WHOLE and cell.options.get("order", "date") == "date":
        for question, records in cell.side.questions.items():
            known = run.questions[question].depths if question in run.questions else ()
            band = next((Band(*one) for one in EVAL_BANDS if known and all(map(Band(*one).holds, known))), None)
            if band is not None:
                yield (cell.arm, cell.model, None), _Seen(records[0], band.name, cell.right.get(question), known)


def _row(key: tuple[str, str, int | None], seen: Sequence[_Seen], marks: Mapping[tuple[str, int], bool]) -> Depths:
    groups = grouped((one.band, one) for one in seen)
    names = sorted(groups, key=lambda name: [band.low for band in bands_of(name)])
    return Depths(*key, tuple(_band(name, groups[name], marks) for name in names), tuple(_gaps(names, groups)))


def _band(name: str, seen: Sequence[_Seen], marks: Mapping[tuple[str, int], bool]) -> AtBand:
    placed = [one for one in seen if one.record.reason != NOT_PLACED]
    right = [one.right for one in placed if one.right is not None]
    supported = [mark for one in placed if (mark := marks.get((one.record.trial, one.record.try_no))) is not None]
    reached = [depth for one in placed for depth in one.depths]
    return AtBand(
        name,
        right=wilson(sum(right), len(right)),
        supported=wilson(sum(supported), len(supported)),
        least=min(reached, default=None),
        most=max(reached, default=None),
        not_placed=len(seen) - len(placed),
    )


def _gaps(names: Sequence[str], groups: Mapping[str, Sequence[_Seen]]) -> Iterator[DepthGap]:
    """The first band and the last against that in the middle; bands of several parts have no place in it."""
    single = [name for name in names if "+" not in name]
    middle = next((name for name in single if bands_of(name)[0].holds(MIDDLE)), None)
    verdicts = {
        name: {one.record.question: one.right for one in groups[name]
               if one.right is not None and one.record.reason != NOT_PLACED}
        for name in single
    }  # fmt: skip
    for end in dict.fromkeys([single[0], single[-1]] if single else []):
        if middle is not None and end != middle:
            found = gap_of(verdicts[end], verdicts[middle], names=(end, middle))
            yield from () if found is None else (found,)


def _supported(run: RunFolder) -> dict[tuple[str, int], bool]:
    """The marks of the first judge who says of answers whether they are supported."""
    return next((marks for judge in judges(read(run.path)) if (marks := supported_by(judge))), {})
