"""Nights: each charge on one local day, sums that agree, divisors with names."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import failed, record, turn, write_run

from loadrig.analysis.bill import bill
from loadrig.analysis.days import Nights, nights
from loadrig.analysis.nightly.digest import local_day
from loadrig.analysis.nightly.usage_report import Used
from loadrig.cost import total
from loadrig.log import RunLog, read_run
from loadrig.reports import nightly
from loadrig.reports.nightly.tables import bar
from loadrig.words.errors import InputError, LogError
from loadrig.words.record import Record, Usage

RANGE = datetime(2026, 10, 20), datetime(2026, 11, 1)  # noqa: DTZ001 - read as UTC
USED = Usage(input=1, output=1)


def spent(trial: str, began_at: str, cost: str = "0.04", **given: object) -> Record:
    return record(trial, began_at=began_at, cost=cost, turns=(turn(cost, usage=USED),), **given)


def of(folder: Path, zone: str, *records: Record) -> Nights:
    return nights([read_run(write_run(folder, records))], ZoneInfo(zone))


def written(results: Path, zone: str = "UTC", today: date = date(2026, 11, 24)) -> str:
    """The Markdown of the report."""
    return nightly.write(nightly.Wanted(results, "night", zone, today=today)).markdown.read_text()


def by_day(text: str) -> list[str]:
    """Rows of the tables by day."""
    return [line for line in text[text.index("uns: by day") :].splitlines() if line.startswith("| 2026")]


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
    text = written(tmp_path)
    days = [line.split()[1] for line in by_day(text)]
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
    text = written(tmp_path)
    assert "## Runs: by route" in text
    rows = [line.split("|")[3].strip() for line in text.split("by route")[1].splitlines() if line.startswith("| 2026")]
    assert rows == [r"lookup\>rag", r"whole_set\>full_context", r"lookup\>rag", "none: no answer"]


def test_no_routes_no_table(tmp_path: Path) -> None:
    """Where no arm sends questions different ways there is nothing to tell."""
    write_run(tmp_path / "n1", [spent("a", "2026-11-20T12:00:00Z")])
    assert "by route" not in written(tmp_path)


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
    text = written(tmp_path)
    assert sorted(line.split()[8] for line in by_day(text)) == [*"11112"]
    assert "of corpus c bb in chunks" in text
    assert "questions q.jsonl, the first 6" in text


def test_an_arm_whose_options_changed_is_named(tmp_path: Path) -> None:
    """Two nights ask `rag` in two ways: one table, and the reader is told."""
    for name, k in (("n1", 3), ("n2", 5)):
        plan = {"name": "night", "arms": [{"name": "rag", "k": k}, {"name": "control"}]}
        write_run(tmp_path / name, [spent("a", "2026-11-20T12:00:00Z")], plan=plan)
    text = written(tmp_path)
    assert "not alike in all of these runs are the options of rag\n" in text


@pytest.mark.parametrize(
    ("plan", "zone", "problem"), [("no", "UTC", "no run of plan"), ("night", "Moon/X", "time zone")]
)
def test_wrong_input_is_said(tmp_path: Path, plan: str, zone: str, problem: str) -> None:
    """A plan that never ran and a zone that does not exist are the user's to mend."""
    write_run(tmp_path / "n1", [spent("a", "2026-11-20T12:00:00Z")])
    with pytest.raises(InputError, match=problem):
        nightly.write(nightly.Wanted(tmp_path, plan, zone))


def page_of(results: Path, **given: Any) -> tuple[str, nightly.Made]:
    made = nightly.write(nightly.Wanted(results, "night", "UTC", today=date(2026, 11, 24), **given))
    return made.html.read_text(), made


def week(results: Path, *extra: Record) -> Path:
    """Six nights of two questions, the second of which costs twice as much."""
    for day in range(15, 21):
        noon = f"2026-11-{day}T12:00:00Z"
        found = [spent("a", noon), spent("b", noon, "0.08", question="q2"), *(extra if day == 20 else ())]
        write_run(results / f"n{day}", found)
    return results


