"""The command line of grading: `loadrig grade RUN auto|export|import|judge`."""
# ruff: noqa: PLC0415, PLR0913 - one parameter a flag; `--help` and errors need no heavy imports

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

grade_app = typer.Typer(help="Grade a run's answers: by rules, by people, by a model.", no_args_is_help=True)

Seed = Annotated[int, typer.Option("--seed", help="Order of the rows, and their codes")]
All = Annotated[bool, typer.Option("--all-repetitions", help="Every repetition, not the first of each question alone")]


@grade_app.callback()
def _run(
    context: typer.Context, run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder below results/")]
) -> None:
    context.obj = run


@grade_app.command("auto")
def auto(context: typer.Context) -> None:
    """Writes the automatic marks of every answer to scores.jsonl: a pre-check, not a grade."""
    from loadrig.commands import grade as command

    command.auto(context.obj)


@grade_app.command("export")
def export(
    context: typer.Context,
    *,
    out: Annotated[Path | None, typer.Option(help="The sheet to write: .csv or .xlsx")] = None,
    all_repetitions: All = False,
    seed: Seed = 7,
) -> None:
    """Writes a sheet for a person to grade, blind to arm and model."""
    from loadrig.commands import grade as command

    command.export(context.obj, out, seed=seed, all_repetitions=all_repetitions)


@grade_app.command("import")
def import_(
    context: typer.Context,
    sheet: Annotated[Path, typer.Argument(help="The graded sheet: .csv or .xlsx")],
    *,
    grader: Annotated[str, typer.Option(help="Whose marks they are; his earlier ones are replaced")],
    changed: Annotated[bool, typer.Option("--changed", help="Take rows whose answer is not the one exported")] = False,
) -> None:
    """Takes a graded sheet back. Nothing is taken from one with a row in error."""
    from loadrig.commands import grade as command

    command.import_(context.obj, sheet, grader=grader, changed_too=changed)


@grade_app.command("judge")
def judge(
    context: typer.Context,
    *,
    model: Annotated[str, typer.Option(help="Id of the model that judges")],
    provider: Annotated[str, typer.Option(help="The dialect that its endpoint speaks")] = "anthropic",
    base_url: Annotated[str | None, typer.Option(help='Its endpoint: a URL, or "simulator"')] = None,
    scenario: Annotated[str | None, typer.Option(help="Scenario of the embedded simulator")] = None,
    name: Annotated[
        str | None, typer.Option(help="The judge's name in scores and reports; by default the model's")
    ] = None,
    faithfulness: Annotated[
        bool, typer.Option("--faithfulness", help="Also whether answers are supported by what the model was shown")
    ] = False,
    all_repetitions: All = False,
    seed: Seed = 7,
    floor: Annotated[float, typer.Option(min=0, max=1, help="Agreement with a sheet from which it is used")] = 0.9,
    least: Annotated[int, typer.Option(min=1, help="Answers that a sheet and it must both have marked")] = 20,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with 1 when an arm's faithfulness is below 0.9")] = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Cases in flight")] = 4,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of a verdict")] = 1000,
    budget: Annotated[str | None, typer.Option(help="Stop before this much money would be spent")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask about an estimated cost over 1.00")] = False,
) -> None:
    """Lets a model grade, blind to arm and model. It counts once it agrees with a sheet."""
    from loadrig.commands import grade_judge as command
    from loadrig.execution.options import command_line
    from loadrig.words.settings import BudgetSettings, LoadSettings, ModelSettings

    asked = command.Asked(
        model=ModelSettings(id=model, provider=provider, base_url=base_url, scenario=scenario, max_tokens=max_tokens),
        load=LoadSettings(concurrency=(concurrency,), warmup=0, cycle=False),
        budget=BudgetSettings(money=budget),
        name=name or model,
        seed=seed,
        all_repetitions=all_repetitions,
        faithfulness=faithfulness or gate,
        floor=floor,
        least=least,
        gate=gate,
        confirmed=yes,
        command_line=command_line(),
    )
    raise typer.Exit(command.judge(context.obj, asked))
