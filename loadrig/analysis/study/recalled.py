"""Which class of question the narrow arms find everything for, and from which k on: the mean over all hides it.

reached_at  the smallest k at which every gold document of every question of the class is found; None: at no k tried
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from loadrig.analysis.retrieval import CategoryRecall
from loadrig.analysis.selection import ALL
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import Finding, listed

Of = Literal["recall", "amending"]
FULL = 1 - 1e-9
MUCH = 0.25  # of a corpus


@dataclass(frozen=True, slots=True)
class Recalled:
    """One class of question over one run's narrow arms: mean recall by k over `n` questions. `of`: gold documents, or
    `amending` ones, which carry the current state."""

    key: str
    run: str
    of: Of
    category: str
    n: int
    by_k: Mapping[int, float]
    reached_at: int | None
    passages: int | None = None  # of the whole corpus

    @property
    def best(self) -> float:
        return max(self.by_k.values())


def recalled(part: Part, of: Of = "recall") -> Iterator[Recalled]:
    """Every class, `all` first. The search does not depend on the model: the first one's figures are taken."""
    first = part.models[:1]
    rows = {row.arm: row.categories for row in part.summary.recall if [row.model] == first}
    classes = dict.fromkeys(found.category for arm in part.narrow for found in rows.get(arm, ()))
    for category in classes:
        means = {k: _mean(rows.get(arm, ()), category, of) for arm, k in part.narrow.items()}
        known = {k: mean for k, mean in means.items() if mean is not None}
        if known:
            by_k = {k: mean for k, (mean, _) in known.items()}
            reached = next((k for k in sorted(by_k) if by_k[k] >= FULL), None)
            n = max(n for _, n in known.values())
            passages = (part.run.manifest.get("corpus") or {}).get("chunks")
            yield Recalled(f"{of}/{part.name}/{category}", part.name, of, category, n, by_k, reached, passages)


def told(found: Sequence[Recalled]) -> Iterator[Finding]:
    """Sentences on one run: what each class needs, and what the mean hides."""
    classes = [one for one in found if one.category != ALL]
    if not classes:
        return
    run, what = classes[0].run, "gold" if classes[0].of == "recall" else "amending"
    never = [one for one in classes if one.reached_at is None]
    keys = tuple(one.key for one in classes)
    if never:
        ks = sorted({k for one in never for k in one.by_k})
        names = [f"{one.category} (at most {_short(one.best)}, n = {one.n})" for one in never]
        yield Finding(
            f"{run}: recall of {what} documents never reaches 1 at k = {', '.join(map(str, ks))} for "
            f"{listed(names)}: what no search of these widths finds, its arms cannot answer but by luck",
            tuple(one.key for one in never),
            "description",
        )
    reached = [f"{one.category} from k = {one.reached_at}" for one in classes if one.reached_at is not None]
    if reached:
        said = f"{run}: recall of {what} documents is 1 for {listed(reached, 8)}{_share(classes)}"
        yield Finding(said, keys, "description")
    yield from _hidden(found, classes)


def _hidden(found: Sequence[Recalled], classes: Sequence[Recalled]) -> Iterator[Finding]:
    """The k whose mean over all hides the class that is worst there."""
    whole = next((one for one in found if one.category == ALL), None)
    if whole is None or len(classes) < 2:
        return
    gaps = {k: whole.by_k[k] - min(one.by_k.get(k, 1.0) for one in classes) for k in whole.by_k}
    k = max(gaps, key=lambda at: gaps[at])
    worst = min(classes, key=lambda one: one.by_k.get(k, 1.0))
    if gaps[k] > 0.05:
        yield Finding(
            f"{whole.run}: the mean recall at k = {k} is {_short(whole.by_k[k])} over {whole.n} questions and hides "
            f"{worst.category} at {_short(worst.by_k[k])} (n = {worst.n}): choose k by class, not by the mean",
            (whole.key, worst.key),
            "description",
        )


def _share(classes: Sequence[Recalled]) -> str:
    """What the largest of these ks is of the corpus, where that is much: who retrieves half of it finds it all."""
    most, passages = max((one.reached_at or 0 for one in classes), default=0), classes[0].passages
    if not passages or most <= MUCH * passages:
        return ""
    return f"; k = {most} is {most} of {passages} passages, which says little of searching"


def _mean(categories: Sequence[CategoryRecall], category: str, of: Of) -> tuple[float, int] | None:
    for found in categories:
        mean = found.recall if of == "recall" else found.amending
        if found.category == category and mean is not None:
            return mean.mean, mean.n
    return None


def _short(value: float) -> str:
    return "1" if value >= FULL else f"{value:.2f}".removeprefix("0")
