"""Routes: shares that add up, what a way cost and was worth, beside one way for all, and the alert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records import MS, S, failed, question, read_run, record, turn

from loadrig.analysis.confidence import Sure, measured
from loadrig.analysis.retrieval import recall_by_arm
from loadrig.analysis.routes import Beside, Routing, Way, alerts, is_sent, reaches, routing, warned
from loadrig.analysis.summary import summarize
from loadrig.reports.routes import tables
from loadrig.words.corpus import Hit
from loadrig.words.record import Record, Usage

USED = Usage(input=10, output=10)


def trial(arm: str, number: int, route: str | None, *, cost: str = "0.01", right: bool = True, **given: Any) -> Record:
    """One answer to question `q{number}`."""
    given = {"usage": USED, "turns": (turn(cost, usage=USED),), "trial": f"{arm}-{number}", **given}
    return record(arm=arm, question=f"q{number}", route=route, cost=cost, answer="yes" if right else "no", **given)


def routed(folder: Path, *records: Record, **given: Any) -> Routing:
    return routing(read_run(folder, records, **given))


def way(found: Routing, name: str) -> Way:
    (one,) = (one for one in found.ways if one.way == name)
    return one


def test_the_shares_of_the_ways_add_up(tmp_path: Path) -> None:
    """B-10: 71 retrieved, 22 in the window, 7 escalated, of 100; each with its own right answers."""
    names = ["lookup>rag"] * 71 + ["whole_set>full_context"] * 22 + ["unsure>rag>full_context"] * 7
    found = routed(tmp_path, *(trial("route", n, name, right=n % 2 == 0) for n, name in enumerate(names)))
    assert {one.way: (one.n, one.of) for one in found.ways} == {
        "lookup>rag": (71, 100), "whole_set>full_context": (22, 100), "unsure>rag>full_context": (7, 100),
    }  # fmt: skip
    shares = {one.way: (one.right.k, one.right.n) for one in found.ways if one.right}
    assert shares == {
        "lookup>rag": (36, 71), "whole_set>full_context": (11, 22), "unsure>rag>full_context": (3, 7)
    }  # fmt: skip


def test_a_way_costs_all_its_turns_and_takes_its_own_time(tmp_path: Path) -> None:
    """A classifier's 0.02 and an answer's 0.01 are 0.03 a question; 1 s is not the other way's 3 s."""
    turns = (turn("0.02", usage=USED, purpose="classify"), turn("0.01", usage=USED))
    found = routed(
        tmp_path,
        trial("route", 1, "lookup>rag", cost="0.03", turns=turns),
        trial("route", 2, "multi_hop>agentic", service_ns=3 * S, ttfat_ns=900 * MS),
    )
    looked, searched = way(found, "lookup>rag"), way(found, "multi_hop>agentic")
    assert (looked.cost.per_asked, searched.cost.per_asked) == ("0.03", "0.01")
    assert [one.service.p50.value_ns for one in (looked, searched) if one.service.p50] == [S, 3 * S]
    assert [one.ttfat.p50.value_ns for one in (looked, searched) if one.ttfat.p50] == [200 * MS, 900 * MS]


def test_why_a_way_was_gone_is_counted(tmp_path: Path) -> None:
    """Two classifiers cut off, one kind unknown: a fallback each."""
    notes = ["fallback: max_tokens", "fallback: max_tokens", "fallback: no such kind", None]
    found = routed(tmp_path, *(trial("route", n, "fallback>rag", route_note=note) for n, note in enumerate(notes)))
    assert way(found, "fallback>rag").notes == {"fallback: max_tokens": 2, "fallback: no such kind": 1}


def test_a_trial_that_failed_went_no_way_and_is_in_the_share(tmp_path: Path) -> None:
    """Of three trials one failed before there was an answer: 2 of 3, and one of none, which is not right."""
    found = routed(
        tmp_path,
        trial("route", 1, "lookup>rag"),
        trial("route", 2, "lookup>rag"),
        failed("f", arm="route", question="q3"),
    )
    assert [(one.way, one.n, one.of, one.right and one.right.k) for one in found.ways] == [
        ("lookup>rag", 2, 3, 2), ("none: no answer", 1, 3, 0),
    ]  # fmt: skip


def test_an_arm_that_goes_one_way_is_no_router(tmp_path: Path) -> None:
    """Rag and full context have no ways, and nothing is held against them."""
    found = routed(tmp_path, trial("rag", 1, None), trial("full_context", 1, None))
    assert (found.ways, found.beside, found.reliability) == ((), (), ())


