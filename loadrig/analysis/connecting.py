"""Timed trials that opened their connection: what that took is in their latencies, and a longer warm-up keeps it out.

A stage of N in flight opens N connections. As many trials as the warm-up is short of N do it while they are timed, and
where many begin at once their TLS handshakes, about a millisecond of a core each, wait for one another.
"""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.load import StageLoad
from loadrig.analysis.selection import grouped, timed
from loadrig.bound import lag_limit_ns
from loadrig.log import RunFolder
from loadrig.stats import quantile
from loadrig.words.record import Record

SHARE = 0.01


def warned(run: RunFolder, stages: tuple[StageLoad, ...]) -> Iterator[str]:
    """A sentence for each stage where more than one timed trial in a hundred opened a connection, and half of these
    took longer for it than a worker's loop may be late."""
    records = grouped((record.stage, record) for record in timed(run))
    for stage in stages:
        found = records.get(stage.stage, [])
        took = sorted(ns for record in found if (ns := _connecting_ns(record)) is not None)
        p50, ttft = quantile(took, 0.5), stage.ttft.successes.p50
        if p50 is None or p50.value_ns is None or len(took) <= SHARE * len(found):
            continue
        if p50.value_ns > lag_limit_ns("worker", ttft.value_ns if ttft else None):
            further = "" if stage.concurrency is None else f"; warmup = {stage.concurrency} keeps that out"
            yield (
                f"stage {stage.stage}: {len(took)} of {len(found)} timed trials opened their connection, which took "
                f"{p50.value_ns / 1e9:.3f} s at p50 and is in their TTFT{further}"
            )


def _connecting_ns(record: Record) -> int | None:
    """What connecting took of a trial's first attempt, TLS included; None when it had a connection."""
    attempts = record.turns[0].attempts if record.turns else ()
    if not attempts or attempts[0].connect_ns is None:
        return None
    return attempts[0].connect_ns + (attempts[0].tls_ns or 0)
