"""report.html: one file that needs no network and no script, for reading a run and tracing its numbers to trials.

`SECTIONS` maps an anchor to what makes that part of the page, in the order of the page: a function of the run and its
summary that gives a `Section`, or None where the run has nothing of the kind. A new part is one function and one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from markupsafe import Markup

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page under a heading. `body` is HTML in which everything from outside has been escaped."""

    title: str
    body: Markup


Maker = Callable[[RunFolder, Summary], Section | None]

SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "latency": "loadrig.reports.html.latency:section",
        "time": "loadrig.reports.html.course:section",
        "load": "loadrig.reports.html.loading:section",
        "parts": "loadrig.reports.html.breakdown:section",
        "speed": "loadrig.reports.html.rates:section",
        "worth": "loadrig.reports.html.worth:section",
        "right": "loadrig.reports.html.found:section",
        "questions": "loadrig.reports.html.questions:section",
        "money": "loadrig.reports.html.bill:section",
        "tokens": "loadrig.reports.html.tokens:section",
        "cache": "loadrig.reports.html.kept:section",
        "routes": "loadrig.reports.html.ways:section",
        "citations": "loadrig.reports.html.cited:section",
        "safeguards": "loadrig.reports.html.checks:section",
        "rig": "loadrig.reports.html.rig:section",
        "trials": "loadrig.reports.html.traces:section",
    }
)