def test_an_arm_whose_ways_name_no_arm_is_no_router(tmp_path: Path) -> None:
    """Questions that were split, and asked whole, have ways of their own; nothing is held against them."""
    parts = [trial("decompose", n, "split" if n else "whole") for n in range(2)]
    sent = [trial("route", n, "lookup>rag") for n in range(2)]
    found = routed(tmp_path, *parts, *sent, *(trial("full_context", n, None) for n in range(2)))
    assert [(one.arm, one.way) for one in found.ways if one.arm == "decompose"] == [
        ("decompose", "split"), ("decompose", "whole"),
    ]  # fmt: skip
    assert [one.arm for one in found.beside] == ["route"]
    assert [is_sent(one.way) for one in found.ways if one.arm == "decompose"] == [False, False]


def beside(folder: Path, right: int, *, cost: str = "0.34") -> Beside:
    """A router right on so many of 100 questions, beside full context, right on 90 for 1.00 each."""
    whole = [trial("full_context", n, None, cost="1.00", right=n < 90) for n in range(100)]
    mine = [trial("route", n, "lookup>rag", cost=cost, right=n < right) for n in range(100)]
    (found,) = routed(folder, *whole, *mine).beside
    return found


def test_within_a_point_at_a_third_of_the_cost(tmp_path: Path) -> None:
    """B-11: 89 of 100 beside 90 of 100 is one point less, at 34 % of the cost; 88 is out of reach."""
    found = beside(tmp_path / "near", 89)
    assert (found.n, found.right, found.right_against, found.reached) == (100, 0.89, 0.90, True)
    assert found.difference == pytest.approx(-0.01)
    assert (found.cost_n, found.cost) == (100, pytest.approx(0.34))
    assert beside(tmp_path / "far", 88).reached is False


@pytest.mark.parametrize(("difference", "reached"), [(-0.01, True), (0.89 - 0.90, True), (-0.0101, False), (0.2, True)])
def test_a_point_is_a_point(difference: float, reached: bool) -> None:
    """Exactly one point below is reached, also where binary arithmetic makes it a hair more."""
    assert reaches(difference) is reached


def test_agreement_on_every_question_has_no_interval(tmp_path: Path) -> None:
    """90 right in both, the same ones: resampling them would claim an interval from 0 to 0."""
    found = beside(tmp_path / "same", 90)
    assert (found.n, found.difference, found.low, found.high) == (100, 0.0, None, None)
    found = beside(tmp_path / "less", 85)
    assert found.low is not None
    assert found.low < -0.05 < (found.high or 0)


def test_only_questions_that_both_were_asked_are_compared(tmp_path: Path) -> None:
    """The router was asked q1 and q2, the other q2 and q3: n is 1, for the answers and for the costs."""
    found = routed(
        tmp_path,
        trial("route", 1, "lookup>rag"), trial("route", 2, "lookup>rag", cost="0.02"),
        trial("rag-bm25-k8", 2, None, right=False), trial("rag-bm25-k8", 3, None, cost="0.09"),
    )  # fmt: skip
    (one,) = found.beside
    assert (one.n, one.right, one.right_against, one.cost_n, one.cost) == (1, 1.0, 0.0, 1, 2.0)


def test_a_question_that_is_asked_twice_counts_once(tmp_path: Path) -> None:
    """Right by its first trial, whichever way the second went; its cost is the mean of its own: (0.02 + 0.01) / 2 to
    0.04 is 3/8, and 0.04 is twice 0.02 however often each was asked. A tail trial has no time."""
    found = routed(
        tmp_path,
        trial("route", 1, "multi_hop>agentic", cost="0.03", right=False, repetition=2, trial="a"),
        trial("route", 1, "lookup>rag", ttfat_ns=900 * MS), trial("route", 2, "lookup>rag", right=False, phase="tail"),
        trial("full_context", 1, None, cost="0.04", right=False, repetition=2, trial="b"),
        *(trial("full_context", n, None, cost="0.04") for n in (1, 2)),
        *(trial("rag-bm25-k8", n, None, cost="0.02") for n in (1, 2)),
    )  # fmt: skip
    looked, searched = way(found, "lookup>rag"), way(found, "multi_hop>agentic")
    assert (looked.right and (looked.right.k, looked.right.n), searched.right) == ((1, 2), None)
    assert looked.ttfat.p50 is not None
    assert looked.ttfat.p50.value_ns == 900 * MS
    one = found.beside[0]
    assert (one.against, one.n, one.right, one.right_against) == ("full_context", 2, 0.5, 1.0)
    assert (one.cost_n, one.cost) == (2, pytest.approx(0.375))
    assert [round(one.ratio, 6) for one in found.premiums if one.paired] == [2.0]


def test_a_question_without_a_key_is_in_no_share(tmp_path: Path) -> None:
    """Of two that went one way it cannot be marked, which is not wrong: right is 1 of 1, of 2 trials."""
    found = routed(
        tmp_path, *(trial("route", n, "lookup>rag") for n in (1, 2)),
        questions=[question("q1"), question("q2", must_contain=())],
    )  # fmt: skip
    looked = way(found, "lookup>rag")
    assert looked.right is not None
    assert (looked.right.k, looked.right.n, looked.n) == (1, 1, 2)


