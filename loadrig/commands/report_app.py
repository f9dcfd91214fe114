"""The command line of `loadrig report`."""
# ruff: noqa: PLC0415 - `--help` and errors need no heavy imports

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders below results/")],
    *,
    grader: Annotated[
        str | None, typer.Option("--grader", help='Accuracy by this grader\'s marks, or by "precheck"')
    ] = None,
    formats: Annotated[
        list[str] | None, typer.Option("--format", help="Only files of this kind: html, md, csv, json; may be repeated")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Of several runs: where the page goes; else a folder beside the first")
    ] = None,
) -> None:
    """Makes the reports of a run again from its records, and prints its table; of several runs, shows them side by
    side."""
    from loadrig.commands import report as command
    from loadrig.commands.firing import console_of

    command.report(runs, console_of(), grader=grader, formats=formats or (), out=out)
