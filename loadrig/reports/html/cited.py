"""Citations: whether the words that answers cite were sent, where there are any."""

from __future__ import annotations

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports import citations
from loadrig.reports.html import Section
from loadrig.reports.html.pieces import Grid, body, grid, paragraph

LISTED = 20
KINDS = {"spans_fabricated": "not sent", "spans_misplaced": "sent from another document"}


def section(_: RunFolder, summary: Summary) -> Section | None:
    """None where no arm was to cite and none did."""
    table = citations.table(summary)
    if table is None:
        return None
    found = [one for one in summary.behaviour.findings if one.measure in KINDS]
    listed = Grid(
        "Spans to read",
        ("cited words", "what is wrong", "arm", "question", "trial"),
        tuple((one.what, KINDS[one.measure], one.arm, one.question, one.trial) for one in found[:LISTED]),
        (f"the first {LISTED} of {len(found)} on file",) if len(found) > LISTED else (),
        words=True,
    )
    return Section(
        "Citations",
        body(
            paragraph("A span is held against what the same trial sent, character by character but for white space."),
            grid(table),
            grid(listed) if found else None,
        ),
    )
