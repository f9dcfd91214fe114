"""The command line of `loadrig advise`."""
# ruff: noqa: PLC0415, PLR0913 - one parameter a flag; `--help` and errors need no heavy imports

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def advise(
    corpus: Annotated[str, typer.Argument(help="Folder of texts")],
    questions: Annotated[str, typer.Argument(help="JSONL file of questions")],
    *,
    slice_name: Annotated[str | None, typer.Option("--slice", help="A slice of the corpus")] = None,
    model: Annotated[str | None, typer.Option(help="Model to be asked; else the plan's first")] = None,
    window: Annotated[int | None, typer.Option(min=1, help="Its window in tokens, where it is not known")] = None,
    prices: Annotated[str | None, typer.Option("--prices", help="Your own price table, laid over ours")] = None,
    per_day: Annotated[float | None, typer.Option(min=0.001, help="Questions a day")] = None,
    changes: Annotated[str, typer.Option(help="How often the corpus does: daily, weekly, monthly, never")] = "never",
    money_per_month: Annotated[str | None, typer.Option(help="What the answers may cost a month")] = None,
    mixed_rights: Annotated[bool, typer.Option("--mixed-rights", help="Callers may see different parts")] = False,
    interactive: Annotated[bool, typer.Option("--interactive", help="Somebody waits for the answer")] = False,
    plan: Annotated[Path | None, typer.Option(help="A plan to be looked at for mistakes, its arms priced too")] = None,
    write_plan: Annotated[Path | None, typer.Option("--write-plan", help="Write a plan of what is worth a run")] = None,
    json: Annotated[bool, typer.Option("--json", help="As one JSON object")] = False,
) -> None:
    """Says before any run which architecture suits a corpus, what speaks against the others, and what a question would
    cost in each. Nothing is sent."""
    from loadrig.commands import advise as command
    from loadrig.commands.firing import console_of

    flags = command.Flags(
        corpus=corpus,
        questions=questions,
        slice=slice_name,
        model=model,
        window=window,
        prices=prices,
        per_day=per_day,
        changes=changes,
        money_per_month=money_per_month,
        mixed_rights=mixed_rights,
        interactive=interactive,
        plan=plan,
        write_plan=write_plan,
    )
    command.run(flags, console_of(), json=json)
