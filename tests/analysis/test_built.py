"""What was built beforehand, and what it comes to a question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from records import read_run, record, turn

from loadrig.analysis.built import amortised, built
from loadrig.analysis.summary import summarize
from loadrig.reports.built import table
from loadrig.words.record import Record, Usage

ROW: dict[str, Any] = {
    "arm": "summaries", "model": "m", "caller": [], "calls": 5, "paid": 5, "prompt_tokens": 1000, "output_tokens": 100,
    "cost": "0.50", "cost_now": "0.50", "currency": "USD", "made_from": "2026-11-20T10:00:00Z",
    "made_to": "2026-11-20T10:01:00Z", "reason": None,
}  # fmt: skip


def _trial(name: str) -> Record:
    used = Usage(input=10, output=10)
    return record(name, arm="summaries", cost="0.01", turns=(turn("0.01", usage=used),), usage=used)


def _call(name: str, cost: str | None = "0.10", **given: Any) -> Record:
    used = Usage(input=10, output=10)
    asked = turn(cost, usage=used, purpose=given.pop("purpose", "summarise"))
    return record(
        name, **{"arm": "summaries", "phase": "probe", "cost": cost, "turns": (asked,), "usage": used, **given}
    )


def _found(folder: Path, *rows: dict[str, Any], calls: tuple[Record, ...] = ()) -> Any:
    run = read_run(folder, [_trial("a"), _trial("b")])
    return built(replace(run, manifest={**run.manifest, "built": list(rows)}, probes=calls))


def test_a_question_bears_its_share(tmp_path: Path) -> None:
    """0.01 a question; 0.50 over the two asked here makes 0.26, over a thousand 0.0105."""
    (one,) = _found(tmp_path, ROW, calls=tuple(_call(name) for name in "vwxyz"))
    assert (one.asked, one.each, one.here, one.many) == (2, "0.01", "0.26", "0.0105")
    assert (one.calls, one.paid, one.cost, one.cost_now) == (5, 5, "0.50", "0.50")


def test_what_an_earlier_run_paid_is_in_the_share_and_not_in_what_was_paid_here(tmp_path: Path) -> None:
    """No call was paid for; the artefact is worth what it cost when it was made."""
    (one,) = _found(tmp_path, ROW)
    assert (one.paid, one.cost_now, one.here) == (0, "0", "0.26")


def test_callers_artefacts_are_summed_up_and_sessions_are_not(tmp_path: Path) -> None:
    """Two callers at 0.50 are 1.00; a second session that paid nothing leaves the cost as it is."""
    other = {**ROW, "caller": ["a"]}
    (one,) = _found(tmp_path, ROW, other, ROW)
    assert (one.artefacts, one.calls, one.cost) == (2, 10, "1.00")


def test_what_this_run_paid_is_all_that_it_asked(tmp_path: Path) -> None:
    """Two calls at 0.10, one of them for nothing, and none of the probe's or of another arm's; one unknown: unknown."""
    mine = (_call("x"), _call("y", outcome="failed", reason="refused"))
    others = (_call("p", purpose="answer"), _call("q", arm="other"))
    (one,) = _found(tmp_path, ROW, calls=(*mine, *others))
    assert (one.paid, one.cost_now) == (2, "0.20")
    (one,) = _found(tmp_path, ROW, calls=(*mine, _call("z", cost=None)))
    assert (one.paid, one.cost_now) == (3, None)


def test_an_unknown_cost_stays_unknown(tmp_path: Path) -> None:
    """One of two is not known: neither is the sum, nor what rests on it."""
    (one,) = _found(tmp_path, ROW, {**ROW, "caller": ["a"], "cost": None})
    assert (one.cost, one.here, one.many) == (None, None, None)


def test_an_artefact_that_failed_leaves_no_cost_a_question(tmp_path: Path) -> None:
    """Trials that need it failed at once and for nothing: their 0.01 a question is no price of the arm."""
    (one,) = _found(tmp_path, ROW, {**ROW, "caller": ["a"], "reason": "no reply"})
    assert (one.failed, one.cost, one.asked) == (1, "1.00", 2)
    assert (one.each, one.here, one.many) == (None, None, None)


def test_the_note_names_both_who_may_have_paid(tmp_path: Path) -> None:
    """What was not paid for here was made by an earlier run, or by another arm of this one."""
    run = read_run(tmp_path, [_trial("a")])
    found = table(summarize(replace(run, manifest={**run.manifest, "built": [ROW, {**ROW, "reason": "no reply"}]})))
    assert found is not None
    assert [note.split(" are not")[0] for note in found.notes] == [
        "calls that an earlier run or another arm of this one made",
        "1 could not be built: trials that need them failed, so no cost a question is given",
    ]


def test_every_figure_of_the_table_stands_in_its_column(tmp_path: Path) -> None:
    """Five calls at 0.50 in all, two of them paid here at 0.20 and until 10:01; two questions at 0.01."""
    run = read_run(tmp_path, [_trial("a"), _trial("b")])
    found = table(summarize(replace(run, manifest={**run.manifest, "built": [ROW]}, probes=(_call("x"), _call("y")))))
    assert found is not None
    assert found.headers == (
        "arm", "calls", "paid here", "USD when made", "USD here", "made until", "asked", "USD/asked",
        "+ build, over these", "+ build, over 1,000",
    )  # fmt: skip
    assert found.rows == (
        ("summaries", "5", "2", "0.5000", "0.2000", "2026-11-20 10:01", "2", "0.01000", "0.2600", "0.01050"),
    )


@pytest.mark.parametrize(
    ("each", "cost", "n", "share"),
    [("0.01", "0.50", 2, "0.26"), ("0.01", "0", 2, "0.01"), (None, "0.50", 2, None), ("0.01", None, 2, None),
     ("0.01", "0.50", 0, None)],
)  # fmt: skip
def test_the_share(each: str | None, cost: str | None, n: int, share: str | None) -> None:
    """each + cost / n; None when one of them is not known, or there is no question."""
    assert amortised(each, cost, n) == share


def test_a_run_without_any_has_none(tmp_path: Path) -> None:
    """No row, no table."""
    assert built(read_run(tmp_path, [_trial("a")])) == ()
