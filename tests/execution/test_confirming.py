"""What a run may cost without being asked about: nothing is sent here, least of all to the endpoints that are named."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

from loadrig.execution.building import Foreseen
from loadrig.execution.execute import _confirm
from loadrig.execution.options import Options
from loadrig.execution.prepare import Prepared, prepare
from loadrig.execution.targets import Reached, reach
from loadrig.words.errors import InputError
from loadrig.words.settings import BudgetSettings, ModelSettings
from plans import plan

HERE, AWAY = (Reached({}, {}, (), local, ()) for local in (True, False))
YES, NO = Options(confirmed=True), Options()


@cache
def _prepared() -> Prepared:
    return prepare(plan(), build=False)


def costing(cost: str | None, budget: str | None = None) -> Prepared:
    """A plan estimated at `cost`, None where a model has no price, with a budget in money or without."""
    one = _prepared()
    estimate = replace(one.estimate, cost=None if cost is None else Decimal(cost))
    return replace(one, estimate=estimate, plan=replace(one.plan, budget=BudgetSettings(money=budget)))


def test_a_run_that_costs_more_than_one_elsewhere_wants_to_be_confirmed() -> None:
    """1.01 against a target that is not this machine: refused, with the sum, its currency and both ways on."""
    with pytest.raises(InputError, match=r"estimated to cost 1.01 USD") as caught:
        _confirm(costing("1.01"), NO, AWAY)
    assert "--yes" in caught.value.remedy
    assert "--budget" in caught.value.remedy


def test_what_is_built_beforehand_counts() -> None:
    """0.60 for the trials and 0.41 for what an arm has built are 1.01; 0.40 are not more than one."""
    with pytest.raises(InputError, match=r"estimated to cost 1.01 USD"):
        _confirm(costing("0.60"), NO, AWAY, Foreseen(1, 100, Decimal("0.41")))
    _confirm(costing("0.60"), NO, AWAY, Foreseen(1, 100, Decimal("0.40")))


def test_a_budget_that_cannot_be_kept_is_refused() -> None:
    """A budget in money and a model without a price: refused wherever the target is, until --yes."""
    for reached in (HERE, AWAY):
        with pytest.raises(InputError, match="a budget in money cannot be kept") as caught:
            _confirm(costing(None, budget="5.00"), NO, reached)
        assert "--yes" in caught.value.remedy


@pytest.mark.parametrize(
    ("cost", "budget", "options", "reached"),
    [
        ("1.00", None, NO, AWAY),
        ("1.01", None, YES, AWAY),
        ("1.01", "5.00", NO, AWAY),
        ("1.01", None, NO, HERE),
        (None, None, NO, AWAY),
        (None, "5.00", YES, AWAY),
    ],
    ids=["one is enough", "confirmed", "with a budget", "on this machine", "of unknown cost", "unpriced, confirmed"],
)
def test_whoever_knows_what_it_costs_is_not_asked(
    cost: str | None, budget: str | None, options: Options, reached: Reached
) -> None:
    """Cheap, confirmed, limited, local, or of unknown cost without a budget: it goes on."""
    _confirm(costing(cost, budget), options, reached)


@pytest.mark.parametrize(
    ("urls", "local"),
    [
        (["http://127.0.0.1:9"], True),
        (["http://[::1]:9", "http://localhost:9", "http://127.8.8.8:9"], True),
        (["http://127.0.0.1:9", "https://models.example"], False),
        (["http://localhost.example:9"], False),
        (["http://192.168.0.7:9"], False),
        ([None], False),
    ],
)
def test_a_target_is_local_when_every_model_is_asked_on_this_machine(
    urls: list[str | None], local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loopback by name or address; one model elsewhere, or at its provider's own address, and the run is not."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-that-nobody-may-see")
    models = tuple(ModelSettings(id=f"m-{n}", base_url=url) for n, url in enumerate(urls))

    async def reached() -> bool:
        async with reach(plan(model=models), tmp_path) as found:
            return found.local

    assert asyncio.run(reached()) is local
