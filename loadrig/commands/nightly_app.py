"""The command line of `loadrig nightly`."""
# ruff: noqa: PLC0415, PLR0913 - one parameter a flag; `--help` and errors need no heavy imports

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

WEBHOOK = "LOADRIG_WEBHOOK_URL"
_UNITS_S = {"h": 3600, "m": 60, "s": 1}


def nightly(
    plan: Annotated[Path, typer.Argument(help="A plan: a TOML file, such as plans/nightly.toml")],
    *,
    base_url: Annotated[str | None, typer.Option(help='Endpoint of every model: a URL, or "simulator"')] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first n questions")] = None,
    one_pass: Annotated[bool, typer.Option("--one-pass", help="Do not repeat the set to fill a stage")] = False,
    inline: Annotated[bool, typer.Option("--inline", help="One worker in this process")] = False,
    out: Annotated[Path, typer.Option(help="Where run folders and the report go")] = Path("results"),
    budget: Annotated[str | None, typer.Option(help="Stop before this much money would be spent")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask about an estimated cost over 1.00")] = False,
    deadline: Annotated[str | None, typer.Option("--deadline", help="Stop the run after this: 45m, 1h30m")] = None,
    wait: Annotated[float, typer.Option("--wait", min=0, help="Seconds to wait for another nightly of the plan")] = 0.0,
    usage: Annotated[
        Path | None, typer.Option("--usage", help="Hold the provider's usage report beside: a file")
    ] = None,
    webhook: Annotated[
        str | None, typer.Option("--webhook", envvar=WEBHOOK, show_default=False, help="Post the report to this URL")
    ] = None,
    pushgateway: Annotated[str | None, typer.Option(help="Push metrics to this pushgateway: its URL")] = None,
    report_only: Annotated[bool, typer.Option("--report-only", help="Run nothing, only write the report")] = False,
) -> None:
    """Runs the plan, then reports what a question cost: by arm, model, category, route and local day, against the
    nights before."""
    from loadrig.commands import nightly as command
    from loadrig.commands.firing import console_of
    from loadrig.execution.options import Options, Overrides, command_line

    seconds = None if deadline is None else duration_s(deadline)
    options = Options(
        out=out, inline=inline, confirmed=yes, pushgateway=pushgateway, deadline_s=seconds,
        command_line=command_line(webhook),
    )  # fmt: skip
    flags = Overrides(base_url=base_url, limit=limit, one_pass=one_pass, budget=budget)
    around = command.Around(wait_s=wait, usage=usage, webhook=webhook, report_only=report_only)
    raise typer.Exit(command.nightly(plan, flags, options, around, console=console_of()))


def duration_s(text: str) -> float:
    """Seconds of `90s`, `45m`, `1h30m` or `90`. Raises `InputError`.

    >>> duration_s("45m"), duration_s("1h30m"), duration_s("0.5")
    (2700.0, 5400.0, 0.5)
    """
    from loadrig.words.errors import InputError

    parts = re.findall(r"(\d+(?:\.\d+)?)([hms]?)", text)
    total = sum(float(number) * _UNITS_S[unit or "s"] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text or not 0 < total <= 86_400:
        raise InputError(f"--deadline {text!r}", remedy="hours, minutes, seconds, at most 24h: 45m, 1h30m or 90s")
    return total
