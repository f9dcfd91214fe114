"""`loadrig doctor`: examines the endpoints of a plan, or one that is named, and prints a page of each."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadrig.commands.firing import DONE, FAILED
from loadrig.config import read_plan
from loadrig.cost import Prices
from loadrig.doctor.examine import Foreseen, examine, first_model, foreseen
from loadrig.doctor.findings import GROUPS, Examination, Finding, Group
from loadrig.execution.embedded import NAME, embedded
from loadrig.log import write_json
from loadrig.providers import TABLE
from loadrig.words.settings import ModelSettings

TITLES: dict[Group, str] = {
    "measurable": "Can be measured",
    "with care": "With care",
    "not measurable": "Cannot be measured",
}
ANY_MODEL = "claude-haiku-5-5"  # where none is named and none is listed: mocks take any name
COLOURS = {"ok": "green", "not there": "yellow", "cannot tell": "yellow", "broken": "red"}


def doctor(
    models: Sequence[ModelSettings],
    *,
    prices: Prices,
    limit_s: float,
    any_provider: bool,
    json: Path | None,
    console: Console,
) -> int:
    """Examines each of `models`; 1 when a run against one of them makes no sense. One without an id takes the first
    that its endpoint lists. `any_provider`: where the first dialect is not spoken, the others are tried."""
    found = asyncio.run(_examined(models, prices, limit_s, any_provider=any_provider, console=console))
    if json is not None:
        derived = [{"verdict": one.verdict, "makes_sense": one.makes_sense} for one in found]
        write_json(json, [asdict(one) | more for one, more in zip(found, derived, strict=True)])
    return DONE if all(one.makes_sense for one in found) else FAILED


def models_of(plan: Path) -> tuple[tuple[ModelSettings, ...], Prices]:
    """The models of a plan, and its prices. Raises `InputError`."""
    read = read_plan(plan)
    return read.model, Prices.load(read.prices.path)


async def _examined(
    models: Sequence[ModelSettings], prices: Prices, limit_s: float, *, any_provider: bool, console: Console
) -> list[Examination]:
    found = []
    for model in models:
        async with _base_url(model) as (asked, base_url):
            if not asked.id:
                named = await first_model(asked, base_url, limit_s=limit_s)
                asked = replace(asked, id=named or ANY_MODEL)  # noqa: PLW2901
            announce(foreseen(asked, prices), prices, console)
            one = await examine(asked, base_url, prices, limit_s=limit_s)
            if any_provider and _speaks_another(one):
                one = await _by_another(asked, base_url, prices, limit_s=limit_s) or one
        page(one, prices, console)
        found.append(one)
    return found


@asynccontextmanager
async def _base_url(model: ModelSettings) -> AsyncIterator[tuple[ModelSettings, str | None]]:
    """The model as it is asked, and where; the embedded simulator runs meanwhile if it is that."""
    if model.base_url != NAME:
        yield model, model.base_url
        return
    with tempfile.TemporaryDirectory(prefix="loadrig-") as folder:
        async with embedded(model.scenario, Path(folder) / "truth.jsonl") as simulator:
            yield replace(model, path=None), simulator.base_url_for(model.provider)


def _speaks_another(found: Examination) -> bool:
    return any(one.check == "dialect" and one.state == "broken" for one in found.findings)


async def _by_another(
    model: ModelSettings, base_url: str | None, prices: Prices, *, limit_s: float
) -> Examination | None:
    """What is found in the first other dialect that is spoken there; None when none is."""
    bases = [base_url] if base_url is None else [base_url, *_otherwise(base_url)]
    for base, provider in itertools.product(bases, TABLE):
        if (base, provider) != (base_url, model.provider):
            found = await examine(replace(model, provider=provider), base, prices, limit_s=limit_s)
            if not _speaks_another(found):
                return found
    return None


def _otherwise(base_url: str) -> Sequence[str]:
    """The same base URL with `/v1`, as one dialect's clients want it, or without, as the other's do."""
    bare = base_url.rstrip("/")
    return [bare.removesuffix("/v1")] if bare.endswith("/v1") else [f"{bare}/v1"]


def announce(what: Foreseen, prices: Prices, console: Console) -> None:
    """Before anything is sent: how much."""
    cost = "cost unknown: no price for the model" if what.cost is None else f"about {what.cost:.3f} {prices.currency}"
    console.print(
        f"sending at most {what.requests} requests, one after the other: some {what.prompt_tokens:,} prompt and "
        f"{what.output_tokens:,} output tokens, {cost}",
        style="dim",
        highlight=False,
    )


def page(found: Examination, prices: Prices, console: Console) -> None:
    """One page: the verdict, then three groups."""
    console.print(Text(f"\n{found.model} at {found.endpoint} ({found.provider})", style="bold"))
    console.print(Text(_plain(found.verdict), style="bold green" if found.makes_sense else "bold red"))
    for warning in found.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))
    for group in GROUPS:
        if members := [finding for finding in found.findings if finding.group == group]:
            console.print()
            console.print(_table(TITLES[group], members))
    paid = "" if found.cost is None else f", {found.cost} {prices.currency}"
    told = f", {found.tokens:,} tokens as told{paid}" if found.tokens else ""
    console.print(Text(f"\n{found.requests} request{'s' if found.requests != 1 else ''} sent{told}", style="dim"))


def _table(title: str, findings: Sequence[Finding]) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, show_header=False, padding=(0, 2, 0, 0)
    )
    table.add_column(no_wrap=True, min_width=17)  # so that the groups stand below one another
    table.add_column(no_wrap=True, min_width=11)
    table.add_column()
    for row in _rows(findings):
        table.add_row(*row)
    return table


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[Text, Text, Text]]:
    for one in findings:
        text = Text(_plain(one.said))
        text.append(f"\n{one.means}", style="dim")
        yield Text(one.check), Text(one.state, style=COLOURS[one.state]), text


def _plain(said: str) -> str:
    """Without what would steer a terminal: rich lets an escape pass."""
    return "".join(one if one.isprintable() else " " for one in said)
