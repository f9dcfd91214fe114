"""Refusals and accuracy by the size of the context, and the length up to which a model keeps its accuracy.

    refused  = trials that the model refused (its stop reason) / trials
    declined = trials refused, or whose first sentence says that there is no answer / trials of questions with gold

Sizes are, of arms that place gold documents, the length each was told; of all other arms but the control, the prompt
tokens of a trial's last turn, by powers of two. A question's value is the mean over its trials, so that several bands
or arms do not make several questions of it. Refusals rise where they are more at the longest than at the shortest size,
over the questions of both, beyond noise after Holm's adjustment over the run.

    effective length = the longest length with a score >= 0.85 x base

where base is the mean score of contexts of up to 1,000 tokens or, where there are none, of the shortest: then by
construction it is at least that. (NoLiMa's rule, arXiv:2502.05167; RULER's, arXiv:2404.06654, is a score of .856 at
any length: `ABSOLUTE`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loadrig.analysis.bands import ALPHA, PLACED
from loadrig.analysis.contexts import Looked
from loadrig.analysis.experiments.cells import Cell
from loadrig.analysis.selection import grouped
from loadrig.arms.placed import NOT_PLACED
from loadrig.corpus.placing import LEAST
from loadrig.cost import prompt_tokens
from loadrig.statistics.clustered import mean, mean_difference
from loadrig.statistics.several import holm
from loadrig.stats import wilson
from loadrig.words.record import Record

KEPT, ABSOLUTE = 0.85, 0.856
SHORT = 1_000
OTHERS = "other arms"
_SMALLEST = 1_000

Key = tuple[str, str]  # family, model


@dataclass(frozen=True, slots=True)
class Rate:
    """`k` of `trials` of `n` questions: the mean over questions of a question's own share, with its 95 % interval (a
    bootstrap over questions; where all are alike, Wilson's of n)."""

    k: int
    trials: int
    n: int
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class AtSize:
    """Trials of up to so many tokens (of arms that place, about so many)."""

    size: int
    right: Rate | None
    refused: Rate
    declined: Rate | None


@dataclass(frozen=True, slots=True)
class Rise:
    """`what` at the longest size against the shortest, over the `n` questions of both: shares, their difference and its
    interval, p by permutation. `found`: it rises, beyond noise."""

    what: str
    shortest: int
    longest: int
    n: int
    a: float
    b: float
    low: float | None
    high: float | None
    p: float
    adjusted_p: float = 1.0
    found: bool = False


@dataclass(frozen=True, slots=True)
class Effective:
    """`length` keeps the threshold, None: not even the shortest does; `dips`: shorter ones that do not. `sure`: the
    longest of which the whole interval is above the threshold."""

    base: float
    threshold: float
    length: int | None
    shortest: int
    longest: int
    dips: tuple[int, ...] = ()
    sure: int | None = None


@dataclass(frozen=True, slots=True)
class Lengths:
    """Sizes of one family of arms and one model, rising."""

    name: str
    model: str
    sizes: tuple[AtSize, ...]
    rises: tuple[Rise, ...]
    effective: Effective | None
    absolute: Effective | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """A trial's size and what is known of it."""

    record: Record
    size: int
    refused: bool
    declined: bool | None
    right: bool | None


def effective_length(
    scores: Mapping[int, float], *, base: float | None = None, threshold: float | None = None
) -> Effective | None:
    """The longest of these lengths that keeps the score; None of no scores. `base`: where the short contexts are not
    among them; `threshold`: a score of its own in place of 0.85 x base."""
    if not scores:
        return None
    if base is None:
        short = [length for length in scores if length <= SHORT] or [min(scores)]
        base = sum(scores[length] for length in short) / len(short)
    least = KEPT * base if threshold is None else threshold
    kept = [length for length, score in scores.items() if score >= least]
    longest = max(kept, default=None)
    dips = sorted(length for length in scores if longest is not None and length < longest and length not in kept)
    return Effective(base, least, longest, min(scores), max(scores), tuple(dips))


def lengths(every: Iterable[Cell], looked: Iterable[Looked]) -> tuple[Lengths, ...]:
    """Of every family of arms and model that has two sizes and more."""
    declined = {(one.record.trial, one.record.try_no): one for one in looked}
    groups = grouped(found for cell in every for found in _of(cell, declined))
    rows = [_row(key, seen) for key, seen in groups.items()]
    rows = [row for row in rows if len(row.sizes) > 1]
    rises = [rise for row in rows for rise in row.rises]
    judged = iter(
        [
            replace(rise, adjusted_p=p, found=p <= ALPHA and rise.low is not None and rise.low > 0)
            for rise, p in zip(rises, holm([rise.p for rise in rises]), strict=True)
        ]
    )
    return tuple(replace(row, rises=tuple(next(judged) for _ in row.rises)) for row in rows)


