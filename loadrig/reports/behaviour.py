"""Tables of how answers behave: found by rule, by arm and category, each with its n; nothing here is a grade.

A share is `3/40`: answers or trials of those in which it applies. A table of which nothing is known is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loadrig.analysis.answers import CategoryAnswers, Figure
from loadrig.analysis.grounding import LABELS
from loadrig.analysis.selection import ALL
from loadrig.analysis.summary import Summary
from loadrig.reports import citations
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, Table, label, number, one_line, share

NO_FACTS = "not checked: the run has no documents.jsonl, so nothing is known of dates, ids and recency"
TOLD = {
    "opening": "opens with the reference's opposite, then states what the key demands",
    "stale": "a superseded value without the current one",
    "invented": "says what must not be said, or yes where the reference says no",
    "trap_taken": "a trap's assumption taken for true, or denied in words that the key does not know",
    "dates_fabricated": "a date that the corpus does not hold",
    "dates_misplaced": "a date that the document cited with it does not hold",
    "ids_fabricated": "a document or number that does not exist",
    "recency_wrong": "taken for the most recent document, and is not",
    "spans_fabricated": "words cited that were not sent",
    "spans_misplaced": "words cited that were sent, but not from that document",
}
LISTED = 10


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the tables by arm: its name, and an arm's figures in one category."""

    name: str
    category: str
    of: CategoryAnswers

    def figure(self, name: str) -> Figure | None:
        return next((figure for figure in self.of.figures if figure.measure == name), None)

    def share(self, name: str) -> str:
        """`3/40`: the measure's total of the trials in which it applies."""
        found = self.figure(name)
        return f"{found.total:.0f}/{found.n}" if found else NONE

    def ratio(self, part: str, whole: str) -> str:
        """`14/78`: one measure's total of another's."""
        found, of = self.figure(part), self.figure(whole)
        return f"{found.total:.0f}/{of.total:.0f}" if found and of else NONE


Column = tuple[str, Callable[[_Row], str]]


def tables(summary: Summary) -> Iterator[Table]:
    """Every table of this section that has something to tell, in order."""
    found = (
        _grounding(summary), _control(summary), _marks(summary), _misses(summary),
        _provenance(summary), _cross(summary), citations.table(summary),
        _tools(summary), _widths(summary), _findings(summary),
    )  # fmt: skip
    yield from (table for table in found if table is not None)


def _marks(summary: Summary) -> Table | None:
    columns: Sequence[Column] = (
        ("stale", lambda row: row.share("stale")),
        ("invented", lambda row: row.share("invented")),
        ("trap taken", lambda row: row.share("trap_taken")),
        ("opening\nagainst facts", lambda row: row.share("opening")),
        ("declined", lambda row: row.share("declined")),
    )
    notes = (
        "by rule, over the trials in which it applies, all repetitions; a right answer's history is not stale",
        "opening against facts: opens against the reference and then states what the key demands; read these first",
    )
    return _by_arm(summary, "Answers by rule", columns, notes)


def _misses(summary: Summary) -> Table | None:
    columns: Sequence[Column] = (
        ("wrong, gold not\nbefore the model", lambda row: row.share("retrieval_miss")),
        ("wrong, though\nit was", lambda row: row.share("reading_miss")),
        ("loud", lambda row: row.share("loud")),
        ("silent", lambda row: row.share("silent")),
        ("silent,\nwell cited", lambda row: row.share("silent_cited")),
    )
    notes = (
        "of the wrong answers: retrieval missed (a quote of the key is not in the prompt) or reading; another "
        "passage may say the same, so the first is at most so many",
        "of what is not right: loud says that it cannot be answered, silent is told as if it were known",
    )
    return _by_arm(summary, "Retrieval miss or reading miss, loud or silent", columns, notes)


def _provenance(summary: Summary) -> Table | None:
    columns: Sequence[Column] = (
        ("fabricated\ndates", lambda row: row.ratio("dates_fabricated", "dates_cited")),
        ("misplaced\ndates", lambda row: row.ratio("dates_misplaced", "dates_cited")),
        ("fabricated\nids", lambda row: row.ratio("ids_fabricated", "ids_cited")),
        ("wrong\nrecency", lambda row: row.ratio("recency_wrong", "recency_claims")),
        ("answers\nwith any", lambda row: row.share("ill_sourced")),
    )
    notes = (
        "fabricated: nowhere in the corpus, of all that are cited; misplaced: in the corpus, but not in a document "
        "cited in the same sentence: on a large corpus read this one",
        "recency: claims that a named document is the most recent, by the true dates; only known wordings are "
        "seen, so this is a lower bound",
    )
    found = _by_arm(summary, "Provenance", columns, notes)
    if found is None and summary.behaviour.answers and not summary.behaviour.facts:
        return Table("Provenance", ("arm",), (), (NO_FACTS,))
    return found


def _cross(summary: Summary) -> Table | None:
    columns: Sequence[Column] = (
        ("right,\nsound", lambda row: str(row.of.right_sound)),
        ("right,\nill-sourced", lambda row: str(row.of.right_ill)),
        ("wrong,\nsound", lambda row: str(row.of.wrong_sound)),
        ("wrong,\nill-sourced", lambda row: str(row.of.wrong_ill)),
    )
    notes = ("graded answers of all repetitions; provenance can fail while the answer is still right: it goes first",)
    rows = [row for row in _rows(summary) if row.category == ALL and _graded(row.of)]
    return _table("Provenance against correctness", columns, rows, notes) if rows else None


