"""The command line of `loadrig dashboards`."""
# ruff: noqa: PLC0415, PLR0913 - one parameter a flag; `--help` and errors need no heavy imports

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer


def dashboards(
    *,
    out: Annotated[Path, typer.Option(help="Folder that the files go to")] = Path("loadrig-dashboards"),
    target: Annotated[list[str] | None, typer.Option(help="HOST:PORT of a run's metrics; may be repeated")] = None,
    pushgateway: Annotated[list[str] | None, typer.Option(help="HOST:PORT of a pushgateway; may be repeated")] = None,
    interval: Annotated[int, typer.Option("--interval", min=1, max=300, help="Seconds between two scrapes")] = 5,
    datasource: Annotated[str, typer.Option("--datasource", help="Grafana's name of the data source")] = "Prometheus",
    prometheus: Annotated[str, typer.Option("--prometheus", help="Where Grafana finds it")] = "http://prometheus:9090",
    cost_per_hour: Annotated[str, typer.Option(help="Money an hour from which on a rule speaks")] = "10",
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there and differ")] = False,
) -> None:
    """Writes Grafana dashboards, Prometheus rules and scrape configuration, provisioning and a compose file."""
    from loadrig.commands import dashboards as command
    from loadrig.commands.firing import console_of
    from loadrig.live.dashboards.setup import TARGET, Setup

    setup = Setup(
        datasource=datasource,
        prometheus=prometheus,
        targets=tuple(target or (TARGET,)),
        gateways=tuple(pushgateway or ()),
        interval_s=interval,
        cost_per_hour=_money(cost_per_hour),
    )
    command.dashboards(setup, out, console_of(), force=force)


def _money(text: str) -> Decimal:
    from loadrig.words.errors import InputError

    try:
        money = Decimal(text)
    except InvalidOperation:
        money = Decimal(-1)
    if not money.is_finite() or money < 0:
        raise InputError(f"--cost-per-hour {text!r}", remedy="an amount of money, such as --cost-per-hour 2.50")
    return money
