"""A run in sums: tariffs that explain a cost, intervals over questions, weeks, and all of it again from a file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from nightly_cells import cell, dear, raw
from records import attempt, failed, plain, question, record, turn, write_run

from loadrig.analysis.bill import bill
from loadrig.analysis.nightly import kept
from loadrig.analysis.nightly.digest import RunNights, Sum, digest
from loadrig.analysis.nightly.kept import all_runs
from loadrig.analysis.nightly.standing import nights_of, standing_of
from loadrig.analysis.nightly.sums import WHOLE, by_arm, row, rows, ttft_p95
from loadrig.analysis.nightly.tariffs import tariff_of
from loadrig.analysis.nightly.weeks import week_of, weeks
from loadrig.cost import total
from loadrig.log import RunLog, read_run
from loadrig.statistics.ratio import ratio_of_sums
from loadrig.words.record import Record, Usage

UTC, BERLIN = ZoneInfo("UTC"), ZoneInfo("Europe/Berlin")
USED = Usage(input=1000, cache_write_5m=200, cache_write_1h=100, cache_read=5000, output=50)
RATES = {"input": "1", "cache_write_5m": "1.25", "cache_write_1h": "2", "cache_read": "0.10", "output": "5"}
ROW = {"model": "m", "rates": RATES, "tiers": [], "multipliers": {"batch": "0.5"}}
COST = "0.0022"  # (1000 x 1 + 200 x 1.25 + 100 x 2 + 5000 x 0.10 + 50 x 5) / 1,000,000
NOON = "2026-11-20T12:00:00Z"


def asked(trial: str, cost: str = COST, used: Usage = USED, **given: object) -> Record:
    return record(trial, **{"began_at": NOON, "cost": cost, "usage": used, "turns": (turn(cost, usage=used),), **given})


def of(folder: Path, *records: Record, zone: ZoneInfo = UTC, **given: object) -> RunNights:
    table = {"price_table": {"rows": [ROW]}}
    return digest(read_run(write_run(folder, records, **{**table, **given})), zone)


def test_a_cost_is_explained_by_the_rates_on_file(tmp_path: Path) -> None:
    """Two exchanges at list price: their tokens are under one tariff, and nothing is left over."""
    found = of(tmp_path, asked("a"), asked("b"))
    (one,) = found.cells
    assert (one.sound.tokens, one.sound.money, one.sound.rest) == ({"m": (2000, 400, 200, 10000, 100)}, "0.0044", "0")
    assert found.tariffs == {"m": ("1", "1.25", "2", "0.10", "5")}


def test_another_way_of_being_served_is_another_tariff(tmp_path: Path) -> None:
    """By batch at half the rates: 0.0011, under a name of its own; and a prompt over a limit at twice the rates."""
    tier = {"above_prompt_tokens": 6000, "rates": {name: f"{2 * Decimal(rate)}" for name, rate in RATES.items()}}
    half = of(tmp_path / "a", asked("a", "0.0011", msgspec.structs.replace(USED, service_tier="batch")))
    twice = of(tmp_path / "b", asked("a", "0.0044"), price_table={"rows": [{**ROW, "tiers": [tier]}]})
    assert [*half.tariffs] == ["m batch"]
    assert [*twice.tariffs] == ["m above 6000"]
    assert [cell.sound.rest for run in (half, twice) for cell in run.cells] == ["0", "0"]


@pytest.mark.parametrize("rows", [[], [{**ROW, "rates": {**RATES, "output": "6"}}], [{"model": "m"}]])
def test_a_cost_that_the_rates_do_not_give_is_a_rest(rows: list[object], tmp_path: Path) -> None:
    """No row, rates that give another sum, a manifest of before rates were on file: all of the money is the rest."""
    (one,) = of(tmp_path, asked("a"), price_table={"rows": rows}).cells
    assert (one.sound.tokens, one.sound.rest) == ({}, COST)


def test_every_charge_is_on_one_line_of_one_day(tmp_path: Path) -> None:
    """Warm-up, a retry, a failure that cost, a probe and a lost try: lines by day are the bill's, and the total too."""
    twice = turn(attempts=(attempt(cost="0.01", usage=USED), attempt(cost="0.02", usage=USED)), usage=USED, cost="0.02")
    folder = write_run(tmp_path, [
        asked("w", phase="warmup", began_at="2026-11-19T23:59:00Z"), asked("a"),
        record("r", began_at=NOON, turns=(twice,), cost="0.03"),
        failed("f", began_at=NOON, cost="0.005", turns=(turn("0.005", usage=USED, outcome="failed"),)),
        failed("l", "lost", began_at=None), asked("l", try_no=2),
    ])  # fmt: skip
    with RunLog(folder) as log:
        log.probe(asked("p", "0.07", phase="probe"), {})
    run = read_run(folder)
    found, whole = digest(run, UTC), bill(run)
    by_line = {line.name: line.money.amount for line in whole.lines}
    for name, amount in by_line.items():
        mine = total(Decimal(line.money.amount) for line in found.lines if line.name == name)
        assert mine == Decimal(amount or 0), name
    assert by_line["retries"] == "0.01"
    assert by_line["failed"] == "0.005"
    assert [(line.day, line.name) for line in found.lines if line.day != "2026-11-20"] == [
        ("2026-11-19", "warmup"), ("unknown", "superseded"),
    ]  # fmt: skip
    assert sum(line.money.unknown for line in found.lines) == whole.total.unknown == 1


