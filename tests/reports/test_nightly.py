"""Nights: each charge on one local day, sums that agree, divisors with names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import failed, record, turn, write_run

from loadrig.analysis.bill import bill
from loadrig.analysis.days import Nights, local_day, nights
from loadrig.cost import total
from loadrig.log import RunLog, read_run
from loadrig.reports import nightly
from loadrig.words.errors import InputError
from loadrig.words.record import Record, Usage

RANGE = datetime(2026, 10, 20), datetime(2026, 11, 1)  # noqa: DTZ001 - read as UTC
USED = Usage(input=1, output=1)


def spent(trial: str, began_at: str, cost: str = "0.04", **given: object) -> Record:
    return record(trial, began_at=began_at, cost=cost, turns=(turn(cost, usage=USED),), **given)


def of(folder: Path, zone: str, *records: Record) -> Nights:
    return nights([read_run(write_run(folder, records))], ZoneInfo(zone))


def test_a_minute_apart_can_be_two_local_days(tmp_path: Path) -> None:
    """M3: 14:59 and 15:00 UTC are two days in Tokyo; together they are the whole."""
    found = of(tmp_path, "Asia/Tokyo", spent("a", "2026-11-20T14:59:00Z"), spent("b", "2026-11-20T15:00:00Z"))
    assert [(day.day, day.cost.total.amount) for day in found.days] == [("2026-11-20", "0.04"), ("2026-11-21", "0.04")]
    assert found.total.amount == "0.08"


def test_the_day_the_clocks_go_back_has_25_hours() -> None:
    """M3: Berlin, 2026-10-25: from 22:00 UTC on the 24th to 23:00 UTC on the 25th."""
    berlin, start = ZoneInfo("Europe/Berlin"), datetime(2026, 10, 24, 0, 30, tzinfo=UTC)
    hours = [local_day((start + timedelta(hours=hour)).isoformat(), berlin) for hour in range(48)]
    assert hours.count("2026-10-25") == 25
    assert [hours[21], hours[22], hours[46], hours[47]] == ["2026-10-24", "2026-10-25", "2026-10-25", "2026-10-26"]


@given(st.lists(st.tuples(st.datetimes(*RANGE), st.integers(0, 10**7)), max_size=8))
def test_days_sum_to_the_whole(tmp_path_factory: pytest.TempPathFactory, found: list[tuple[datetime, int]]) -> None:
    """Whatever began when, the days' sums and the other money are the whole bill, exactly."""
    records = [
        spent(str(i), f"{began.isoformat()}Z", f"{Decimal(cost) / 10**9:f}", phase=("measured", "warmup")[i % 2])
        for i, (began, cost) in enumerate(found)
    ]
    result = of(tmp_path_factory.mktemp("nights") / "r", "Europe/Berlin", *records)
    parts = [day.cost.total for day in result.days] + [sum_of for _, sum_of in result.other]
    assert total(Decimal(part.amount or "x") for part in parts) == Decimal(result.total.amount or "x")
    assert Decimal(result.total.amount or "x") == Decimal(sum(cost for _, cost in found)) / 10**9


def test_calls_before_the_first_trial_are_in_the_nights_money(tmp_path: Path) -> None:
    """A probe of 0.01 and a cache primed for 0.05 on the evening before a trial of 0.04: 0.06 is the evening's, and the
    whole is the bill's, 0.10."""
    folder, evening = write_run(tmp_path, [spent("a", "2026-11-20T00:10:00Z")]), "2026-11-19T23:50:00Z"
    with RunLog(folder) as log:
        for name, cost in (("p", "0.01"), ("c", "0.05")):
            log.probe(spent(name, evening, cost, phase="probe"), {})
    run = read_run(folder)
    found = nights([run], ZoneInfo("UTC"))
    assert [(day, sum_of.amount) for day, sum_of in found.other] == [("2026-11-19", "0.06")]
    assert found.total.amount == bill(run).total.amount == "0.10"


def test_divisors_are_named_and_a_lost_trial_has_no_day(tmp_path: Path) -> None:
    """M5: 10 asked, 8 answered, 0.40 spent: 0.04 per asked, 0.05 per answered; a lost trial's day is unknown."""
    answered = [spent(f"a{i}", "2026-11-20T12:00:00Z") for i in range(8)]
    starved = [spent(f"s{i}", "2026-11-20T12:00:00Z", outcome="unanswered", reason="starved") for i in range(2)]
    found = of(tmp_path, "UTC", *answered, *starved, failed("l", "lost", began_at=None))
    cost = found.days[0].cost
    assert (cost.asked, cost.answered, cost.per_asked, cost.per_answered) == (10, 8, "0.04", "0.05")
    assert [(day.day, day.cost.total.unknown) for day in found.days] == [("2026-11-20", 0), ("unknown", 1)]


