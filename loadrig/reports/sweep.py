"""sweep.md: the knee, the stages of one run side by side, each arm's throughput against its latency over them, and the
objectives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from loadrig.analysis.judging import Judged
from loadrig.analysis.latency import Latency
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.analysis.sweep import Rates, Step, Sweep
from loadrig.knee import Knee
from loadrig.reports import load, speed
from loadrig.reports.markdown import head, section
from loadrig.reports.table import (
    FEW_NOTE,
    NONE,
    Table,
    amount,
    bound_mark,
    bound_notes,
    interval,
    label,
    number,
    seconds,
    several,
    share,
)
from loadrig.reports.terminal import draw, draw_head, draw_troubles, draw_warnings
from loadrig.steady import Steadiness

BELONGS_TO_THE_RIG = "the rig's own (client-bound): no claim about the target"
CURVE_NOTES = (
    "reached: mean in flight (open loop: offered a second); goodput: trials/s answered within every limit of one trial",
    "+-: 95 % interval of trials/s; Little: trials ended a second x mean time / reached, 1 in a stage long enough; "
    "MSER-5: latencies at the beginning of a stage that the rule takes for its transient, of how many",
)


def write(summary: Summary, folder: Path, console: Console | None = None) -> Path:
    """Writes sweep.md into the run's folder, shows it on the console, and returns its path."""
    tables = list(_tables(summary))
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


def _tables(summary: Summary) -> Iterator[Table]:
    if summary.sweep is None:
        yield load.arrivals(summary) or load.stages(summary)
        yield arms(summary)
        return
    yield knee(summary.sweep)
    yield curve(summary, summary.sweep)
    if (arrivals := load.arrivals(summary)) is not None:
        yield arrivals
    yield arms(summary)
    if any(step.judged for step in summary.sweep.steps):
        yield objectives(summary.sweep)


def knee(found: Sweep) -> Table:
    """What the sweep came to, in a line each."""
    rows = [("knee", _knee(found)), ("shown by", _cause(found))]
    if found.knee is not None:
        rows.append(("most throughput", f"{number(found.knee.most_per_s, 2)} trials/s"))
    if found.bracket is not None:
        rows.append(("highest load that keeps the objectives", _bracket(found)))
    if found.ended is not None:
        rows.append((f"ended after {len(found.steps)} stages", found.ended))
    note = "knee: the load at which trials/s, rising with the load as they do at first, reach the most; 95 % interval"
    return Table("The knee", ("", "found"), tuple(rows), (note,))


def curve(summary: Summary, found: Sweep) -> Table:
    """One row a stage, all arms together, from the lowest load to the highest."""
    stages = {stage.stage: stage for stage in summary.stages}
    rows = []
    for step in sorted(found.steps, key=lambda one: one.load):
        stage = stages[step.stage]
        loop = stage.open_loop
        latency = stage.service if loop is None else loop.scheduled
        error = None if stage.rate_error is None or loop is not None else 196 * stage.rate_error
        rows.append((
            f"{step.stage}{bound_mark(step.client_bound)}",
            number(stage.reached if loop is None else loop.offered_per_s, 1),
            number(step.rates.per_s, 2), NONE if error is None else f"{error:.0f} %",
            number(step.rates.goodput_per_s, 2), number(step.rates.output_tokens_per_s, 1),
            several(latency.successes.p50, latency.successes.p95), number(step.little, 2),
            _cut(stage.steady), f"{step.met.failed}/{step.met.n}", amount(step.rates.cost_per_hour), _verdict(step),
        ))  # fmt: skip
    name = "service" if found.unit == "in flight" else "scheduled"
    headers = (
        "stage", "reached", "trials/s", "+-", "goodput/s", "tokens/s", f"{name} s\np50/p95", "Little", "MSER-5\ncut",
        "failed", f"{summary.currency or 'cost'}\n/hour", "verdict",
    )  # fmt: skip
    bound = bound_notes(*(step.client_bound for step in found.steps))
    return Table("Load against throughput", headers, tuple(rows), (*CURVE_NOTES, FEW_NOTE, *bound))