def test_cells_are_the_questions_money(tmp_path: Path) -> None:
    """Two arms, two days, three categories of trials: cells add up to the lines that belong to questions."""
    found = of(
        tmp_path, asked("a"), asked("b", arm="full", began_at="2026-11-21T00:10:00Z"),
        asked("c", category="many"), asked("w", phase="warmup"),
    )  # fmt: skip
    assert [(one.day[-2:], one.arm, one.category, one.asked) for one in found.cells] == [
        ("20", "rag", "fact", 1), ("20", "rag", "many", 1), ("21", "full", "fact", 1),
    ]  # fmt: skip
    questions = [line.money.amount for line in found.lines if line.name == "measured"]
    assert total(map(Decimal, questions)) == total(Decimal(one.money.amount) for one in found.cells)


def test_a_run_over_midnight_is_one_night_and_two_days(tmp_path: Path) -> None:
    """Begun at 23:50 in Berlin, which is 22:50 UTC: a trial before midnight, one after; the night is the first day."""
    late = asked("a", began_at="2026-11-19T22:55:00Z"), asked("b", began_at="2026-11-19T23:05:00Z")
    found = of(tmp_path, *late, zone=BERLIN, began_at="2026-11-19T22:50:00Z")
    assert found.night == "2026-11-19"
    assert [one.day for one in found.cells] == ["2026-11-19", "2026-11-20"]


def test_a_run_begun_elsewhere_is_of_the_plans_day(tmp_path: Path) -> None:
    """A label with an offset of another zone is the same instant: 01:30 in Tokyo is 17:30 in Berlin, the day before."""
    found = of(tmp_path, asked("a", began_at="2026-11-21T01:30:00+09:00"), zone=BERLIN)
    assert found.cells[0].day == found.night == "2026-11-20"


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-11-20", 24)])
def test_days_are_as_long_as_the_zone_makes_them(day: str, hours: int, tmp_path: Path) -> None:
    """One trial every hour of three days of UTC: in Berlin so many of them are of the day on which clocks change."""
    start = f"{day[:8]}{int(day[8:]) - 1:02}"
    labels = [f"{start[:8]}{int(start[8:]) + hour // 24:02}T{hour % 24:02}:30:00Z" for hour in range(72)]
    found = of(tmp_path, *(asked(str(n), began_at=label) for n, label in enumerate(labels)), zone=BERLIN)
    assert {one.day: one.asked for one in found.cells}[day] == hours


def test_each_cost_has_its_own_divisor() -> None:
    """Ten asked, eight answered, four right, 0.40 spent: 0.04, 0.05 and 0.10."""
    found = row(WHOLE, [cell(answered=8, correct=4, money=Sum("0.40", 10))], "USD")
    assert (found.cost.per_asked, found.cost.per_answered, found.cost.per_correct) == ("0.04", "0.05", "0.1")
    assert (found.right, found.failed_share, found.tokens) == (0.4, 0, 100)
    third = row(WHOLE, [cell(asked=3, money=Sum("0.01", 3))], "USD")
    assert third.cost.per_asked == "0.003333333333"


def test_repetitions_are_one_cluster() -> None:
    """Two questions, asked five times each, in two arms: the interval is over two, not over twenty."""
    each = raw([["q1", 5, 5, 5, 0.5], ["q2", 5, 5, 5, 1.0]])
    found = row(WHOLE, [cell("a", each=each), cell("b", each=each)], "USD")
    assert found.asked_interval is not None
    assert (found.asked_interval.n, found.asked_interval.low, found.asked_interval.high) == (2, 0.1, 0.2)


