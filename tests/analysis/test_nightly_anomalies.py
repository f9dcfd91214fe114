"""The rule for what is unusual, by hand; and whole nights held against those before them."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace
from nightly_cells import KIND, MILLION, cell, dear, night_run, part, raw

from loadrig.analysis.nightly.anomalies import judged
from loadrig.analysis.nightly.digest import Billed, RunNights, Sum
from loadrig.analysis.nightly.usage_report import Used
from loadrig.analysis.nightly.whole import Nightly, Told, nightly
from loadrig.words.settings import NightlySettings

TODAY = date(2026, 11, 21)


def told(*runs: RunNights, today: date = TODAY, **settings: int) -> Nightly:
    found = nightly(runs, Told("night", "UTC", NightlySettings(**settings), today))  # type: ignore[arg-type]
    assert found is not None
    return found


def days(n: int) -> list[str]:
    """The last `n` days before 2026-11-20."""
    return [f"2026-11-{20 - back:02}" for back in range(n, 0, -1)]


def test_beyond_the_limit_is_unusual_and_at_it_is_not() -> None:
    """Five nights of 9.8 to 10.2: median 10, distances .2 .2 .1 .1 .0, so MAD .1 and 3.5 x .14826 = .519 is below the
    floor of 10 %, 1: 11 is at the limit, 11.01 beyond it, and so is 8.99."""
    earlier = [10, 10.2, 9.8, 10.1, 9.9]
    found = [judged("cost per question", value, earlier, least=5) for value in (11, 11.01, 8.99)]
    assert [one.is_unusual for one in found if one] == [False, True, True]
    assert found[0] is not None
    assert (found[0].median, round(found[0].spread, 5), found[0].limit) == (10, 0.14826, 1.0)


def test_nights_that_vary_widen_the_limit() -> None:
    """Distances from 10 are 0 1 1 2 2: MAD 1, so 3.5 x 1.4826 = 5.189 is the limit, not the floor."""
    found = judged("cost per question", 15.1, [10, 11, 9, 12, 8], least=5)
    assert found is not None
    assert (round(found.limit, 4), found.is_unusual) == (5.1891, False)


def test_one_mad_night_among_the_earlier_moves_nothing() -> None:
    """A night of 1000 among nine of about 10: the median stays, and 12 is still unusual."""
    found = judged("cost per question", 12, [10, 10.1, 9.9, 10, 10.1, 9.9, 10, 10, 1000], least=5)
    assert found is not None
    assert (found.median, found.is_unusual) == (10, True)


def test_shares_have_a_floor_in_points() -> None:
    """No failures for five nights: two points of failures are at the limit, three are beyond it; right falls by more
    than five points only."""
    assert [one.is_unusual for share in (0.02, 0.03) if (one := judged("share failed", share, [0.0] * 5, least=5))] == [
        False, True,
    ]  # fmt: skip
    assert [one.is_unusual for share in (0.86, 0.84) if (one := judged("share right", share, [0.9] * 5, least=5))] == [
        False, True,
    ]  # fmt: skip


def test_too_few_nights_judge_nothing() -> None:
    """Four earlier nights where five are needed."""
    assert judged("cost per question", 99, [10] * 4, least=5) is None
    found = told(*(dear(day, "0.01") for day in days(4)), dear("2026-11-20", "0.09"))
    assert (found.findings, found.looked_back, found.least) == ((), 4, 5)


def test_a_step_in_price_is_named_as_price() -> None:
    """Six nights at 0.01 a million tokens, the same tokens at 0.013 on the seventh: 30 % dearer, price alone."""
    found = told(*(dear(day, "0.01") for day in days(6)), dear("2026-11-20", "0.013"))
    assert [(one.judged.measure, one.worse, one.cause, one.against) for one in found.findings] == [
        ("cost per question", True, "price", "2026-11-19")
    ]


def test_a_step_in_price_is_still_named_the_night_after() -> None:
    """The night before had the new price already; held against a typical earlier night the reason is still price."""
    found = told(*(dear(day, "0.01") for day in days(6)[:-1]), dear("2026-11-19", "0.013"), dear("2026-11-20", "0.013"))
    assert [(one.cause, one.against) for one in found.findings] == [("price", "2026-11-18")]
    assert found.change is not None
    assert float(found.change.change.difference) == 0


def test_more_tokens_are_named_as_tokens() -> None:
    """Half as many tokens again, at the same price: cost and tokens are unusual, and the reason is tokens."""
    used = part(10, sent=15 * MILLION, money="0.15")
    tonight = night_run(
        "2026-11-20", cell(money=Sum("0.15", 10), sound=used, tokens=1500), tariffs={"m": ("0.01", *["0"] * 4)}
    )
    found = told(*(dear(day, "0.01") for day in days(6)), tonight)
    assert [(one.judged.measure, one.cause) for one in found.findings] == [
        ("cost per question", "tokens"), ("tokens a question", None),
    ]  # fmt: skip


def test_a_regression_of_one_arm_is_told_of_that_arm() -> None:
    """One arm in ten doubles: all questions together are 10 % dearer, at the limit, but that arm is far beyond."""

    def night(day: str, cost: str) -> RunNights:
        others = [cell(f"arm{n}", day=day, money=Sum("1.00", 10)) for n in range(9)]
        return night_run(day, *others, cell("rag", day=day, money=Sum(cost, 10)))

    found = told(*(night(day, "1.00") for day in days(6)), night("2026-11-20", "2.00"))
    assert [(one.arm, one.judged.measure) for one in found.findings] == [("rag", "cost per question")]


@pytest.mark.parametrize(
    ("given", "standing"),
    [
        ({"status": "interrupted"}, "interrupted"),
        ({"status": "interrupted", "cut_short": True}, "cut short"),
        ({"status": "running"}, "not finished"),
        ({"over_budget": 3}, "stopped by its budget"),
        ({"client_bound": True}, "client-bound"),
    ],
)
def test_a_broken_night_is_named(given: dict[str, object], standing: str) -> None:
    """Named as what it is; neither judged nor looked back on, but for a client-bound one, whose money counts."""
    half = dear("2026-11-20", "0.005", **given)
    found = told(*(dear(day, "0.01") for day in days(6)), half)
    assert found.standing == standing
    assert [one.judged.measure for one in found.findings] == (
        ["cost per question"] if standing == "client-bound" else []
    )
    after = told(*(dear(day, "0.01") for day in days(6)), half, dear("2026-11-21", "0.01"))
    assert after.looked_back == 6 + (standing == "client-bound")


def test_a_night_of_two_price_lists_costs_what_it_cost() -> None:
    """Two runs of the night before at 1 and 3, then one at 3: from 2 to 3, and the table of parts begins at the 2."""
    found = told(dear("2026-11-19", "1"), dear("2026-11-19", "3"), dear("2026-11-20", "3"))
    assert found.change is not None
    change = found.change.change
    assert (float(change.before), float(change.after)) == (2, 3)
    assert (change.parts[0].factor, float(change.parts[0].amount)) == ("price and tokens", 1)


def test_simulated_money_is_not_held_against_a_providers() -> None:
    """A real run, and a simulated one of the same day and model before it: ours is the real one's 2, not 7."""

    def used(money: str) -> tuple[Billed, ...]:
        return (Billed("2026-11-20", "m", (1, 0, 0, 0, 0), Sum(money, 1)),)

    runs = [
        dear(
            "2026-11-20", "0.5", billed=used("5"), kind=replace(KIND, simulated=True), began_at="2026-11-20T03:00:00Z"
        ),
        dear("2026-11-20", "0.2", billed=used("2")),
    ]
    theirs = (("2026-11-20", "m", Used(cost="2")),)
    found = nightly(runs, Told("night", "UTC", NightlySettings(), TODAY, theirs=theirs))
    assert found is not None
    assert found.reconciled is not None
    assert [(one.ours.cost, one.difference.cost) for one in found.reconciled] == [("2", "0")]


