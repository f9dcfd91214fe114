"""The command line. Parses, calls one command, turns errors into exit codes.

0 done; 1 more trials failed than allowed; 2 wrong usage or input (file, line, remedy); 3 interrupted, results kept.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from loadrig import __version__
from loadrig.commands.advise_app import advise
from loadrig.commands.corpus_app import corpus_app
from loadrig.commands.dashboards_app import dashboards
from loadrig.commands.doctor_app import doctor
from loadrig.commands.grade_app import grade_app
from loadrig.commands.nightly_app import nightly
from loadrig.commands.report_app import report
from loadrig.commands.study_app import study
from loadrig.words.errors import InputError, Interrupted, LoadrigError
from loadrig.words.settings import Fleet

EXIT_CODES: dict[type[LoadrigError], int] = {InputError: 2, Interrupted: 3}

app = typer.Typer(
    name="loadrig",
    help="Load and latency tester for grounded question answering.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(corpus_app, name="corpus")
app.add_typer(grade_app, name="grade")
app.command("study")(study)
app.command("nightly")(nightly)
app.command("advise")(advise)
app.command("report")(report)
app.command("doctor")(doctor)
app.command("dashboards")(dashboards)

PlanPath = Annotated[Path, typer.Argument(help="A plan: a TOML file, such as plans/quickstart.toml")]
BaseUrl = Annotated[str | None, typer.Option(help='Endpoint of every model: a URL, or "simulator"')]
Scenario = Annotated[str | None, typer.Option(help="Scenario of the embedded simulator: a name or a file")]
CorpusPath = Annotated[str | None, typer.Option("--corpus", help="Folder of texts")]
SliceName = Annotated[str | None, typer.Option("--slice", help="A slice of the corpus")]
QuestionsPath = Annotated[str | None, typer.Option("--questions", help="JSONL file of questions")]
ArmNames = Annotated[list[str] | None, typer.Option("--arm", help="Only this arm or kind of arm; may be repeated")]
Concurrency = Annotated[list[int] | None, typer.Option(min=1, help="Trials in flight; may be repeated")]
Rate = Annotated[str | None, typer.Option(help="Open loop: trials a second, one stage each, such as 0.5,1,2")]
Duration = Annotated[float | None, typer.Option(min=0.001, help="Seconds that a stage lasts")]
Workers = Annotated[int | None, typer.Option(min=1, help="Worker processes")]
FleetKind = Annotated[str | None, typer.Option("--fleet", help='Where workers run: "process", "ray" or "inline"')]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first n questions")]
Repetitions = Annotated[int | None, typer.Option(min=1, help="How often each question is asked in each arm")]
OnePass = Annotated[bool, typer.Option("--one-pass", help="Do not repeat the set to fill a stage")]
Screen = Annotated[bool, typer.Option("--screen", help="The small protocol: does a full study pay?")]
Out = Annotated[Path, typer.Option(help="Where run folders go")]
Inline = Annotated[bool, typer.Option("--inline", help="One worker in this process")]
Budget = Annotated[str | None, typer.Option(help="Stop before this much money would be spent")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask about an estimated cost over 1.00")]
MetricsPort = Annotated[int | None, typer.Option(min=0, max=65535, help="Serve /metrics here; 0 takes a free port")]
MetricsHost = Annotated[str, typer.Option(help="Address that /metrics listens on")]
Linger = Annotated[float, typer.Option(min=0, help="Seconds to go on serving /metrics after the end")]
Pushgateway = Annotated[str | None, typer.Option(help="Push metrics to this Prometheus pushgateway: its URL")]


@app.command()
def run(
    plan: PlanPath,
    *,
    base_url: BaseUrl = None,
    scenario: Scenario = None,
    corpus: CorpusPath = None,
    slice_name: SliceName = None,
    questions: QuestionsPath = None,
    arm: ArmNames = None,
    concurrency: Concurrency = None,
    rate: Rate = None,
    duration: Duration = None,
    workers: Workers = None,
    fleet: FleetKind = None,
    limit: Limit = None,
    repetitions: Repetitions = None,
    one_pass: OnePass = False,
    screen: Screen = False,
    out: Out = Path("results"),
    resume: Annotated[Path | None, typer.Option(help="A run folder: ask only what is missing in it")] = None,
    retry: Annotated[str | None, typer.Option(help='With --resume: "failed" asks failed trials again')] = None,
    inline: Inline = False,
    budget: Budget = None,
    yes: Yes = False,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = "127.0.0.1",
    linger: Linger = 0.0,
    pushgateway: Pushgateway = None,
) -> None:
    """Fires a plan: replays its questions through its arms, prints the figures and writes the report."""
    from loadrig.commands import firing
    from loadrig.execution.options import Options, Overrides, command_line

    if retry not in (None, "failed") or (retry and resume is None):
        raise InputError(f"--retry {retry}", remedy='use "--retry failed" together with --resume RUN')
    flags = Overrides(
        base_url=base_url,
        scenario=scenario,
        corpus=corpus,
        slice=slice_name,
        questions=questions,
        arm=tuple(arm or ()),
        concurrency=tuple(concurrency or ()),
        rate=_rates(rate),
        duration_s=duration,
        workers=workers,
        fleet=_fleet(fleet),
        limit=limit,
        repetitions=repetitions,
        budget=budget,
        one_pass=one_pass,
    )
    options = Options(
        out=out,
        resume=resume,
        retry_failed=retry == "failed",
        inline=inline,
        confirmed=yes,
        metrics_host=metrics_host,
        metrics_port=metrics_port,
        linger_s=linger,
        pushgateway=pushgateway,
        screen=screen,
        command_line=command_line(),
    )
    raise typer.Exit(firing.fire(plan, flags, options, console=firing.console_of()).exit_code)


@app.command()
def plan(
    plan: PlanPath,
    *,
    base_url: BaseUrl = None,
    corpus: CorpusPath = None,
    slice_name: SliceName = None,
    questions: QuestionsPath = None,
    arm: ArmNames = None,
    concurrency: Concurrency = None,
    rate: Rate = None,
    duration: Duration = None,
    limit: Limit = None,
    repetitions: Repetitions = None,
    one_pass: OnePass = False,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Let the endpoint count some prompts")] = False,
) -> None:
    """Shows what a plan would do: trials, tokens, cost. Nothing is sent, but for counting with --calibrate."""
    from rich.console import Console

    from loadrig.commands import plan as command
    from loadrig.config import read_plan
    from loadrig.execution.options import Overrides, overridden

    flags = Overrides(
        base_url=base_url,
        corpus=corpus,
        slice=slice_name,
        questions=questions,
        arm=tuple(arm or ()),
        concurrency=tuple(concurrency or ()),
        rate=_rates(rate),
        duration_s=duration,
        limit=limit,
        repetitions=repetitions,
        one_pass=one_pass,
    )
    command.show(overridden(read_plan(plan), flags), Console(), count=calibrate)


@app.command()
def sweep(
    plan: PlanPath,
    *,
    levels: Annotated[str | None, typer.Option(help="Closed loop: trials in flight, such as 1,4,16")] = None,
    rate: Rate = None,
    search: Annotated[bool, typer.Option("--search", help="Find the highest load that keeps the objectives")] = False,
    objective: Annotated[list[str] | None, typer.Option(help='Such as "ttft_p95<2s"; may be repeated')] = None,
    ceiling: Annotated[float | None, typer.Option(min=0.001, help="With --search: no load above this")] = None,
    stages: Annotated[int, typer.Option(min=2, max=64, help="With --search: no more stages than this")] = 12,
    no_stop: Annotated[bool, typer.Option("--no-stop", help="Go on beyond a saturated stage")] = False,
    duration: Duration = None,
    base_url: BaseUrl = None,
    scenario: Scenario = None,
    corpus: CorpusPath = None,
    questions: QuestionsPath = None,
    arm: ArmNames = None,
    limit: Limit = None,
    one_pass: OnePass = False,
    workers: Workers = None,
    fleet: FleetKind = None,
    inline: Inline = False,
    out: Out = Path("results"),
    budget: Budget = None,
    yes: Yes = False,
    metrics_port: MetricsPort = None,
    pushgateway: Pushgateway = None,
) -> None:
    """Runs one stage for each level of load until the target is past its knee, or searches for the highest load that
    keeps the objectives, beginning at the lowest level given; shows the stages side by side, and the knee."""
    from loadrig.commands import sweep as command
    from loadrig.execution.options import Options, Overrides, command_line
    from loadrig.objectives import written

    if (levels is None) == (rate is None) and not (search and levels is None):
        raise InputError("a sweep wants --levels or --rate", remedy="one of them, such as --levels 1,4,16")
    flags = Overrides(
        base_url=base_url,
        scenario=scenario,
        corpus=corpus,
        questions=questions,
        arm=tuple(arm or ()),
        limit=limit,
        one_pass=one_pass,
        workers=workers,
        fleet=_fleet(fleet),
        concurrency=() if levels is None else _levels(levels),
        rate=_rates(rate),
        duration_s=duration,
        budget=budget,
        objectives=tuple(map(written, objective or ())),
    )
    options = Options(
        out=out, inline=inline, confirmed=yes, metrics_port=metrics_port, pushgateway=pushgateway,
        command_line=command_line(),
    )  # fmt: skip
    way = command.Way(search=search, stop=not no_stop, ceiling=ceiling, stages=stages)
    raise typer.Exit(command.sweep(plan, flags, options, way))


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="The run to compare with")],
    b: Annotated[Path | None, typer.Argument(help="The run to compare; else two arms of A")] = None,
    *,
    arm: Annotated[list[str] | None, typer.Option("--arm", help="Only this arm; twice: of A, and of B")] = None,
    model: Annotated[list[str] | None, typer.Option("--model", help="Only this model; twice: of A, and of B")] = None,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with 1 when accuracy falls by over 5.0 points")] = False,
    gate_objective: Annotated[list[str] | None, typer.Option(help='And when B breaks it: "ttft_p95<2s"')] = None,
    out: Annotated[Path | None, typer.Option(help="Where compare.md and compare.json go; else B's folder")] = None,
) -> None:
    """Compares two runs question by question: what differs, what that did, and what is inside the noise."""
    from loadrig.commands import compare as command
    from loadrig.commands.firing import console_of

    asked = command.Asked(a, b, arm or (), model or (), points=gate, objectives=gate_objective or (), out=out)
    raise typer.Exit(command.compare(asked, console_of()))


@app.command()
def simulate(
    *,
    scenario: Annotated[str, typer.Option(help="Name of a shipped scenario, or a TOML file")] = "quick",
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free port")] = 8089,
    truth_log: Annotated[Path | None, typer.Option(help="File for one JSON line a request")] = None,
) -> None:
    """Runs the simulated provider until it is stopped."""
    from loadrig.simulator import ScenarioError, load_scenario, serve

    try:
        serve(host, port, load_scenario(scenario), truth_log)
    except ScenarioError as error:
        raise InputError(str(error), remedy="name a shipped scenario or a correct TOML file") from error
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port}: {error}", remedy="choose another port") from error


@app.command()
def selftest(
    *,
    streams: Annotated[int, typer.Option(min=1, help="Streams at once in the paced part")] = 128,
    seconds: Annotated[float, typer.Option(min=0.5, help="Length of each of the four parts")] = 5.0,
    quick: Annotated[bool, typer.Option("--quick", help="Short parts: under 20 seconds in all")] = False,
    tls: Annotated[bool, typer.Option("--tls", help="Over HTTPS, with a certificate that openssl makes")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the figures to this file")] = None,
) -> None:
    """Measures the rig itself against a target that does nothing: its lateness, its cost, its ceiling."""
    from loadrig.commands import selftest as command
    from loadrig.commands.firing import console_of

    seconds = min(seconds, 1.5) if quick else seconds
    raise typer.Exit(command.selftest(streams=streams, seconds=seconds, tls=tls, json=json, console=console_of()))


@corpus_app.command("stats")
def corpus_stats(
    path: Annotated[str, typer.Argument(help="Folder of texts")],
    *,
    questions: QuestionsPath = None,
    slice_name: SliceName = None,
) -> None:
    """Counts documents, tokens, chunks and skipped files of a folder, and questions by category."""
    from loadrig.commands import corpus as command

    command.stats(path, slice_name, questions=questions)


@corpus_app.command("check")
def corpus_check(
    path: Annotated[str, typer.Argument(help="Folder of texts")],
    questions: Annotated[str, typer.Argument(help="JSONL file of questions")],
    *,
    slice_name: SliceName = None,
) -> None:
    """Holds questions and ledger against the texts, rule by rule. Exit code 2 when one is broken."""
    from loadrig.commands import corpus as command

    raise typer.Exit(command.check(path, questions, slice_name))


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Show the version")] = False) -> None:
    if version:
        typer.echo(f"loadrig {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Entry point: runs a command and exits with its code."""
    sys.path.insert(0, str(Path.cwd()))  # so that `module:attr` in a plan finds modules of the working folder
    try:
        app(arguments)
    except LoadrigError as error:
        typer.echo(f"loadrig: {error}", err=True)
        sys.exit(EXIT_CODES.get(type(error), 1))


def _levels(text: str) -> tuple[int, ...]:
    try:
        levels = tuple(int(part) for part in text.split(","))
    except ValueError:
        levels = ()
    if not levels or min(levels) < 1:
        raise InputError(f"--levels {text!r}", remedy="whole numbers above 0 with commas between, such as 1,4,16")
    return levels


def _fleet(text: str | None) -> Fleet | None:
    if text is not None and text not in get_args(Fleet):
        raise InputError(f"--fleet {text!r}", remedy=f"one of: {', '.join(get_args(Fleet))}")
    return cast("Fleet | None", text)


def _rates(text: str | None) -> tuple[float, ...]:
    try:
        rates = tuple(float(part) for part in text.split(",")) if text is not None else ()
    except ValueError:
        rates = (0.0,)
    if any(not 0 < rate <= 100_000 for rate in rates):
        raise InputError(f"--rate {text!r}", remedy="trials a second above 0 with commas between, such as 0.5,1,2")
    return rates