def test_a_ratio_has_no_end_among_draws_without_a_success() -> None:
    """One right answer of three questions: a draw without it, 8 of 27, has no cost a right answer: no upper end."""
    found = ratio_of_sums([1, 1, 1], [1, 0, 0])
    assert found is not None
    assert (found.value, found.low, found.high) == (3, 1, None)
    assert ratio_of_sums([1, 2], [0, 0]) is None


def test_rows_of_arms_sum_to_all() -> None:
    """Whatever the grouping: the same trials, the same money."""
    cells = [cell("a", money=Sum("0.10", 10)), cell("b", money=Sum("0.25", 10)), cell("a", money=Sum("0.05", 10))]
    found = rows(cells, by_arm, "USD")
    assert [(one.arm, one.cost.asked, one.cost.total.amount) for one in found] == [("a", 20, "0.15"), ("b", 10, "0.25")]


def test_weeks_are_those_of_the_calendar() -> None:
    """Monday to Sunday, ISO 8601: the 25th of October 2026 is the last day of week 43; a new year's first days may be
    of the old year's week 53."""
    assert [week_of(day) for day in ("2026-10-19", "2026-10-25", "2026-10-26", "2027-01-01")] == [
        "2026-W43", "2026-W43", "2026-W44", "2026-W53",
    ]  # fmt: skip


def test_the_weekly_view_is_by_route_where_there_are_routes() -> None:
    """Of a router two ways in each of two weeks, the latest first; of an arm of one way none."""
    cells = [
        cell(arm, day=day, route=route, money=Sum("0.10", 10))
        for day in ("2026-10-20", "2026-10-21", "2026-10-27")
        for arm, route in (("rag", None), ("route", "lookup>rag"), ("route", "whole_set>full_context"))
    ]
    found = weeks(cells, "USD", last=8)
    assert [(one.week[-2:], one.row.route, one.days, one.row.cost.asked) for one in found.routes] == [
        ("44", "lookup>rag", 1, 10), ("44", "whole_set>full_context", 1, 10),
        ("43", "lookup>rag", 2, 20), ("43", "whole_set>full_context", 2, 20),
    ]  # fmt: skip
    assert [one.row.arm for one in found.arms] == ["rag", "route"] * 2
    assert len(weeks(cells, "USD", last=1).routes) == 2


def test_a_night_is_as_good_as_its_best_run(tmp_path: Path) -> None:
    """An interrupted run, and another on the same day that ended: sound, and the trouble is told."""
    torn = dear("2026-11-20", "0.01", run="torn", status="interrupted", not_run=4)
    (night,) = nights_of([torn, dear("2026-11-20", "0.01")], expected=())
    assert (night.standing, night.troubles) == ("sound", ("torn: interrupted, 4 trials not run",))
    assert standing_of(of(tmp_path / "a")) == "no records"
    stopped = of(tmp_path / "b", asked("a"), status="interrupted", cut_short_after_s=2700)
    assert standing_of(stopped) == "cut short"
    assert standing_of(of(tmp_path / "c", asked("a"), cut_short_after_s=2700)) != "cut short"  # taken up, and ended


def test_what_is_kept_is_what_would_be_read(tmp_path: Path) -> None:
    """Read, read from the file, and read anew when the file is gone, torn or has another cost: the same every time."""
    for name in ("n1", "n2"):
        write_run(tmp_path / name, [asked("a"), failed("f", began_at=NOON)], price_table={"rows": [ROW]})
    first, file = all_runs(tmp_path, "night", BERLIN), tmp_path / "nights-night.jsonl"
    assert len(file.read_bytes().splitlines()) == 2
    assert plain(all_runs(tmp_path, "night", BERLIN)) == plain(first)
    file.write_bytes(file.read_bytes()[:100] + b"\n\xff{}\n")
    assert plain(all_runs(tmp_path, "night", BERLIN)) == plain(first)
    whole = file.read_bytes()
    file.write_bytes(whole.replace(COST.encode(), b"0.0099"))
    assert file.read_bytes() != whole
    assert plain(all_runs(tmp_path, "night", BERLIN)) == plain(first)
    assert file.read_bytes() == whole
    file.unlink()
    assert plain(all_runs(tmp_path, "night", BERLIN)) == plain(first)


