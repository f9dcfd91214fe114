"""The trials that a page's figures lead to and that no section of it shows: one line each, with where it is on file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from markupsafe import Markup

from loadrig.analysis.traces import lines_of
from loadrig.log import RECORDS, RunFolder
from loadrig.reports.html.pieces import Cell, Grid
from loadrig.reports.table import NONE, number

_LEADS = re.compile(r'href="#trial-([^"]*)"')
_SHOWN = re.compile(r'\bid="trial-([^"]*)"')
HEADERS = ("trial", f"line of {RECORDS}", "arm", "question", "stage", "outcome", "service ms")


def trials_behind(run: RunFolder, bodies: Iterable[Markup]) -> Grid | None:
    """None where every link leads to a section."""
    led: dict[str, None] = {}
    shown: set[str] = set()
    for body in bodies:
        led.update(dict.fromkeys(map(unquote, _LEADS.findall(body))))
        shown.update(map(unquote, _SHOWN.findall(body)))
    wanted = {trial: None for trial in led if trial not in shown}
    if not wanted:
        return None
    known = {record.trial: record for record in run.records if record.trial in wanted}
    places = lines_of(run, known.values())
    rows = []
    for trial in wanted:
        record = known.get(trial)
        took = record.service_ns if record else None
        told = (record.arm, record.question, record.stage, record.outcome) if record else (NONE,) * 4
        line = number(places.get((trial, record.try_no)) if record else None)
        rows.append((Cell(trial, own=trial), line, *told, NONE if took is None else f"{took / 1e6:.1f}"))
    return Grid("Trials behind these figures", HEADERS, tuple(rows), words=True)