def test_a_cost_that_is_not_known_is_in_no_ratio(tmp_path: Path) -> None:
    """An unpriced trial, and one whose stream broke: what is left is one question at half."""
    broken = Usage(input=10, output=1, exact=False)
    found = routed(
        tmp_path,
        *(trial("full_context", n, None, cost="0.02") for n in (1, 2, 3)),
        trial("route", 1, "lookup>rag"), trial("route", 2, "lookup>rag", cost="0.5", usage=broken),
        record("u", arm="route", question="q3", route="lookup>rag", cost=None, usage=USED),
    )  # fmt: skip
    assert [(one.cost_n, one.cost) for one in found.beside] == [(1, 0.5)]


def test_what_the_control_knew_is_in_no_share_and_in_every_cost(tmp_path: Path) -> None:
    """q1 is dropped: right of q2 alone, cost over both."""
    found = routed(
        tmp_path,
        trial("control", 1, None), trial("control", 2, None, right=False),
        *(trial("route", n, "lookup>rag") for n in (1, 2)), *(trial("full_context", n, None) for n in (1, 2)),
    )  # fmt: skip
    (one,) = found.beside
    assert (one.n, one.cost_n) == (1, 2)
    share = way(found, "lookup>rag").right
    assert share is not None
    assert (share.k, share.n) == (1, 1)


def test_every_figure_of_a_router_stands_in_its_column(tmp_path: Path) -> None:
    """Two of three retrieved in 2 s for 0.01, one of them right; one stuffed in 1 s for 0.50, as all three are beside
    it: 0.52 of 1.50 is 35 %. Of three questions drawn again, one in 27 times all are that which it has wrong."""
    slow = {"service_ns": 2 * S, "ttfat_ns": 300 * MS}
    run = read_run(
        tmp_path,
        [
            trial("route", 1, "lookup>rag", **slow),
            trial("route", 2, "lookup>rag", right=False, route_note="why", **slow),
            trial("route", 3, "whole_set>full_context", cost="0.50"),
            *(trial("full_context", n, None, cost="0.50") for n in (1, 2, 3)),
        ],
    )
    assert [table.rows for table in tables(summarize(run))] == [
        (
            ("route", "lookup>rag", "2 of 3", "67 %", "1/2 [.09, .91]", "0.300*/0.300*", "2.00*/2.00*",
             "0.01000", "why 1"),
            ("route", "whole_set>full_context", "1 of 3", "33 %", "1/1 [.21, 1]", "0.200*/0.200*", "1.00*/1.00*",
             "0.5000", "-"),
        ),
        (("route", "full_context", "3", ".667", "1", "-33.3 [-100.0, +0.0]", "no", "3", "35 % [2, 100]"),),
        (("route, full_context", "route, rag", "1 and 2", "0.5000", "0.01000", "50.0", "yes"),),
    ]  # fmt: skip


def test_without_a_router_a_premium_is_shown_over_the_alert_alone(tmp_path: Path) -> None:
    """Twice as dear is no news in a run that routes nothing; 25 times is."""
    shown = []
    for cost in ("0.04", "0.50"):
        arms = trial("full_context", 1, None, cost=cost), trial("rag-bm25-k8", 1, None, cost="0.02")
        shown.append([table.rows for table in tables(summarize(read_run(tmp_path / cost, arms)))])
    assert shown == [[], [(("full_context", "rag-bm25-k8", "1", "0.5000", "0.02000", "25.0", "yes"),)]]


def test_the_dearest_of_several_premiums_is_told(tmp_path: Path) -> None:
    """0.50 and 0.60 a question beside 0.02: 30 times, and one more."""
    dear = [trial(arm, 1, None, cost=cost) for arm, cost in (("full_context", "0.50"), ("full_context-name", "0.60"))]
    (said,) = warned(routed(tmp_path, *dear, trial("rag-bm25-k8", 1, None, cost="0.02")))
    assert "30.0 times as much by full_context-name as by rag-bm25-k8 (n = 1 questions, and 1 more)" in said


@pytest.mark.parametrize(("ratio", "alert"), [(20.0, False), (20.01, True), (1.0, False)])
def test_the_alert_is_over_twenty(ratio: float, alert: bool) -> None:
    """B-08: exactly 20 times is not over it."""
    assert alerts(ratio) is alert