def test_a_night_of_which_all_failed_has_no_cost() -> None:
    """Not 0: none is shown, and none is compared."""
    lost = cell(answered=0, failed=10, correct=0, checked=0, money=Sum("0", 10))
    found = told(*(dear(day, "0.01") for day in days(6)), night_run("2026-11-20", lost))
    assert (found.standing, found.nights[-1].whole, found.findings, found.change) == ("all failed", None, (), None)


def test_a_missed_night_is_seen_also_when_it_was_the_last() -> None:
    """Nights on the 16th, 17th and 19th, and it is the 21st: the 18th and the 20th were missed, the 21st not yet."""
    found = told(*(dear(f"2026-11-{day}", "0.01") for day in (16, 17, 19)))
    assert [(night.day[-2:], night.standing) for night in found.nights] == [
        ("16", "sound"), ("17", "sound"), ("18", "missed"), ("19", "sound"), ("20", "missed"),
    ]  # fmt: skip


def test_a_day_of_another_kind_of_run_is_no_missed_one() -> None:
    """On the 18th other questions were asked: that night is not in this report, and nobody forgot it."""
    runs = [dear(f"2026-11-{day}", "0.01") for day in (17, 19)]
    other = dear("2026-11-18", "0.01", kind=replace(KIND, questions="questions other.jsonl"))
    found = told(*runs, other, today=date(2026, 11, 20))
    assert [(night.day[-2:], night.standing) for night in found.nights] == [("17", "sound"), ("19", "sound")]


def test_only_expected_days_can_be_missed() -> None:
    """Nights are expected on working days: Friday and Monday, and nothing was missed between."""
    settings = NightlySettings(expected=("mon", "tue", "wed", "thu", "fri"))
    runs = [dear("2026-11-13", "0.01"), dear("2026-11-16", "0.01")]
    found = nightly(runs, Told("night", "UTC", settings, date(2026, 11, 17)))
    assert found is not None
    assert [night.standing for night in found.nights] == ["sound", "sound"]


def test_the_times_of_a_client_bound_night_are_not_judged() -> None:
    """Its TTFT is ten times that of the others, and partly the rig's own; a sound night's is told."""
    slow = cell(ttft=raw([10_000_000_000] * 10))
    quick = [night_run(day, cell(day=day, ttft=raw([1_000_000_000] * 10))) for day in days(6)]
    assert [one.judged.measure for one in told(*quick, night_run("2026-11-20", slow)).findings] == ["TTFT p95"]
    assert told(*quick, night_run("2026-11-20", slow, client_bound=True)).findings == ()
    bound = [night_run(run.night, *run.cells, client_bound=True) for run in quick[:2]]
    assert told(*bound, *quick[2:], night_run("2026-11-20", slow)).findings == ()  # four times where five are needed


def test_only_the_last_n_nights_are_looked_back_on() -> None:
    """Ten nights at 0.01, then five at 0.02: of the last five the median is 0.02, and 0.02 is not unusual."""
    runs = [*(dear(day, "0.01") for day in days(15)[:10]), *(dear(day, "0.02") for day in days(5))]
    found = told(*runs, dear("2026-11-20", "0.02"), nights=5)
    assert (found.looked_back, found.findings) == (5, ())
    assert len(found.nights) == 6
