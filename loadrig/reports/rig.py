"""Tables of what the rig measured of itself, and of whose stamps the replies have."""

from __future__ import annotations

from loadrig.analysis.summary import Summary
from loadrig.reports.table import (
    NONE,
    Table,
    bound_mark,
    bound_notes,
    milliseconds,
    number,
    percent,
)
from loadrig.stats import Quantile


def itself(summary: Summary) -> Table | None:
    """A process and stage on a row; None when nothing was measured."""
    rows = tuple(
        (
            f"{stage.stage}, {one.process}{bound_mark(one.bound)}", number(one.in_flight_target),
            number(one.in_flight_max), *map(milliseconds, (one.lag_p50_ns, one.lag_p99_ns, one.lag_max_ns)),
            milliseconds(one.lag_limit_ns), percent(one.cpu_share_max), _read_lag(one.read_lag.p99),
            number(one.gc_pauses), milliseconds(one.gc_max_ns), one.loop or NONE,
        )
        for stage in summary.stages for one in stage.client
    )  # fmt: skip
    headers = (
        "stage, process", "N of it", "most in flight", "loop lag p50 ms", "p99 ms", "max ms", "limit of p99 ms",
        "busiest CPU", "read lag p99 ms", "full collections", "longest ms", "event loop",
    )  # fmt: skip
    notes = (
        "lag: how late a 10 ms timer ran; CPU: of one core, over the busiest five seconds; - in a shorter stage",
        *bound_notes(*(one.bound for stage in summary.stages for one in stage.client)),
    )
    return Table("The rig itself", headers, rows, notes) if rows else None


def stamps(summary: Summary) -> Table | None:
    """A stage on a row; None when no reply came."""
    rows = tuple(
        (stage.stage, str(of.replies), str(of.kernel), str(of.read), str(of.late), str(of.early), str(of.absent),
         _read_lag(of.read_lag.p50), _read_lag(of.read_lag.p99), milliseconds(of.read_lag.max_ns))
        for stage in summary.stages if (of := stage.stamps).replies
    )  # fmt: skip
    headers = (
        "stage", "replies", "stamped by the kernel", "by the read", "late", "early", "absent", "read lag p50 ms",
        "p99 ms", "max ms",
    )  # fmt: skip
    notes = (
        "late: kernel stamps that are upper bounds; early: segments out of order; absent: reads the kernel did not "
        "stamp; of the last two the reads' own stamps are taken",
        "read lag: how much later than the kernel had it the client read a first token; kernel stamps leave it out",
    )
    return Table("Stamps of replies", headers, rows, notes) if rows else None


def _read_lag(found: Quantile | None) -> str:
    return f"{milliseconds(found.value_ns)}{'*' if found.few else ''}" if found else NONE