def test_stuffing_for_more_than_twenty_times_is_told(tmp_path: Path) -> None:
    """B-08: 0.50 a question beside 0.02 is 25 times, over the two questions both were asked; 0.40 is 20 and silent."""
    dear = [trial("full_context", n, None, cost="0.50") for n in (1, 2, 3)]
    cheap = [trial("rag-bm25-k8", n, None, cost="0.02") for n in (1, 2)]
    found = routed(tmp_path / "dear", *dear, *cheap)
    (one,) = found.premiums
    assert (one.paired, one.n_stuffed, one.n_retrieved, round(one.ratio, 6), one.alert) == (True, 2, 2, 25.0, True)
    assert list(warned(found)) == [
        "m: a question costs 25.0 times as much by full_context as by rag-bm25-k8 (n = 2 questions): over 20, retrieve "
        "unless the whole set is needed"
    ]
    fair = [trial("full_context", n, None, cost="0.40") for n in (1, 2)]
    assert list(warned(routed(tmp_path / "fair", *fair, *cheap))) == []


def test_within_a_router_the_ways_are_set_side_by_side_unpaired(tmp_path: Path) -> None:
    """One stuffed question at 0.30, two retrieved at 0.01: 30 times; an escalated one was both and is in neither."""
    found = routed(
        tmp_path,
        trial("route", 1, "whole_set>full_context", cost="0.30"),
        trial("route", 2, "lookup>rag"), trial("route", 3, "fallback>rag"),
        trial("route", 4, "unsure>rag>full_context", cost="0.31"), trial("route", 5, "multi_hop>agentic", cost="9"),
    )  # fmt: skip
    (one,) = found.premiums
    assert (one.stuffed, one.retrieved, one.paired) == ("route, full_context", "route, rag", False)
    assert (one.n_stuffed, one.n_retrieved, round(one.ratio, 6), one.alert) == (1, 2, 30.0, True)


def test_a_trial_given_the_whole_set_has_no_recall(tmp_path: Path) -> None:
    """Beside it one that was retrieved in full: the mean is 1 over one question, not 0.5 over two. An escalated trial
    did look first, and has the recall of that."""
    hit = (Hit("d", "d#0", 1.0),)
    keys = [question(f"q{n}", gold=("d",)) for n in (1, 2)]
    run = read_run(
        tmp_path,
        [
            trial("route", 1, "lookup>rag", retrieved=hit), trial("route", 2, "whole_set>full_context"),
            trial("escalate", 1, "rag>full_context", retrieved=hit), trial("escalate", 2, "rag>full_context"),
        ],
        questions=keys,
    )  # fmt: skip
    found = {one.arm: one.categories[0].recall for one in recall_by_arm(run, {})}
    assert {arm: (of.n, of.mean) for arm, of in found.items() if of} == {"route": (1, 1.0), "escalate": (2, 0.5)}


def test_reliability_by_hand() -> None:
    """0.9 right, 0.9 wrong, 0.2 wrong, 1.0 right: Brier (0.01 + 0.81 + 0.04 + 0) / 4; ECE 3/4 x |2/3 - 2.8/3| + 1/4 x
    0.2."""
    known = [Sure(0.9, True, True), Sure(0.9, False, True), Sure(0.2, False, False), Sure(1.0, True, True)]
    found = measured("escalate", "m", known)
    assert (found.n, found.right) == (4, 0.5)
    assert found.brier == pytest.approx(0.215)
    assert found.ece == pytest.approx(0.25)
    assert [(of.low, of.high, of.n) for of in found.bins] == [(0.2, 0.3, 1), (0.9, 1.0, 3)]
    assert (found.kept, found.sent_on) == ((2, 3), (0, 1))


def test_a_lower_end_belongs_to_its_bin() -> None:
    """0.3 and 0.7 are not below themselves, whatever binary arithmetic makes of ten times them."""
    found = measured("a", "m", [Sure(at / 10, True, True) for at in range(11)])
    assert [of.n for of in found.bins] == [1] * 9 + [2]


def test_the_first_answer_is_held_against_its_confidence(tmp_path: Path) -> None:
    """An escalated trial's first answer was wrong at 0.6, though the last is right; a kept one is right at 0.9; a third
    has no confidence."""
    form = json.dumps({"answer": "no", "answerable": True, "confidence": 0.6})
    turns = (turn("0", usage=USED, purpose="classify", text='{"kind":"unsure"}'), turn("0", usage=USED, text=form),
             turn("0", usage=USED, text="yes"))  # fmt: skip
    (found,) = routed(
        tmp_path,
        trial("route", 1, "unsure>rag>full_context", confidence=0.6, turns=turns),
        trial("route", 2, "unsure>rag", confidence=0.9),
        trial("route", 3, "lookup>rag"),
    ).reliability
    assert (found.n, found.without, found.kept, found.sent_on) == (2, 1, (1, 1), (0, 1))
    assert found.brier == pytest.approx((0.36 + 0.01) / 2)
