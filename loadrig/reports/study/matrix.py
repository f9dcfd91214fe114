"""One figure of every arm, a run and model on a column: the runs of a study side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from loadrig.analysis.selection import ALL, CONTROL, arm_names
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.marked import TOLD, Marked
from loadrig.analysis.study.recalled import Recalled
from loadrig.reports.table import NONE, Table, amount, bound_mark, bound_notes, fraction, label, number, several, share

Cell = Callable[[Part, str, str], str]  # of a run, an arm and a model


def accuracy(parts: Sequence[Part], category: str) -> Table | None:
    """Questions right of those asked, by the first answer; dropped ones left out."""

    def cell(part: Part, arm: str, model: str) -> str:
        rows = (row for row in part.summary.accuracy if (row.arm, row.model) == (arm, model))
        return next((share(of.of_asked) for row in rows for of in row.categories if of.category == category), NONE)

    graders = sorted({part.summary.grading.by for part in parts})
    notes = (
        f"right of the questions asked that have a key, by the first answer to each; by {', '.join(graders)}; Wilson's "
        "95 % interval; questions that the control answered rightly are left out",
    )
    return _matrix(f"Right: {category}", parts, cell, notes)


def marks(parts: Sequence[Part], found: Sequence[Marked], measure: str) -> Table | None:
    """Trials in which a rule speaks."""
    known = {(one.run, one.arm, one.model): f"{one.k}/{one.n}" for one in found if one.measure == measure}
    if not any(one.k for one in found if one.measure == measure):
        return None
    titles = {
        "stale": "Stale answers", "invented": "Invented answers", "opening": "Opening against facts",
        "trap_taken": "Traps taken",
    }  # fmt: skip
    notes = (f"{TOLD[measure]}; by rule, trials of all repetitions, no grade",)
    return _matrix(titles[measure], parts, lambda part, arm, model: known.get((part.name, arm, model), NONE), notes)


def recalls(found: Sequence[Recalled], of: str) -> Table | None:
    """Mean recall by class and k, of every run."""
    mine = [one for one in found if one.of == of]
    ks = sorted({k for one in mine for k in one.by_k})
    rows = tuple(
        (
            f"{one.run}, {one.category}", str(one.n), *(fraction(one.by_k.get(k)) for k in ks),
            NONE if one.category == ALL else "never" if one.reached_at is None else f"k = {one.reached_at}",
        )
        for one in mine
    )  # fmt: skip
    title = "Recall of gold documents by k" if of == "recall" else "Recall of amending documents by k"
    notes = (
        "narrow arms; means over questions that have such documents; 1 from: the smallest k that finds all of them",
    )
    return Table(title, ("run, class", "questions", *(f"k = {k}" for k in ks), "1 from"), rows, notes) if rows else None


def tokens(parts: Sequence[Part]) -> Table | None:
    """Prompt and completion tokens a question."""

    def cell(part: Part, arm: str, model: str) -> str:
        row = part.figures(arm, model)
        return (
            NONE
            if row is None
            else f"{number(row.tokens_per_question.prompt)}/{number(row.tokens_per_question.output)}"
        )

    notes = (
        "prompt/completion, means a question, all turns; down a column they compare arms, across models they do not",
    )
    return _matrix("Tokens a question", parts, cell, notes, control=True)


def money(parts: Sequence[Part]) -> Table | None:
    """Money a question asked, and right."""

    def cell(part: Part, arm: str, model: str) -> str:
        row = part.figures(arm, model)
        return NONE if row is None else f"{amount(row.cost.per_asked)} / {amount(row.cost.per_correct)}"

    currencies = ", ".join(sorted({part.summary.currency or "cost" for part in parts}))
    notes = ("a question asked / right (by the pre-check, which knows every repetition); the only cost across models",)
    return _matrix(f"{currencies} a question", parts, cell, notes, control=True)


def times(parts: Sequence[Part], measure: str) -> Table | None:
    """p50/p95 of a time, of successes."""

    def cell(part: Part, arm: str, model: str) -> str:
        row = part.figures(arm, model)
        if row is None:
            return NONE
        of = (row.ttft if measure == "ttft" else row.service).successes
        return several(of.p50, of.p95) + bound_mark(row.client_bound)

    bound = [row.client_bound for part in parts for row in part.summary.arms]
    title = "TTFT s, p50/p95" if measure == "ttft" else "Service time s, p50/p95"
    notes = ("of timed successes; *: fewer than 5 samples lie beyond", *bound_notes(*bound))
    return _matrix(title, parts, cell, notes, control=True)


def _matrix(
    title: str, parts: Sequence[Part], cell: Cell, notes: tuple[str, ...], *, control: bool = False
) -> Table | None:
    columns = [(part, model) for part in parts for model in part.models]
    models = sorted({model for _, model in columns})
    rows = []
    for arm in _arms(parts, control=control):
        cells = [cell(part, arm, model) for part, model in columns]
        if set(cells) != {NONE}:
            rows.append((arm, *cells))
    headers = ("arm", *(label(part.name, model, models) for part, model in columns))
    return Table(title, headers, tuple(rows), notes) if rows else None


def _arms(parts: Sequence[Part], *, control: bool) -> Iterator[str]:
    """Every arm of every run, the control first, then narrow ones by k, then wide ones."""
    if control and any(CONTROL in arm_names(part.run) for part in parts):
        yield CONTROL
    narrow: Mapping[str, int] = {arm: k for part in parts for arm, k in part.narrow.items()}
    yield from sorted(narrow, key=lambda arm: (narrow[arm], arm))
    yield from dict.fromkeys(arm for part in parts for arm in part.wide)
