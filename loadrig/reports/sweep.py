"""sweep.md: the stages of one run side by side, and each arm's latency over them."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from loadrig.analysis.summary import Summary
from loadrig.reports import speed
from loadrig.reports.markdown import head, section
from loadrig.reports.table import FEW_NOTE, Table, amount, label, seconds
from loadrig.reports.terminal import draw, draw_head, draw_warnings


def write(summary: Summary, folder: Path, console: Console | None = None) -> Path:
    """Writes sweep.md into the run's folder, shows it on the console, and returns its path."""
    tables = (speed.stages(summary), arms(summary))
    path = folder / "sweep.md"
    path.write_text("\n\n".join((*head(summary), *(section(table) for table in tables))) + "\n", encoding="utf-8")
    if console is not None:
        draw_head(summary, console)
        for table in tables:
            draw(table, console)
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
            f"{arm.stage}{'!' if arm.client_bound else ''}",
            f"{arm.service.ok} of {arm.service.n}",
            *(seconds(found) for of in (arm.ttft, arm.service) for found in (of.successes.p50, of.successes.p95)),
            seconds(arm.service.with_failures.p95),
            amount(arm.cost.per_asked),
        )
        for arm in sorted(summary.arms, key=lambda arm: (names.index((arm.arm, arm.model)), order[arm.stage]))
    ]
    headers = (
        "arm", "stage", "ok", "TTFT p50 s", "p95 s", "service p50 s", "p95 s", "p95 s with failures",
        f"{summary.currency or 'cost'}/question",
    )  # fmt: skip
    return Table("Arms over the stages", headers, tuple(rows), (FEW_NOTE,))
