"""`loadrig selftest`: the rig against a null target, in one table; exit code 1 when its first-token times are off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import uvloop
from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadrig.commands.firing import DONE, FAILED
from loadrig.log import write_json
from loadrig.selftest.figures import Level, Quantiles
from loadrig.selftest.levels import TTFT_LIMIT_NS, SelfTest, self_test

HEADERS = (
    "streams", "tokens", "replies/s", "events/s", "CPU", "us/reply", "us/event", "TTFT error ms", "E2E error ms",
    "loop lag ms",
)  # fmt: skip


def selftest(*, streams: int, seconds: float, tls: bool, json: Path | None, console: Console) -> int:
    """Measures, prints, and writes the figures to `json`; 1 when the error of TTFT p99 is over 2 ms."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        found = runner.run(self_test(streams=streams, seconds=seconds, tls=tls))
    show(found, console)
    if json is not None:
        derived = {
            "events_per_core": found.events_per_core,
            "streams_per_core": found.streams_per_core,
            "is_true": found.is_true,
        }
        write_json(json, asdict(found) | derived)
    return DONE if found.is_true else FAILED


def show(found: SelfTest, console: Console) -> None:
    """The table, what follows from it, and the verdict."""
    target, rig = found.cores
    where = "rig and target on one core" if rig is None else f"target on core {target}, rig on core {rig}"
    console.print(f"load average {found.load_average:.2f}, {where}, Python {found.python}, {found.paced.loop}")
    title = f"The rig against a target that does nothing{', over TLS' if found.tls else ''}"
    table = Table(*HEADERS, title=title, title_justify="left", box=None)
    for one in (*found.busy, found.paced):
        table.add_row(*(Text(cell, justify="right") for cell in _cells(one)))
    console.print(table)
    for line in _told(found):
        console.print(Text(line, style="dim"))
    for warning in found.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))
    limit_ms = TTFT_LIMIT_NS / 1e6
    verdict = (
        f"TTFT error p99 is {'within' if found.is_true else 'OVER'} {limit_ms:g} ms at {found.paced.streams} streams"
    )
    console.print(Text(verdict, style="bold green" if found.is_true else "bold red"))


def _told(found: SelfTest) -> Iterator[str]:
    paced, pauses = found.paced, found.paced.pauses
    schedule = paced.schedule
    yield "error: the rig's interval less the target's, of the same request; errors and lag are p50/p99"
    yield (
        f"cost: {found.cost.fixed_us:.0f} us a request and {found.cost.marginal_us:.2f} us an event when a reply comes "
        f"at once, {paced.us_per_event:.1f} us an event when each comes alone"
    )
    yield (
        f"ceiling of a core: {found.events_per_core:,.0f} events/s coming at once; some {found.streams_per_core} "
        f"streams of {schedule.events / schedule.lasts_s:.0f} events/s coming alone"
    )
    yield f"lateness at {paced.streams} streams: loop lag p50/p99/max {_three(paced.lag)} ms, of {paced.lag.n} timers"
    yield (
        f"TTFT error against the target's own log: p50/p99/max {_three(paced.ttft_error)} ms, of {paced.ttft_error.n} "
        f"replies; the target itself was late by up to {(paced.target_late.max_ns or 0) / 1e6:.1f} ms"
    )
    yield (
        f"{pauses.count} full garbage collections, longest {pauses.max_ns / 1e6:.1f} ms; stamps: "
        + ", ".join(f"{name} {n}" for name, n in paced.stamps.items())
    )


def _cells(one: Level) -> tuple[str, ...]:
    paced = f" at {one.schedule.step_ms:g} ms" if one.schedule.step_ms else ""
    return (
        str(one.streams), f"{one.schedule.tokens}{paced}", f"{one.replies_per_s:,.0f}", f"{one.events_per_s:,.0f}",
        f"{one.cpu_share:.0%}", f"{one.us_per_reply:,.0f}", f"{one.us_per_event:.2f}",
        _ms(one.ttft_error) if paced else "-", _ms(one.e2e_error) if paced else "-", _ms(one.lag),
    )  # fmt: skip


def _three(of: Quantiles) -> str:
    return "/".join("-" if value is None else f"{value / 1e6:.2f}" for value in (of.p50_ns, of.p99_ns, of.max_ns))


def _ms(of: Quantiles) -> str:
    return "/".join("-" if value is None else f"{value / 1e6:.2f}" for value in (of.p50_ns, of.p99_ns))