def test_the_page_is_fit_for_a_mail(tmp_path: Path) -> None:
    """No script, no style sheet, no picture, no address of anything to load; nothing has a colour of its own but lines
    and bars."""
    text, _ = page_of(week(tmp_path))
    assert not re.search(r"<(script|style|link|img|svg|iframe|form)|url\(|https?:|src=|\son\w+=", text)
    assert set(re.findall(r"#[0-9a-f]{3,6}", text)) <= {"#d55e00", "#e69f00", "#009e73", "#0072b2", "#888", "#8884"}
    assert set(re.findall(r"(?<!-)color:#\w+|background", text.replace("color-scheme", ""))) == {"color:#0072b2"}
    assert 'name="viewport"' in text


def test_the_page_stays_small(tmp_path: Path) -> None:
    """A hundred arms of twenty categories: under 200 kB, and what was cut is said."""
    noon = "2026-11-20T12:00:00Z"
    many = [spent(f"{a}-{c}", noon, arm=f"arm-{a}", category=f"cat-{c}") for a in range(100) for c in range(20)]
    text, made = page_of(week(tmp_path, *many))
    assert len(text.encode()) < 200_000
    assert "more rows are in the .md file" in text
    assert "arm-99" in made.markdown.read_text()


def test_what_a_run_says_is_escaped(tmp_path: Path) -> None:
    """Arms, categories, routes and folders may be called anything."""
    evil = "<script>alert(1)</script>"
    text, made = page_of(week(tmp_path, spent("x", "2026-11-20T12:00:00Z", arm=evil, category=evil, route=evil)))
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>" not in made.markdown.read_text()


def test_a_cost_that_may_be_higher_is_a_lower_bound(tmp_path: Path) -> None:
    """One reply of the night broke off: what is known of it is not all that it may have used."""
    used = turn("0.04", usage=Usage(input=1, output=1, exact=False))
    _, made = page_of(week(tmp_path, record("x", began_at="2026-11-20T12:00:00Z", cost="0.04", turns=(used,))))
    row = next(line for line in made.markdown.read_text().splitlines() if line.startswith("| 2026-11-20 "))
    assert ">= 0.05333" in row


def test_a_message_calls_nobody(tmp_path: Path) -> None:
    """What an error says is no mention and no link to the chat that shows it."""
    _, made = page_of(week(tmp_path), trouble="<!channel> <http://a|b> @all")
    text = json.loads(nightly.message(made))["text"]
    assert "!channel" in text
    assert not set("<@") & set(text)


def test_a_report_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A folder lies where the page should."""
    (week(tmp_path) / "nightly-night.html").mkdir()
    with pytest.raises(LogError, match=r"nightly-night\.html"):
        page_of(tmp_path)


def test_a_day_whose_run_cannot_be_read_is_not_said_to_have_none(tmp_path: Path) -> None:
    """The folder of the 18th is torn: no run that can be read began then, which is not that none began."""
    (week(tmp_path) / "n18" / "records.jsonl").write_bytes(b"{}\n{}\n")
    text, _ = page_of(tmp_path)
    assert "no run that can be read began on 2026-11-18," in text


def test_the_three_files_say_the_same(tmp_path: Path) -> None:
    """0.12 for two questions is 0.06 each; the bill's lines are its total; strict JSON, unrounded."""
    text, made = page_of(week(tmp_path))
    found = msgspec.json.decode(made.json.read_bytes())
    assert found["whole"]["cost"]["per_asked"] == "0.06"
    assert found["whole"]["asked_interval"] == {"low": 0.04, "high": 0.08, "n": 2}
    lines = [Decimal(line["money"]["amount"]) for line in found["bill"]["lines"]]
    assert total(lines) == Decimal(found["bill"]["total"]["amount"]) == Decimal("0.12")
    for said in (text, made.markdown.read_text()):
        assert "0.06000" in said
        assert "Nothing unusual against 5 earlier nights." in said
    assert made.html.name == "nightly-night.html"


