"""Tables of what was found and what was right, by category of question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadrig.analysis.accuracy import CategoryAccuracy
from loadrig.analysis.grading import PRECHECK
from loadrig.analysis.retrieval import CategoryRecall
from loadrig.analysis.summary import Summary
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, Table, fraction, label, one_line, share
from loadrig.stats import Share

RECALL = {
    "recall": "Recall of gold documents",
    "evidence": "Evidence put before the model",
    "amending": "Recall of amending documents",
}


def recalls(summary: Summary, *, figures: Sequence[str] = tuple(RECALL)) -> list[Table]:
    """Recall of documents, of evidence and of amending documents; a table of which nothing is known is left out."""
    categories = list(dict.fromkeys(found.category for row in summary.recall for found in row.categories))
    tables = []
    for figure in figures:
        rows = []
        for arm in summary.recall:
            found = {of.category: _mean(of, figure) for of in arm.categories}
            name = label(arm.arm, arm.model, models_of(summary))
            rows.append((name, *(found.get(category, "-") for category in categories)))
        known = [row for row in rows if set(row[1:]) != {"-"}]
        if known:
            notes = [f"crediting rule {summary.crediting_rule}; means over questions"]
            notes += _lost(summary) if figure != "evidence" else []
            tables.append(Table(RECALL[figure], ("arm", *categories), tuple(known), tuple(notes)))
    return tables


def _lost(summary: Summary) -> list[str]:
    """The arms of which trials are in no recall."""
    found = [f"{label(one.arm, one.model, models_of(summary))} {one.lost}" for one in summary.recall if one.lost]
    return [f"trials left out, for they failed and their hits were lost with them: {', '.join(found)}"] if found else []


def accuracy(summary: Summary, *, full: bool = True) -> Table:
    """Accuracy over the questions asked, those the control answered rightly left out; in full with intervals, stale and
    invented answers, and the tally over all repetitions."""
    cell: Callable[[CategoryAccuracy], str] = (lambda of: share(of.of_asked)) if full else _short
    categories = list(dict.fromkeys(found.category for row in summary.accuracy for found in row.categories))
    is_graded = summary.grading.by != PRECHECK
    scaled = any(row.categories[0].scored for row in summary.accuracy)
    rows = []
    for arm in summary.accuracy:
        found = {of.category: cell(of) for of in arm.categories}
        whole = arm.categories[0]
        graded = f"{whole.of_graded.k}/{whole.of_graded.n}" if whole.of_graded else NONE
        cells = [found.get(category, NONE) for category in categories]
        cells += [graded, str(whole.unanswered), str(whole.failed)]
        cells += [_count(whole.stale), _count(whole.invented)] if full or is_graded else []
        cells += [str(whole.no_key), f"{whole.right}/{whole.checked}"] if full else []
        cells += [f"{fraction(whole.score)} ({whole.scored})" if whole.scored else NONE] if scaled else []
        rows.append((label(arm.arm, arm.model, models_of(summary)), *cells))
    headers = (
        "arm",
        *categories,
        "of\ngraded",
        "un-\nanswered",
        "failed",
        *(("stale", "in-\nvented") if full or is_graded else ()),
        *(("not\ngraded" if is_graded else "no key", "all repetitions") if full else ()),
        *(("graded\nscale",) if scaled else ()),
    )
    notes = ["right of the questions asked that have a key, by the first answer to each; pre-check only, not a grade"]
    if is_graded:
        notes = [f"right of the questions asked and graded, by the first answer to each; by {summary.grading.by}"]
    if full:
        notes += ["in brackets Wilson's 95 % interval", "repetitions of a question are not independent: no interval"]
    if summary.dropped:
        notes.append(f"left out, because the control answered them rightly: {len(summary.dropped)}")
    return Table(f"Accuracy by {summary.grading.by}", headers, tuple(rows), tuple(notes))


def dropped(summary: Summary) -> Table | None:
    """Questions that need no documents; None when there are none."""
    rows = tuple((drop.question, drop.category, drop.model, one_line(drop.answer)) for drop in summary.dropped)
    title = "Dropped from accuracy: the control answered them rightly"
    return Table(title, ("question", "category", "model", "answer"), rows) if rows else None


def repeated(summary: Summary) -> Table | None:
    """Identical answers across repetitions; None when nothing was repeated."""
    rows = tuple(
        (label(row.arm, row.model, models_of(summary)), f"{row.same} of {row.pairs}", "yes" if row.flagged else "no")
        for row in summary.repeated_answers
    )
    notes = ("over 5 % is flagged, as the mark of a cache; never the control, which refuses in the same words",)
    return Table("Identical answers in repetitions", ("arm", "pairs", "flagged"), rows, notes) if rows else None


def _mean(of: CategoryRecall, figure: str) -> str:
    mean = getattr(of, figure)
    return "-" if mean is None else f"{fraction(mean.mean)} ({mean.n})"


def _count(of: Share | None) -> str:
    return NONE if of is None else f"{of.k}/{of.n}"


def _short(of: CategoryAccuracy) -> str:
    return NONE if of.of_asked is None else f"{of.of_asked.k}/{of.of_asked.n}"
