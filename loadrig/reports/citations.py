"""The table of citations: which cited words were sent, by arm, and by the categories in which some were not."""

from __future__ import annotations

from loadrig.analysis.citations import CategoryCitations
from loadrig.analysis.selection import ALL
from loadrig.analysis.summary import Summary
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, Table, label
from loadrig.stats import Share

HEADERS = (
    "arm, category", "answers", "citing", "neither citing\nnor declining", "spans", "fabricated", "misplaced",
    "not\nchecked", "answers with a\nfabricated span", "with a\nmisplaced one", "wrong, silent,\nspans sound",
)  # fmt: skip
NOTES = (
    "a span is fabricated when no text sent in the trial holds it, misplaced when the document it names does not but "
    "another does; white space aside, character by character: docs/citations.md",
    "shares are of the answers with a span that was checked, with Wilson's interval; repetitions are in it and are not "
    "independent; spans of one answer have no interval",
)


def table(summary: Summary) -> Table | None:
    """None where no arm was to cite and none did."""
    rows = []
    for arm in summary.behaviour.citations:
        name = label(arm.arm, arm.model, models_of(summary))
        rows += [_row(name, of) for of in arm.categories if of.category == ALL or of.fabricated or of.misplaced]
    return Table("Citations: are the words that are cited there?", HEADERS, tuple(rows), NOTES) if rows else None


def _row(name: str, of: CategoryCitations) -> tuple[str, ...]:
    counts = (of.answers, of.citing, of.bare, of.spans, of.fabricated, of.misplaced, of.unchecked)
    return (f"{name}, {of.category}", *map(str, counts), rate(of.rate), rate(of.misplacing), str(of.silent_sound))


def rate(found: Share | None) -> str:
    """A small share with four digits: `2/10,000 [.0001, .0007]`."""
    if found is None:
        return NONE
    low, high = (f"{end:.4f}".removeprefix("0") for end in (found.low, found.high))
    return f"{found.k:,}/{found.n:,} [{low}, {high}]"
