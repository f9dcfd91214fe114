"""Tables of a study beside its sentences: the runs, what they differ in, the tests, the criteria."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.figures import SUPERSESSION
from loadrig.analysis.study.finding import p_told
from loadrig.analysis.study.marked import TRAP
from loadrig.analysis.study.rows import Differs
from loadrig.analysis.study.tested import PairTest
from loadrig.analysis.study.whole import Study
from loadrig.analysis.summary import Summary
from loadrig.reports import behaviour, experiments
from loadrig.reports.study import matrix
from loadrig.reports.table import NONE, Table, money, number


def runs(study: Study) -> Table:
    """A run on a row."""
    rows = tuple(
        (
            one.name, one.status, str(one.questions), str(one.arms), str(len(one.models)),
            f"{one.answered}/{one.planned}", str(one.failed), f"{one.calls:,}", number(one.wall_s), money(one.cost),
            one.worst, one.graded_by,
        )
        for one in study.runs
    )  # fmt: skip
    absent = tuple((name, "not run", *[NONE] * 10) for name in study.absent)
    calls = sum(one.calls for one in study.runs)
    headers = (
        "run", "status", "questions", "arms", "models", "answered of planned", "failed", "model calls", "wall s",
        "cost", "safeguards, worst", "graded by",
    )  # fmt: skip
    notes = (
        f"{calls:,} model calls in all, warm-up, probes and repeated tries with them; "
        f"{sum(one.planned for one in study.runs):,} trials planned (one answer each; an agent's takes several calls)",
    )
    return Table("Runs", headers, (*rows, *absent), notes)


def differences(study: Study) -> Table | None:
    """What each run differs in from the first; None for a study of one run."""
    rows: list[tuple[str, ...]] = []
    for one in study.differences:
        said = one.why or ", ".join(changed.what for changed in one.changed) or "nothing that was checked"
        verdict = _is_one(one)
        rows.append(
            (one.run, said, verdict, str(one.common), ", ".join(one.only_here) or NONE, ", ".join(one.beside) or NONE)
        )
    headers = (
        "run",
        f"differs from {study.runs[0].name} in",
        "is that one",
        "questions of both",
        "arms of its own",
        "beside",
    )
    notes = ("over the arms and models that both have; beside: chance and surroundings, named and not counted",)
    return Table("What the runs differ in", headers, tuple(rows), notes) if rows else None


def _is_one(one: Differs) -> str:
    """Whether it is one thing that a run differs in; of runs with nothing in common it cannot be told."""
    if one.why or not one.common:
        return "cannot be told: nothing in common"
    if len(one.changed) > 1:
        return "no: nobody can say which made a difference"
    return "yes" if one.changed else "none: a repeat"


def criteria(study: Study) -> Table:
    """A criterion on a row."""
    rows = tuple(
        (one.choice, one.criterion, one.of or "all", one.figures, one.verdict, one.said) for one in study.criteria
    )
    notes = (
        "figures of the first run, of the width of the context those of every run; a criterion that holds speaks for "
        "the choice on its left, and none of them ranks the arms",
    )
    return Table("Criteria", ("speaks for", "criterion", "of", "figures here", "verdict", "what follows"), rows, notes)


def tests(found: Sequence[PairTest]) -> Table | None:
    """Every paired test, in families."""
    rows = tuple(
        (
            f"{one.scope}, {one.model}", one.category, one.arm, one.against, str(one.n),
            str(one.right_against), str(one.right), str(len(one.lost)), str(len(one.won)), p_told(one.p),
            p_told(one.p_holm), one.word,
            NONE if one.detectable is None else f"{100 * one.detectable:.1f}",
        )
        for one in found
    )  # fmt: skip
    headers = (
        "run, model", "class", "arm", "against", "n", "right against", "right", "lost", "won", "p", "p (Holm)", "is",
        "seen, points",
    )  # fmt: skip
    notes = (
        "exact McNemar over questions, by first answers; Holm over the arms of one model, run and class; seen: the "
        "smallest difference that n questions show four times in five at this level; -: none",
    )
    return Table("Paired tests", headers, rows, notes) if rows else None


def of_section(study: Study, parts: Sequence[Part], section: str) -> Iterator[Table]:
    """The tables of a section, in order; one of which nothing is known is left out."""
    yield from (table for table in _of_section(study, parts, section) if table is not None)


def _of_section(study: Study, parts: Sequence[Part], section: str) -> Iterator[Table | None]:
    figures = study.figures
    match section:
        case "RQ1":
            yield matrix.accuracy(parts, SUPERSESSION)
            yield from (matrix.marks(parts, figures.marked, name) for name in ("stale", "invented", "opening"))
            yield matrix.recalls(figures.recalled, "amending")
            yield tests(figures.tests)
        case "RQ2":
            categories = dict.fromkeys(["all", *(name for part in parts for name in part.categories)])
            yield from (matrix.accuracy(parts, name) for name in categories if name != SUPERSESSION)
            yield matrix.marks(parts, figures.marked, TRAP)
            yield matrix.recalls(figures.recalled, "recall")
            yield from _from_runs(parts, behaviour.tables, "Retrieval miss or reading miss, loud or silent")
            yield from _from_runs(parts, experiments.tables, "Accuracy over k: is there an inverted U")
        case "RQ3":
            yield from (
                matrix.tokens(parts),
                matrix.money(parts),
                matrix.times(parts, "ttft"),
                matrix.times(parts, "service"),
            )
            yield from _from_runs(parts, behaviour.tables, "What one more passage costs")
        case "RQ4":
            for title in ("What an option does", "Does one option hang on another", "Proof of the ablations"):
                yield from _from_runs(parts, experiments.tables, title)
        case "Grounding":
            yield from _from_runs(parts, behaviour.tables, "Grounding gap: each arm minus the control")
            yield from _from_runs(parts, behaviour.tables, "What the control does without documents")
        case "Provenance":
            yield from _from_runs(parts, behaviour.tables, "Provenance")
            yield from _from_runs(parts, behaviour.tables, "Provenance against correctness")
        case "Capability":
            for title in ("Wide against narrow context, by model", "Threshold between models"):
                yield from _from_runs(parts, experiments.tables, title)


def _from_runs(parts: Sequence[Part], tables: Callable[[Summary], Iterator[Table]], title: str) -> Iterator[Table]:
    """A run's own table of that title, under the run's name; rows of single classes, where it has them, left out."""
    for part in parts:
        for table in tables(part.summary):
            if table.title == title:
                by_class = table.headers[0] == "arm, category"
                rows = tuple(row for row in table.rows if not by_class or row[0].endswith(", all"))
                yield Table(f"{title}: {part.name}", table.headers, rows, table.notes)