def test_records_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second report reads no run; one more record, another zone or another questions' file reads that run again."""
    read: list[str] = []
    monkeypatch.setattr(kept, "read_run", lambda folder: (read.append(folder.name), read_run(folder))[1])
    for name in ("n1", "n2"):
        write_run(tmp_path / name, [asked("a")])
    all_runs(tmp_path, "night", UTC)
    all_runs(tmp_path, "night", UTC)
    assert read == ["n1", "n2"]
    with RunLog(tmp_path / "n2") as log:
        log.append([asked("b")], {})
    (again,) = (one for one in all_runs(tmp_path, "night", UTC) if one.known.folder == "n2")
    assert read == ["n1", "n2", "n2"]
    assert again.nights is not None
    assert again.nights.cells[0].asked == 2
    all_runs(tmp_path, "night", BERLIN)
    assert read[3:] == ["n1", "n2"]


def test_a_run_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A line that is no record: that run has a trouble in place of a digest, and the others are there."""
    write_run(tmp_path / "n1", [asked("a")])
    broken = write_run(tmp_path / "n2", [asked("a")], questions=[question()])
    with (broken / "records.jsonl").open("ab") as file:
        file.write(b'{"trial": 3}\n')
    found = all_runs(tmp_path, "night", UTC)
    assert [one.nights is None for one in found] == [False, True]
    assert "n2 cannot be read: " in str(found[1].trouble)


@pytest.mark.parametrize(
    ("file", "was", "now"),
    [
        ("records.jsonl", f'"{COST}"', '"NaN"'),
        ("records.jsonl", f'"{COST}"', '"a lot"'),
        ("manifest.json", '"stages": [', '"stages": 5, "was": ['),
        ("manifest.json", '"timezone": "UTC"', '"model": 5'),
        ("manifest.json", "}", ""),
    ],
)
def test_a_run_of_wrong_values_is_told_and_no_other_suffers(file: str, was: str, now: str, tmp_path: Path) -> None:
    """A cost that is no number, a manifest of wrong types, one that is torn: a trouble, whose run it was or not."""
    write_run(tmp_path / "n1", [asked("a")])
    path = write_run(tmp_path / "n2", [asked("a")]) / file
    assert was in path.read_text()
    path.write_text(path.read_text().replace(was, now))
    assert [one.trouble is None for one in all_runs(tmp_path, "night", UTC)] == [True, False]


def test_tokens_times_and_right_are_of_those_that_tell(tmp_path: Path) -> None:
    """One answered right with 6,350 tokens, one failed that had told as many and was quick, one answered without usage
    to a question without a key: tokens are of the first, right is one of the two with a key, the quick has no time."""
    records = [
        asked("a"), failed("f", began_at=NOON, usage=USED, trial_ttft_ns=1),
        record("u", began_at=NOON, question="q2"),
    ]  # fmt: skip
    found = of(tmp_path / "n", *records, questions=[question(), question("q2", must_contain=())])
    one, times = row(WHOLE, found.cells, "USD", intervals=False), ttft_p95(found.cells)
    assert (one.told, one.tokens, one.keyed, one.right) == (1, 6350, 2, 0.5)
    assert times is not None
    assert times.n == 2


def test_a_provider_is_met_on_its_day_by_the_name_that_replied(tmp_path: Path) -> None:
    """Half past eleven UTC is the next day in Berlin: the cell is of that, what is billed of the UTC day."""
    replied = turn(COST, usage=USED, reply_model="m-20261101")
    found = of(tmp_path / "n", asked("a", began_at="2026-11-20T23:30:00Z", turns=(replied,)), zone=BERLIN)
    assert [one.day for one in found.cells] == ["2026-11-21"]
    assert [(one.day, one.model, one.money.amount) for one in found.billed] == [("2026-11-20", "m-20261101", COST)]


def test_a_budget_that_left_trials_out_is_seen(tmp_path: Path) -> None:
    """One trial answered, one not run for want of money."""
    found = of(tmp_path / "n", asked("a"), record("b", began_at=None, outcome="not_run", reason="budget"))
    assert (found.over_budget, standing_of(found)) == (1, "stopped by its budget")


def test_a_trial_without_a_day_is_of_no_week() -> None:
    """It was lost before it was recorded."""
    assert weeks([cell(day="unknown")], "USD", last=8).arms == ()


def test_a_tier_begins_above_its_threshold() -> None:
    """1,000 prompt tokens pay the list price, one more the tier's."""
    tier = {"above_prompt_tokens": 1000, "rates": dict.fromkeys(RATES, "9")}
    manifest = {"price_table": {"rows": [{**ROW, "tiers": [tier]}]}}
    named = [tariff_of(manifest, "m", Usage(input=n)) for n in (1000, 1001)]
    assert [one.name for one in named if one is not None] == ["m", "m above 1000"]
