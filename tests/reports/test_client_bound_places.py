"""Each place that shows a latency carries the client-bound mark of its stage: yes, no, or not checked."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hand_clock import HandClock
from records import MS, S, failed, record, turn, write_run
from rich.console import Console

from loadrig.analysis.summary import Summary
from loadrig.live.dashboards.board import build
from loadrig.live.dashboards.run_board import RUN_BOARD
from loadrig.live.metrics import Metrics
from loadrig.live.progress import Progress
from loadrig.reports import markdown, speed, sweep, terminal, write_all
from loadrig.reports.table import BOUND_NOTE, UNCHECKED_NOTE, Table
from loadrig.words.trial import Pulse

TIMED = ("Stage c2", "Latency", "95 % intervals", "Token rate", "Retrieval", "Load", "Latency with failures", "Arms")
LAG_NS = {"yes": 6 * MS, "no": 4 * MS, "not checked": None}
VERDICT = {"yes": True, "no": False, "not checked": None}
Place = Callable[[Path, Summary, str], Any]


def tables(summary: Summary) -> Iterator[Table]:
    """Every table of times, by whichever report shows it."""
    found = [*markdown.tables(summary), speed.with_failures(summary), sweep.arms(summary)]
    yield from (table for table in found if table is not None and table.title.startswith(TIMED))


def every_table(_: Path, summary: Summary, __: str) -> str:
    """The one answer of all tables: the mark of their rows, or the words of their title, and what the mark means."""
    found = list(tables(summary))
    assert len(found) == len(TIMED)
    marks = {mark_of("".join(row)) for table in found if not table.title.startswith("Stage") for row in table.rows}
    notes = {BOUND_NOTE in table.notes for table in found}, {UNCHECKED_NOTE in table.notes for table in found}
    (mark,) = marks
    assert notes == ({mark == "yes"}, {mark == "not checked"})
    return mark


def mark_of(text: str) -> str:
    return "yes" if "!" in text else "not checked" if "?" in text else "no"


def on_the_terminal(_: Path, summary: Summary, __: str) -> str:
    console = Console(file=io.StringIO(), width=110, force_terminal=False)
    terminal.show(summary, console)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    title = next(line for line in shown.splitlines() if line.startswith("Stage c2"))
    rows = [line for line in shown.splitlines() if line.startswith(("rag!", "rag?"))]
    assert bool(rows) == ("client-bound" in title)
    return "not checked" if "(client-bound? not checked)" in title else "yes" if "(client-bound)" in title else "no"


def in_report(folder: Path, _: Summary, __: str) -> str:
    text = (folder / "report.md").read_text()
    return "not checked" if "? not checked whether" in text else "yes" if "! the stage is client" in text else "no"


def in_sweep(folder: Path, summary: Summary, _: str) -> str:
    parts = sweep.write(summary, folder).read_text().split("## ")
    timed = "".join(part for part in parts if part.startswith(("Load", "Arms over")))
    (mark,) = {mark_of(line) for line in timed.splitlines() if line.startswith(("| c2", "| rag"))}
    return mark


def in_answers(folder: Path, _: Summary, __: str) -> str:
    with (folder / "answers.csv").open(newline="") as file:
        (cell,) = {row["client_bound"] for row in csv.DictReader(file)}
    return {"1": "yes", "0": "no", "": "not checked"}[cell]


def in_summary(folder: Path, _: Summary, __: str) -> str:
    found = json.loads((folder / "summary.json").read_text())
    (bound,) = {part["client_bound"] for part in (*found["stages"], *found["arms"])}
    return {True: "yes", False: "no", None: "not checked"}[bound]


def in_histograms(folder: Path, _: Summary, __: str) -> str:
    text = (folder / "histograms.hlog").read_text()
    (mark,) = re.findall(r"^Tag=rag/c2([!?]?),", text, re.MULTILINE)
    assert ("#[client-bound stage: c2]" in text) == (mark == "!")
    return mark_of(mark)


def pulse(verdict: str) -> Pulse:
    causes = ("simulator: loop lag p99 6.0 ms (limit 5.0 ms)",) if verdict == "yes" else ()
    return Pulse("c2", 2, 2, 1, 0, 0.3, VERDICT[verdict], causes)


def in_progress(_: Path, __: Summary, verdict: str) -> str:
    """Both a line of it and the last one, whose percentiles hold the stage's samples still."""
    stream, clock = io.StringIO(), HandClock()
    progress = Progress(stream, clock=clock)
    progress.pulse(pulse("no"))
    clock.ns = 3 * S
    progress.pulse(pulse(verdict))
    progress.finished()
    marks = set()
    for line in stream.getvalue().splitlines()[-2:]:
        bound = "CLIENT-BOUND" in line and "(simulator: loop lag p99 6.0 ms (limit 5.0 ms))" in line
        marks.add("yes" if bound else "not checked" if "client-bound? not checked in c2" in line else "no")
    (mark,) = marks
    return mark


def as_a_metric(_: Path, __: Summary, verdict: str) -> str:
    metrics = Metrics()
    metrics.pulse(pulse(verdict))
    value = metrics.registry.get_sample_value("loadrig_client_bound")
    assert value is not None
    return "not checked" if math.isnan(value) else "yes" if value == 1 else "no"


PLACES: tuple[Place, ...] = (
    every_table, on_the_terminal, in_report, in_sweep, in_answers, in_summary, in_histograms, in_progress, as_a_metric,
)  # fmt: skip


@pytest.mark.parametrize("verdict", LAG_NS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_the_mark_is_wherever_a_latency_is_shown(tmp_path: Path, place: Place, verdict: str) -> None:
    """Lag p99 of 6 ms: yes; of 4 ms: no; not sampled: not checked, and never no."""
    row = {"stage": "c2", "process": "w1", "lag_p99_ns": LAG_NS[verdict]}
    records = (record("a", retrieval_ns=MS, turns=(turn(tpot_ns=MS),)), failed("f"))
    folder = write_run(tmp_path, records, self_measurement=[row])
    assert place(folder, write_all(folder), verdict) == verdict


def test_a_row_of_answers_has_the_mark_of_its_own_stage(tmp_path: Path) -> None:
    """In the log it is null; in answers.csv it is that of c2, and empty for c4, which was not sampled."""
    row = {"stage": "c2", "process": "w1", "lag_p99_ns": LAG_NS["yes"]}
    write_all(write_run(tmp_path, [record("a"), record("b", stage="c4")], self_measurement=[row]))
    with (tmp_path / "answers.csv").open(newline="") as file:
        assert [line["client_bound"] for line in csv.DictReader(file)] == ["1", ""]


def test_before_the_first_pulse_the_metric_says_that_it_is_not_known() -> None:
    """NaN, which no alert takes for 1 and no reader for 0."""
    value = Metrics().registry.get_sample_value("loadrig_client_bound")
    assert value is not None
    assert math.isnan(value)


def test_the_dashboard_marks_the_times_over_every_chart() -> None:
    """An annotation on the dashboard, so on each panel with a time axis, where the metric is 1."""
    annotation = json.loads(build(RUN_BOARD))["annotations"]["list"][0]
    assert annotation["enable"]
    assert re.fullmatch(r"\(loadrig_client_bound{.*}\) == 1", annotation["expr"])
