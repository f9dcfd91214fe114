"""The command line of `loadrig doctor`."""
# ruff: noqa: PLC0415, PLR0913 - one parameter a flag; `--help` and errors need no heavy imports

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from loadrig.words.errors import InputError
from loadrig.words.settings import ModelSettings


def doctor(
    plan: Annotated[Path | None, typer.Argument(help="A plan: the endpoints of its models")] = None,
    *,
    base_url: Annotated[str | None, typer.Option(help='An endpoint: a URL, or "simulator"')] = None,
    provider: Annotated[str | None, typer.Option(help="The dialect it speaks; else found out")] = None,
    model: Annotated[
        str | None, typer.Option(help="The id of the model to be asked; else the first that is listed")
    ] = None,
    scenario: Annotated[str | None, typer.Option(help="Scenario of the embedded simulator: a name or a file")] = None,
    path: Annotated[str | None, typer.Option(help="In the place of the dialect's own path")] = None,
    header: Annotated[
        list[str] | None, typer.Option(help="'NAME: VALUE', $NAME in it an environment variable; may be repeated")
    ] = None,
    proxy: Annotated[str | None, typer.Option(help='URL of a proxy, or "off"')] = None,
    ca_file: Annotated[str | None, typer.Option(help="Further certificates to trust, PEM")] = None,
    client_cert: Annotated[str | None, typer.Option(help="A certificate to show, PEM")] = None,
    client_key: Annotated[str | None, typer.Option(help="Its key, where it is not in the same file, PEM")] = None,
    prices: Annotated[str | None, typer.Option("--prices", help="Your own price table, laid over ours")] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Limit of each request")] = 30.0,
    json: Annotated[Path | None, typer.Option(help="Write what was found to this file")] = None,
) -> None:
    """Examines an endpoint with a dozen small requests and says what can be measured there, and what cannot. Exit code
    1 when a run makes no sense."""
    from loadrig.commands import doctor as command
    from loadrig.commands.firing import console_of
    from loadrig.cost import Prices

    flags = {
        "base_url": base_url, "provider": provider, "scenario": scenario, "path": path, "headers": _headers(header),
        "proxy": proxy, "ca_file": ca_file, "client_cert": client_cert, "client_key": client_key,
    }  # fmt: skip
    given = {name: value for name, value in flags.items() if value is not None}
    if plan is not None:
        if extra := sorted(set(given) - {"base_url", "scenario"}):
            named = ", ".join(name.replace("_", "-") for name in extra)
            raise InputError(f"a plan and --{named}", remedy="the [[model]] of the plan has it; or leave the plan out")
        models, table = command.models_of(plan)
        models = tuple(_with(one, given) for one in models if model in (None, one.id))
        if not models:
            raise InputError(f"the plan has no model {model!r}", path=plan, remedy="name one that it has, or none")
    elif base_url is None and provider is None:
        raise InputError("no endpoint is named", remedy="name a plan, or --base-url URL")
    else:
        models, table = (_with(ModelSettings(id=model or ""), given),), Prices.load(prices)
    raise typer.Exit(
        command.doctor(
            models, prices=table if prices is None else Prices.load(prices), limit_s=seconds,
            any_provider=plan is None and provider is None, json=json, console=console_of(),
        )
    )  # fmt: skip


def _headers(given: list[str] | None) -> dict[str, str] | None:
    """`NAME: VALUE` each. Raises `InputError` for one that a plan could not have either."""
    from loadrig.headers import mistake_in

    if not given:
        return None
    found = {}
    for line in given:
        name, colon, value = (part.strip() for part in line.partition(":"))
        wrong = mistake_in(name, value) if colon else ("--header without a colon", "write 'NAME: VALUE'")
        if wrong:
            raise InputError(wrong[0], remedy=wrong[1])
        found[name] = value
    return found


def _with(model: ModelSettings, given: dict[str, Any]) -> ModelSettings:
    return replace(model, **given)