def _graded(of: CategoryAnswers) -> int:
    return of.right_sound + of.right_ill + of.wrong_sound + of.wrong_ill


def _grounding(summary: Summary) -> Table | None:
    rows = tuple(
        (
            label(gap.arm, gap.model, models_of(summary)), str(gap.n), f"{gap.right:.2f}", f"{gap.control:.2f}",
            f"{gap.gap:+.2f}", _ends(gap.low, gap.high), f"{gap.p:.4f}", f"{gap.p_holm:.4f}",
            "best" if gap.best else "",
        )
        for gap in summary.behaviour.gaps
    )  # fmt: skip
    headers = ("arm", "questions", "right", "control", "gap", "95 % interval", "p", "p (Holm)", "")
    notes = (
        "paired by question, first answers, dropped questions kept; interval: bootstrap over questions; p: McNemar's "
        "exact test; the best arm was chosen after the fact, so its gap flatters",
    )
    return Table("Grounding gap: each arm minus the control", headers, rows, notes) if rows else None


def _control(summary: Summary) -> Table | None:
    rows = tuple(
        (row.category if len(models_of(summary)) < 2 else f"{row.category} ({row.model})", str(row.n),
         *(str(row.labels[name]) for name in LABELS))
        for row in summary.behaviour.control
    )  # fmt: skip
    notes = (
        "guess: hedged; refusal: declined; confabulation: told flatly, or states what was superseded, refused or never "
        "there; docs/quantities.md has the order of the rules",
    )
    return Table("What the control does without documents", ("category", "n", *LABELS), rows, notes) if rows else None


def _tools(summary: Summary) -> Table | None:
    rows = []
    for arm in summary.behaviour.tools:
        name = label(arm.arm, arm.model, models_of(summary))
        for row in arm.categories:
            calls = row.use.per_trial
            by_tool = ", ".join(f"{tool} {n}" for tool, n in row.use.by_tool.items())
            spread = f"{number(calls.mean, 1)} ({calls.min} to {calls.max})"
            again, capped = share(row.reformulated), share(row.capped)
            told = (f"{row.use.warned}/{row.use.looped}", f"{row.use.overdrawn}/{row.use.spent}")
            rows.append((f"{name}, {row.category}", str(calls.n), spread, by_tool, again, capped, *told))
    headers = (
        "arm, category", "trials", "calls (min to max)", "by tool", "searched again", "at the cap", "loop:\ntold/ended",
        "budget:\ntold/ended",
    )  # fmt: skip
    notes = (
        "searched again: in other words after a search that found nothing, of all trials",
        "told: trials in which a call was not run and the model was told why; ended: those that it ended, unanswered",
    )
    return Table("Agentic behaviour", headers, tuple(rows), notes) if rows else None


def _widths(summary: Summary) -> Table | None:
    rows = tuple(
        (
            label(", ".join(width.arms), width.model, models_of(summary)), number(width.each, 1), number(width.start),
            number(width.full), number(width.crossover, 1), number(width.passages),
        )
        for width in summary.behaviour.widths
    )  # fmt: skip
    headers = ("arms", "tokens a passage", "at k = 0", "full context", "crossover k", "of passages")
    notes = (
        "prompt tokens a question by k, least squares; crossover: the k at which retrieval takes as many tokens as "
        "full context; over the number of passages it is never reached",
    )
    return Table("What one more passage costs", headers, rows, notes) if rows else None


def _findings(summary: Summary) -> Table | None:
    rows = []
    for measure, told in TOLD.items():
        kind = [one for one in summary.behaviour.findings if one.measure == measure]
        once = {(one.arm, one.model, one.question): one for one in kind}
        found = list(once.values())
        rows += [
            (told, label(one.arm, one.model, models_of(summary)), one.question, one.trial, one_line(one.what))
            for one in found[:LISTED]
        ]
    notes = (f"the first {LISTED} of a kind, one repetition each; the tables above count all",)
    return (
        Table("For a grader to read", ("found", "arm", "question", "trial", "words"), tuple(rows), notes)
        if rows
        else None
    )


def _rows(summary: Summary) -> Iterator[_Row]:
    for arm in summary.behaviour.answers:
        name = label(arm.arm, arm.model, models_of(summary))
        for of in arm.categories:
            yield _Row(name, of.category, of)


def _by_arm(summary: Summary, title: str, columns: Sequence[Column], notes: tuple[str, ...]) -> Table | None:
    """A row an arm and, below it, one for each category in which anything was found; columns of which nothing is known
    are left out."""

    def told(row: _Row) -> bool:
        cells = [cell(row) for _, cell in columns]
        return any(cell != NONE and (row.category == ALL or not cell.startswith("0/")) for cell in cells)

    rows = [row for row in _rows(summary) if told(row)]
    notes = (*notes, "categories in which nothing was found are left out here, not in summary.json")
    used = [(header, cell) for header, cell in columns if any(cell(row) != NONE for row in rows)]
    return _table(title, used, rows, notes) if rows else None


def _table(title: str, columns: Sequence[Column], rows: Sequence[_Row], notes: tuple[str, ...]) -> Table:
    cells = tuple((f"{row.name}, {row.category}", *(cell(row) for _, cell in columns)) for row in rows)
    return Table(title, ("arm, category", *(header for header, _ in columns)), cells, notes)


def _ends(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else f"{low:+.2f} to {high:+.2f}"