def test_the_table_has_all_runs_of_the_plan_and_no_other(tmp_path: Path) -> None:
    """Two nights of the plan are in it, a run of another plan is not; simulated and real are two tables."""
    for name, day, other in (
        ("n1", "20", {}), ("n2", "21", {}), ("x", "22", {"plan": {"name": "other"}}), ("s", "23", {"simulated": True}),
    ):  # fmt: skip
        write_run(tmp_path / name, [spent("a", f"2026-11-{day}T12:00:00Z")], **other)
    text = nightly.write(tmp_path, "night", "UTC").read_text()
    days = [line.split()[1] for line in text.splitlines() if line.startswith("| 2026")]
    assert days == ["2026-11-20", "2026-11-21", "2026-11-23"]
    assert "## Runs: by day" in text
    assert "## Simulated runs: by day" in text
    assert "dial settings" in text
    assert (tmp_path / "nightly-night.md").is_file()


def test_routes_have_a_table_of_their_own(tmp_path: Path) -> None:
    """B-23: two nights of a router: each way by night, with its money; an arm of one way is not in it."""
    noon, next_noon = "2026-11-20T12:00:00Z", "2026-11-21T12:00:00Z"
    records = [
        spent("a", noon, arm="route", route="lookup>rag"),
        spent("b", noon, arm="route", route="whole_set>full_context"),
        spent("c", next_noon, arm="route", route="lookup>rag"), failed("f", arm="route", began_at=next_noon),
        spent("d", noon),
    ]  # fmt: skip
    found = of(tmp_path / "n1", "UTC", *records)
    assert [(day.day[-2:], day.arm, day.way, day.cost.asked, day.cost.total.amount) for day in found.ways] == [
        ("20", "route", "lookup>rag", 1, "0.04"), ("20", "route", "whole_set>full_context", 1, "0.04"),
        ("21", "route", "lookup>rag", 1, "0.04"), ("21", "route", "none: no answer", 1, None),
    ]  # fmt: skip
    text = nightly.write(tmp_path, "night", "UTC").read_text()
    assert "## Runs: by route" in text
    rows = [line.split("|")[3].strip() for line in text.split("by route")[1].splitlines() if line.startswith("| 2026")]
    assert rows == [r"lookup\>rag", r"whole_set\>full_context", r"lookup\>rag", "none: no answer"]


def test_no_routes_no_table(tmp_path: Path) -> None:
    """Where no arm sends questions different ways there is nothing to tell."""
    write_run(tmp_path / "n1", [spent("a", "2026-11-20T12:00:00Z")])
    assert "by route" not in nightly.write(tmp_path, "night", "UTC").read_text()


def test_unlike_runs_are_not_averaged(tmp_path: Path) -> None:
    """One plan, another corpus, another file of questions, a smaller part of it, another model setting: five kinds,
    each in a table of its own that says of what; a run of the first kind joins the first."""
    asked = {"path": "q.jsonl", "limit": None}
    for name, sha, questions, model in (
        ("n1", "aa", asked, {"id": "m"}), ("n2", "bb", asked, {"id": "m"}), ("n3", "aa", {"path": "o"}, {"id": "m"}),
        ("n4", "aa", {**asked, "limit": 6}, {"id": "m"}), ("n5", "aa", asked, {"id": "m", "max_tokens": 9}),
        ("n6", "aa", asked, {"id": "m"}),
    ):  # fmt: skip
        plan = {"name": "night", "questions": questions, "model": [model]}
        corpus = {"name": "c", "sha256": sha}
        write_run(tmp_path / name, [spent("a", "2026-11-20T12:00:00Z")], plan=plan, corpus=corpus)
    text = nightly.write(tmp_path, "night", "UTC").read_text()
    assert sorted(line.split()[8] for line in text.splitlines() if line.startswith("| 2026")) == [*"11112"]
    assert "of corpus c bb in chunks" in text
    assert "questions q.jsonl, the first 6" in text


def test_an_arm_whose_options_changed_is_named(tmp_path: Path) -> None:
    """Two nights ask `rag` in two ways: one table, and the reader is told."""
    for name, k in (("n1", 3), ("n2", 5)):
        plan = {"name": "night", "arms": [{"name": "rag", "k": k}, {"name": "control"}]}
        write_run(tmp_path / name, [spent("a", "2026-11-20T12:00:00Z")], plan=plan)
    text = nightly.write(tmp_path, "night", "UTC").read_text()
    assert "not alike in all of these runs are the options of rag\n" in text


@pytest.mark.parametrize(
    ("plan", "zone", "problem"), [("no", "UTC", "no run of plan"), ("night", "Moon/X", "time zone")]
)
def test_wrong_input_is_said(tmp_path: Path, plan: str, zone: str, problem: str) -> None:
    """A plan that never ran and a zone that does not exist are the user's to mend."""
    write_run(tmp_path / "n1", [spent("a", "2026-11-20T12:00:00Z")])
    with pytest.raises(InputError, match=problem):
        nightly.write(tmp_path, plan, zone)
