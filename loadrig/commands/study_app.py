"""The command line of a study: `loadrig study STUDY`."""
# ruff: noqa: PLC0415, PLR0913 - one parameter a flag; `--help` and errors need no heavy imports

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def study(
    study: Annotated[Path, typer.Argument(help="A study: a TOML file, such as plans/huskbook-study.toml")],
    *,
    base_url: Annotated[str | None, typer.Option(help='Endpoint of every model: a URL, or "simulator"')] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first n questions of every run")] = None,
    repetitions: Annotated[int | None, typer.Option(min=1, help="How often each question is asked in each arm")] = None,
    inline: Annotated[bool, typer.Option("--inline", help="One worker in this process")] = False,
    out: Annotated[Path, typer.Option(help="Where the study's folder goes")] = Path("results"),
    budget: Annotated[str | None, typer.Option(help="Stop before the whole study would have spent this much")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask about an estimated cost over 1.00")] = False,
    retry: Annotated[str | None, typer.Option(help='"failed": ask failed trials again, too')] = None,
    report_only: Annotated[bool, typer.Option("--report-only", help="Run nothing, write the report anew")] = False,
) -> None:
    """Fires a study's runs one after the other, goes on where it stopped, and reports by research question."""
    from loadrig.commands import study as command
    from loadrig.commands.firing import console_of
    from loadrig.execution.options import Options, Overrides, command_line
    from loadrig.words.errors import InputError

    if retry not in (None, "failed"):
        raise InputError(f"--retry {retry}", remedy="use --retry failed")
    flags = Overrides(base_url=base_url, limit=limit, repetitions=repetitions, budget=budget)
    options = Options(
        out=out, inline=inline, confirmed=yes, retry_failed=retry == "failed", command_line=command_line()
    )
    raise typer.Exit(command.run(study, flags, options, report_only=report_only, console=console_of()))