def test_the_rule_is_in_the_report(tmp_path: Path) -> None:
    """Whoever reads that something is unusual reads what that means."""
    text, made = page_of(week(tmp_path))
    assert "3.5 x 1.4826" in text
    assert "judged from 5 such nights on" in made.markdown.read_text()


def test_a_price_that_rose_is_said_to_be_the_price_alone(tmp_path: Path) -> None:
    """Six nights at 20,000 a million tokens of either kind, two tokens a question: 0.04. Then 26,000: 0.052, 30 % more;
    the page, the table of parts and the message say why."""
    for day in range(14, 21):
        rate, cost = ("20000", "0.04") if day < 20 else ("26000", "0.052")
        kinds = ("input", "cache_write_5m", "cache_write_1h", "cache_read", "output")
        rows = [{"model": "m", "rates": dict.fromkeys(kinds, rate)}]
        records = [spent(name, f"2026-11-{day}T12:00:00Z", cost, question=name) for name in ("a", "b")]
        write_run(tmp_path / f"n{day}", records, price_table={"rows": rows})
    text, made = page_of(tmp_path)
    assert "0.05200 USD a question, +30.0 % on 2026-11-19" in text
    assert "30 % above the median of 6 earlier nights" in text
    assert "the reason is the price alone" in text
    assert "the reason is the price alone" in json.loads(nightly.message(made))["text"]
    change = msgspec.json.decode(made.json.read_bytes())["change"]["change"]
    assert {one["factor"]: float(one["amount"]) for one in change["parts"]} == {
        "price": 0.012, "tokens": 0, "mix": 0, "failure": 0,
    }  # fmt: skip


def test_trouble_stands_first(tmp_path: Path) -> None:
    """A run that came to nothing, and the nights that were missed since the last: marked, before every table."""
    text, made = page_of(week(tmp_path), trouble="no such corpus")
    head = text[: text.index("<h2")]
    assert "Tonight&#39;s run came to nothing, and this report is of 2026-11-20: no such corpus" in head
    assert "Missed: no run began on 2026-11-21 to 2026-11-23 (3 nights)." in head
    assert made.markdown.read_text().splitlines()[4].startswith("- **!** Tonight's run")


def test_a_night_without_an_answer_has_no_bar(tmp_path: Path) -> None:
    """All failed: a dash where others have a cost, and the word for it; in no column a 0."""
    week(tmp_path)
    write_run(tmp_path / "n21", [failed("a", began_at="2026-11-21T12:00:00Z", cost="0")])
    _, made = page_of(tmp_path)
    (row,) = (line for line in made.markdown.read_text().splitlines() if line.startswith("| 2026-11-21 all failed"))
    assert set(row.split("|")[2:-1]) == {cell for cell in row.split("|")[2:-1] if cell.strip() == "-"}


def test_the_report_does_not_depend_on_what_is_kept(tmp_path: Path) -> None:
    """Made with the file of digests, and without it: the same bytes."""
    text, made = page_of(week(tmp_path))
    before = [path.read_bytes() for path in (made.html, made.markdown, made.json)]
    (tmp_path / "nights-night.jsonl").unlink()
    again, _ = page_of(tmp_path)
    assert text == again
    assert before == [path.read_bytes() for path in (made.html, made.markdown, made.json)]


def test_the_providers_report_stands_beside(tmp_path: Path) -> None:
    """Theirs is 0.02 more, and they count 1 where we have 2 tokens of input."""
    theirs = (("2026-11-20", "m", Used(input=1, cost="0.14")),)
    text, made = page_of(week(tmp_path), theirs=theirs)
    (one,) = msgspec.json.decode(made.json.read_bytes())["reconciled"]
    assert (one["ours"]["cost"], one["difference"]["cost"], one["difference"]["input"]) == ("0.12", "0.02", -1)
    assert "Beside the provider&#39;s usage report" in text


@pytest.mark.parametrize(("share", "drawn"), [(0, ""), (0.001, "▏"), (0.35, "███▌"), (1, "█" * 10), (2, "█" * 10)])
def test_a_bar_is_as_long_as_its_share(share: float, drawn: str) -> None:
    """Ten characters at most, and something for what is not nothing."""
    assert bar(share) == drawn
