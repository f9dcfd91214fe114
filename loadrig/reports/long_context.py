"""Tables of long contexts: accuracy by depth, what the middle costs, refusals by size, how far accuracy is kept.

A gap or a rise is given with its interval and its p, and claimed only where it is beyond noise. A table of which the
run has nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.lengths import ABSOLUTE, KEPT, SHORT, Effective, Lengths, Rate
from loadrig.analysis.summary import Summary
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, Table, fraction, label, number, share

NO_SYSTEM = "arms named placed know which documents answer: a probe of the model's reading, and no system's accuracy"
OWN = "no published figure of a model says how it reads these documents: only a run over them does"
NO_PROOF = (
    "a high score on single needles says that one sentence is found in a long context, and is no proof that the "
    "context is used: hold it against the other kinds"
)


def tables(summary: Summary) -> Iterator[Table]:
    """Every table of this section that has something to tell, in order."""
    found = (_depths(summary), _gaps(summary), _sizes(summary), _effective(summary), _probes(summary))
    yield from (table for table in found if table is not None)


def short(summary: Summary) -> Iterator[Table]:
    """Those for a terminal: by depth, and what the middle costs."""
    yield from (table for table in (_depths(summary), _gaps(summary)) if table is not None)


def _depths(summary: Summary) -> Table | None:
    rows = tuple(
        (
            f"{label(one.name, one.model, models_of(summary))}, {band.band} %", share(band.right),
            share(band.supported), _reached(band.least, band.most), str(band.not_placed),
        )
        for one in summary.long_context.depths
        for band in one.bands
    )  # fmt: skip
    headers = ("context, band", "right", "faithful", "depth reached", "not placed")
    notes = (
        "questions by their first answer; depth: where the middle of what answers lies, of all tokens of documents; in "
        "brackets Wilson's 95 % interval; faithful: where a judge has looked",
        NO_SYSTEM,
        OWN,
    )
    return Table("Accuracy by depth", headers, rows, notes) if rows else None


def _gaps(summary: Summary) -> Table | None:
    rows = tuple(
        (
            f"{label(one.name, one.model, models_of(summary))}: {gap.end} % over {gap.middle} %", str(gap.n),
            "yes" if gap.paired else "no", f"{gap.at_end:.2f}", f"{gap.in_middle:.2f}", f"{gap.gap:+.2f}",
            _ends(gap.low, gap.high), f"{gap.adjusted_p:.4f}", "found" if gap.found else "inside noise",
        )
        for one in summary.long_context.depths
        for gap in one.gaps
    )  # fmt: skip
    headers = ("end over middle", "questions", "paired", "end", "middle", "gap", "95 % interval", "p (Holm)", "is")
    notes = ("inside noise is not that nothing is there: so many questions may be too few to see it",)
    return Table("Is the middle missed", headers, rows, notes) if rows else None


def _sizes(summary: Summary) -> Table | None:
    rows = tuple(
        (
            f"{label(one.name, one.model, models_of(summary))}, {number(at.size)}", _rate(at.refused),
            _rate(at.declined), _rate(at.right),
        )
        for one in summary.long_context.lengths
        for at in one.sizes
    )  # fmt: skip
    headers = ("arms, tokens up to", "refused", "declined, had gold", "right")
    notes = [
        "trials, their questions in brackets, the mean over questions and its 95 % interval; refused: by the model's "
        "stop reason; declined: refused, or says that the documents do not say, of questions that they answer",
        "placed: by tokens of documents; other arms but the control: by prompt tokens of the last turn",
    ]
    notes += [line for one in summary.long_context.lengths for line in _rises(one)]
    return Table("Refusals and accuracy by size of context", headers, rows, tuple(notes)) if rows else None


def _rises(of: Lengths) -> Iterator[str]:
    """One sentence for each rise that was looked for."""
    for rise in of.rises:
        figures = (
            f"{of.name}, {of.model}: {rise.what} {rise.a:.1%} at {number(rise.shortest)}, {rise.b:.1%} at "
            f"{number(rise.longest)} (n = {rise.n}, {_ends(rise.low, rise.high)}, p {rise.adjusted_p:.4f})"
        )
        yield figures + (": it rises with the context" if rise.found else ": no rise beyond noise")


def _effective(summary: Summary) -> Table | None:
    rows = []
    for one in summary.long_context.lengths:
        for rule, found in ((f"{KEPT} x base", one.effective), (f"{ABSOLUTE}", one.absolute)):
            if found is not None:
                name = f"{label(one.name, one.model, models_of(summary))}, {rule}"
                base = fraction(found.base) if found is one.effective else NONE
                rows.append((name, base, fraction(found.threshold), _length(found), number(found.sure), _dips(found)))
    headers = ("arms, rule", "base", "threshold", "effective length", "surely", "dips")
    notes = (
        f"the longest length of those tried that keeps the threshold; base: mean of contexts of up to {number(SHORT)} "
        "tokens, else the shortest tried, which then keeps it by construction; surely: the whole interval does",
        OWN,
    )
    return Table("Effective length", headers, tuple(rows), notes) if rows else None


def _probes(summary: Summary) -> Table | None:
    rows = tuple(
        (label(one.arm, one.model, models_of(summary)), share(one.single), share(one.others))
        for one in summary.long_context.probes
    )
    return (
        Table("Single needles and all other probes", ("arm", "single", "others"), rows, (NO_PROOF,)) if rows else None
    )


def _length(found: Effective) -> str:
    if found.length is None:
        return f"below {number(found.shortest)}"
    return f"{number(found.length)}{' or more' if found.length == found.longest else ''}"


def _dips(found: Effective) -> str:
    return ", ".join(number(length) for length in found.dips) or NONE


def _rate(of: Rate | None) -> str:
    """`3/40 (20): .075 [.010, .150]`."""
    if of is None:
        return NONE
    bounds = "" if of.low is None or of.high is None else f" [{fraction(of.low)}, {fraction(of.high)}]"
    return f"{of.k}/{of.trials} ({of.n}): {fraction(of.share)}{bounds}"


def _reached(least: float | None, most: float | None) -> str:
    return NONE if least is None or most is None else f"{least:.1%} to {most:.1%}"


def _ends(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else f"{low:+.2f} to {high:+.2f}"
