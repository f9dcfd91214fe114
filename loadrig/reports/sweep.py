"""sweep.md: the stages of one run side by side, and each arm's latency over them."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from loadrig.analysis.summary import Summary
from loadrig.reports import load, speed
from loadrig.reports.markdown import head, section
from loadrig.reports.table import FEW_NOTE, Table, amount, bound_mark, label, seconds
from loadrig.reports.terminal import draw, draw_head, draw_troubles, draw_warnings


def write(summary: Summary, folder: Path, console: Console | None = None) -> Path:
    """Writes sweep.md into the run's folder, shows it on the console, and returns its path."""
    tables = (load.arrivals(summary) or load.stages(summary), arms(summary))
    path = folder / "sweep.md"
    troubles = [table for table in (load.outcomes(summary, full=False), load.failures(summary)) if table is not None]
    text = "\n\n".join((*head(summary), *(section(table) for table in (*tables, *troubles)))) + "\n"
    path.write_text(text, encoding="utf-8")
    if console is not None:
        draw_head(summary, console)
        for table in tables:
            draw(table, console)
        draw_troubles(summary, console)
        draw_warnings(summary, console)
        console.print(f"Report: {path}", markup=False)
    return path


def arms(summary: Summary) -> Table:
    """One row for each arm and stage, stages of an arm together."""
    order = {stage.stage: place for place, stage in enumerate(summary.stages)}
    names = list(dict.fromkeys((arm.arm, arm.model) for arm in summary.arms))
    rows = [
        (
            label(arm.arm, arm.model, speed.models_of(summary)),
            f"{arm.stage}{bound_mark(arm.client_bound)}",
            f"{arm.service.ok}/{arm.service.n}",
            str(arm.tail + arm.again),
            *(seconds(found) for of in (arm.ttft, arm.service) for found in (of.successes.p50, of.successes.p95)),
            *(seconds(found) for found in (arm.service.with_failures.p50, arm.service.with_failures.p95)),
            amount(arm.cost.per_asked),
        )
        for arm in sorted(summary.arms, key=lambda arm: (names.index((arm.arm, arm.model)), order[arm.stage]))
    ]
    headers = (
        "arm", "stage", "ok of\ntimed", "tail", "TTFT\np50 s", "p95 s", "service\np50 s", "p95 s",
        "with failures\np50 s", "p95 s", f"{summary.currency or 'cost'}\n/question",
    )  # fmt: skip
    notes = (
        "times of successes; tail: trials that ended with fewer than N in flight, or asked again: not timed",
        "with failures: service latency where a trial that did not succeed ranks beyond every success",
    )
    return Table("Arms over the stages", headers, tuple(rows), (*notes, FEW_NOTE, *speed.notes_of(summary)))