def arms(summary: Summary) -> Table:
    """One row for each arm and stage, stages of an arm together."""
    order = {stage.stage: place for place, stage in enumerate(summary.stages)}
    names = list(dict.fromkeys((arm.arm, arm.model) for arm in summary.arms))
    rates = {} if summary.sweep is None else {(one.arm, one.model, one.stage): one for one in summary.sweep.arms}
    rows = []
    for arm in sorted(summary.arms, key=lambda arm: (names.index((arm.arm, arm.model)), order[arm.stage])):
        rate = rates.get((arm.arm, arm.model, arm.stage))
        rows.append((
            label(arm.arm, arm.model, speed.models_of(summary)),
            f"{arm.stage}{bound_mark(arm.client_bound)}",
            f"{arm.service.ok}/{arm.service.n}",
            str(arm.tail + arm.again),
            *(_rates(rate) if rate else (NONE, NONE, NONE)),
            *(several(of.successes.p50, of.successes.p95) for of in (arm.ttft, _latency(arm))),
            several(_latency(arm).with_failures.p50, _latency(arm).with_failures.p95),
            amount(arm.cost.per_asked), amount(rate.cost_per_hour if rate else None),
        ))  # fmt: skip
    is_open = any(arm.scheduled for arm in summary.arms)
    currency = summary.currency or "cost"
    headers = (
        "arm", "stage", "ok of\ntimed", "tail", "trials/s", "goodput\n/s", "tokens/s", "TTFT s\np50/p95",
        f"{'scheduled' if is_open else 'service'} s\np50/p95", "with failures\np50/p95", f"{currency}\n/question",
        f"{currency}\n/hour",
    )  # fmt: skip
    notes = (
        "times of successes; tail: trials that ended with fewer than N in flight, or asked again: not timed",
        "with failures: that latency where a trial that did not succeed ranks beyond every success",
        "rates and money an hour: an arm's share of the stage, which all arms load together",
    )
    return Table("Arms over the stages", headers, tuple(rows), (*notes, FEW_NOTE, *speed.notes_of(summary)))


def objectives(found: Sweep) -> Table:
    """One row a stage and objective."""
    rows = tuple(
        (f"{step.stage}{bound_mark(step.client_bound)}", one.objective, _limit(one), *_found(one), one.verdict)
        for step in sorted(found.steps, key=lambda one: one.load)
        for one in step.judged
    )
    notes = (
        "a quantile is over all timed trials, failures beyond every success; kept or broken: its 95 % interval lies "
        "within the limit or over it; a stage run twice is judged over both",
        FEW_NOTE,
    )
    headers = ("stage", "objective", "limit", "found", "95 % interval", "n", "verdict")
    bound = bound_notes(*(step.client_bound for step in found.steps))
    return Table("Objectives", headers, rows, (*notes, *bound))


def _knee(found: Sweep) -> str:
    known = found.knee
    if known is None:
        return "not to be told: fewer than three stages with a throughput"
    if not known.reached:
        return f"not reached: at {_load(known.low, found)} or beyond"
    return f"{_load(known.at, found)} ({known.low:.1f} to {known.high:.1f})"


def _cause(found: Sweep) -> str:
    if _is_the_rigs(found, found.knee):
        return BELONGS_TO_THE_RIG
    return found.knee_cause or "no stage was saturated"


def _is_the_rigs(found: Sweep, known: Knee | None) -> bool:
    beyond = [step for step in found.steps if step.saturated or (known is not None and step.load > known.at)]
    return any(step.client_bound for step in beyond)


def _bracket(found: Sweep) -> str:
    bracket = found.bracket
    assert bracket is not None
    kept = "none" if bracket.kept is None else _load(bracket.kept, found)
    if bracket.not_kept is None:
        return f"{kept} or more"
    causes = {step.cause for step in found.steps if step.load == bracket.not_kept and step.cause}
    why = f", {', '.join(sorted(causes))}" if causes else ""
    return f"{kept}; {'broken' if bracket.broken else 'undecided'} at {_load(bracket.not_kept, found)}{why}"


def _load(value: float, found: Sweep) -> str:
    return f"{value:.3g} {found.unit}"


def _verdict(step: Step) -> str:
    said = [step.verdict] if step.verdict else []
    past = [f"saturated: {step.cause}"] if step.saturated else [str(step.cause)] if step.cause else []
    return ", ".join((*said, *past)) or NONE


def _latency(arm: ArmFigures) -> Latency:
    return arm.scheduled or arm.service


def _rates(of: Rates) -> tuple[str, str, str]:
    return number(of.per_s, 2), number(of.goodput_per_s, 2), number(of.output_tokens_per_s, 1)


def _cut(of: Steadiness | None) -> str:
    return NONE if of is None else f"{of.cut}/{of.n}{'' if of.steady else ' unsteady'}"


def _limit(one: Judged) -> str:
    return f"{one.limit:.1%}" if one.objective == "error_share" else f"{one.limit / 1e9:g} s"


def _found(one: Judged) -> tuple[str, str, str]:
    if one.share is not None:
        return f"{one.share.share:.1%}", share(one.share).partition(" ")[2].strip("[]"), str(one.share.n)
    return seconds(one.value), interval(one.value), NONE if one.value is None else str(one.value.n)