def rate(values: Mapping[str, Sequence[bool]]) -> Rate | None:
    """The share over questions; None of none."""
    k, trials = sum(sum(of) for of in values.values()), sum(map(len, values.values()))
    if k in (0, trials):  # nothing varies, so nothing can be drawn: the questions alone bound it
        bound = wilson(len(values) if k else 0, len(values))
        return None if bound is None else Rate(k, trials, bound.n, bound.share, bound.low, bound.high)
    found = mean({question: [float(value) for value in of] for question, of in values.items()})
    assert found is not None, "there are trials"
    return Rate(k, trials, found.n, found.value, found.low, found.high)


def size_of(record: Record) -> int | None:
    """The least of 1,000, 2,000, 4,000, ... that the last turn's prompt does not pass; None where that is not known."""
    usage = next((turn.usage for turn in reversed(record.turns) if turn.usage is not None), None)
    tokens = 0 if usage is None else prompt_tokens(usage)
    size = _SMALLEST
    while size < tokens:
        size *= 2
    return size if tokens else None


def _of(cell: Cell, looked: Mapping[tuple[str, int], Looked]) -> Iterator[tuple[Key, _Seen]]:
    for question, records in cell.side.questions.items():
        for number, record in enumerate(records):
            size = _told(cell, record) if cell.kind == PLACED else size_of(record)
            if size is None or record.reason == NOT_PLACED:
                continue
            one = looked.get((record.trial, record.try_no))
            says = None if one is None or not one.context.question.gold else one.values["declined"]
            yield (PLACED if cell.kind == PLACED else OTHERS, cell.model), _Seen(
                record, size, record.reason == "refused", None if says is None else bool(says),
                cell.right.get(question) if number == 0 else None,
            )  # fmt: skip


def _told(cell: Cell, record: Record) -> int | None:
    """The length an arm was told, where the context came to it: a trap over a small corpus has less before it. A trial
    that failed does not say; with gold it had the length, else it would not have been placed."""
    length = int(cell.options["length"])
    if record.context_tokens is None:
        asked = cell.side.run.questions.get(record.question)
        return length if asked is not None and asked.gold else None
    return length if record.context_tokens >= LEAST * length else None


def _row(key: Key, seen: Sequence[_Seen]) -> Lengths:
    groups = grouped((one.size, one) for one in seen)
    sizes = tuple(_at(size, groups[size]) for size in sorted(groups))
    scored = {one.size: one.right for one in sizes if one.right is not None} if key[0] == PLACED else {}
    shares = {size: found.share for size, found in scored.items()}
    effective, absolute = effective_length(shares), effective_length(shares, threshold=ABSOLUTE)
    return Lengths(*key, sizes, tuple(_rises(key, groups)), _sure(effective, scored), _sure(absolute, scored))


def _at(size: int, seen: Sequence[_Seen]) -> AtSize:
    refused = rate(_values(seen, "refused"))
    assert refused is not None, "a size has a trial"
    return AtSize(size, rate(_values(seen, "right")), refused, rate(_values(seen, "declined")))


def _values(seen: Iterable[_Seen], what: str) -> dict[str, list[bool]]:
    known = ((one.record.question, getattr(one, what)) for one in seen)
    return grouped((question, value) for question, value in known if value is not None)


def _rises(key: Key, groups: Mapping[int, Sequence[_Seen]]) -> Iterator[Rise]:
    """Whether refusals rise. Other arms may decline rightly, as what answers need not be before them."""
    shortest, longest = min(groups), max(groups)
    for what in ("refused", "declined") if key[0] == PLACED else ("refused",):
        a, b = (
            {question: [float(value) for value in of] for question, of in _values(groups[size], what).items()}
            for size in (shortest, longest)
        )
        both = a.keys() & b.keys()
        if not both or shortest == longest:
            continue
        if not any(sum(of[question]) for of in (a, b) for question in both):  # the common case, and nothing to draw
            yield Rise(what, shortest, longest, len(both), 0.0, 0.0, 0.0, 0.0, 1.0)
        elif (found := mean_difference(a, b)) is not None:
            yield Rise(what, shortest, longest, found.n, found.a, found.b, found.low, found.high, found.p)


def _sure(found: Effective | None, scored: Mapping[int, Rate]) -> Effective | None:
    if found is None:
        return None
    sure = [size for size, of in scored.items() if of.low is not None and of.low >= found.threshold]
    return replace(found, sure=max(sure, default=None))
