"""Tables of who graded, how far graders agree, whether a judge may be used, and faithfulness."""

from __future__ import annotations

from loadrig.analysis.grading import PRECHECK
from loadrig.analysis.summary import Summary
from loadrig.context import FAITHFULNESS_FLOOR
from loadrig.graders.agreement import Agreement
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, Table, fraction, label, share

KAPPA_NOTE = (
    "kappa is agreement beyond chance; where nearly every mark is the same it is near 0 however many agree, so read it "
    "with raw agreement and prevalence (the share each said yes of)"
)


def tables(summary: Summary) -> list[Table]:
    """Those that have something to tell; none of a run that nobody graded."""
    found = (graders(summary), agreement(summary), calibrations(summary), leanings(summary), faithfulness(summary))
    return [table for table in found if table is not None]


def graders(summary: Summary) -> Table | None:
    """Who graded how many answers, and what they said."""
    rows = tuple(
        (
            one.grader, one.kind, one.source, str(one.answers), str(one.trials),
            share(one.correct), share(one.stale), share(one.invented),
        )
        for one in summary.grading.graders
    )  # fmt: skip
    headers = ("grader", "kind", "source", "answers", "trials", "correct", "stale", "invented")
    notes = (
        f"accuracy is by {summary.grading.by}",
        "distinct answers of all arms together, those to questions the control knew too; not graded is in no share",
    )
    return Table("Graders", headers, rows, notes) if rows else None


def agreement(summary: Summary) -> Table | None:
    """Every two graders, by mark; Krippendorff's alpha where there are three sheets."""
    rows = tuple(_row(one) for one in summary.grading.agreements)
    headers = ("graders", "mark", "agree", "kappa", "its interval", "prevalence")
    alphas = [
        f"Krippendorff's alpha of {', '.join(one.graders)} on {one.mark}: {_signed(one.alpha)} ({one.n} answers)"
        for one in summary.grading.alphas
    ]
    return Table("Agreement of graders", headers, rows, (KAPPA_NOTE, *alphas)) if rows else None


def calibrations(summary: Summary) -> Table | None:
    """Each judge against the sheet: used, or why not."""
    rows = tuple(
        (
            one.judge, one.sheet or NONE, share(one.agreement.agreed) if one.agreement else NONE,
            f"{one.floor:g} of {one.least}", "calibrated" if one.calibrated else f"not calibrated: {one.why}",
        )
        for one in summary.grading.judges
    )  # fmt: skip
    headers = ("judge", "held against", "agree on correct", "needed", "verdict")
    notes = ("a judge that is not calibrated enters no accuracy",)
    return Table("Judges", headers, rows, notes) if rows else None


def leanings(summary: Summary) -> Table | None:
    """Each judge against the sheet, arm by arm."""
    models = models_of(summary)
    rows = tuple(
        (
            one.judge, label(of.arm, of.model, models), str(of.n), str(of.kinder), str(of.harsher), f"{of.p:.3f}",
            "leans" if of.leans else "no lean found",
        )
        for one in summary.grading.judges for of in one.by_arm
    )  # fmt: skip
    headers = ("judge", "arm", "questions", "kinder", "harsher", "p", "verdict")
    notes = ("kinder: right by the judge alone, harsher: by the sheet alone; McNemar's exact p, by Holm over the arms; "
             "with few questions no lean can be found",)  # fmt: skip
    return Table("Judges, arm by arm", headers, rows, notes) if rows else None


def faithfulness(summary: Summary) -> Table | None:
    """Answers supported by what was put before the model, by arm."""
    models = models_of(summary)
    rows = tuple(
        (label(one.arm, one.model, models), one.judge, share(one.supported), "kept" if one.kept else "missed")
        for one in summary.grading.faithfulness
    )
    notes = ("questions whose first answer the judge found supported; no sheet marks this, so no judge of it is held "
             "against one",)  # fmt: skip
    headers = ("arm", "judge", "supported", f"floor {FAITHFULNESS_FLOOR:g}")
    return Table("Faithfulness", headers, rows, notes) if rows else None


def _row(one: Agreement) -> tuple[str, ...]:
    low, high = one.kappa.low, one.kappa.high
    interval = NONE if low is None or high is None else f"{_signed(low)} to {_signed(high)}"
    prevalence = f"{fraction(one.first_yes)}, {fraction(one.second_yes)}"
    names = " and ".join(PRECHECK if name == "precheck" else name for name in (one.first, one.second))
    return (names, one.mark, share(one.agreed), _signed(one.kappa.kappa), interval, prevalence)


def _signed(value: float | None) -> str:
    """`.400`, `-.008`."""
    if value is None:
        return NONE
    return fraction(abs(value)) if value > -0.0005 else f"-{fraction(-value)}"
