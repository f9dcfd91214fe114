"""Comparing two runs: what is paired, what is refused, what differs, and which words the numbers earn."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import pytest
from compared import answers, nothing_to_collect, plan, run_of  # noqa: F401
from records import MS, S, failed, record, turn

from loadrig.analysis.compare.sides import pairs
from loadrig.analysis.compare.whole import Pair, compare
from loadrig.analysis.compare.words import word
from loadrig.arms.full_context import FullContext
from loadrig.log import RunFolder
from loadrig.statistics.clustered import Difference, Draws
from loadrig.words.corpus import Hit
from loadrig.words.errors import InputError
from loadrig.words.record import Usage
from loadrig.words.score import Grading, Score

FEW = Draws(bootstraps=300, permutations=4999)


def only(a: RunFolder, b: RunFolder, **given: list[str]) -> Pair:
    (pair,) = compare(a, b, draws=FEW, **given).pairs
    return pair


def counted(a: RunFolder, b: RunFolder) -> list[str]:
    return [one.what for one in only(a, b).settings.counted]


def test_runs_of_the_same_do_not_differ() -> None:
    """No setting differs, every one was checked, and nothing is said to be higher or lower."""
    found = compare(run_of("a", answers(17, 20)), run_of("b", answers(17, 20)), draws=FEW)
    settings = found.pairs[0].settings
    assert (settings.counted, settings.beside, found.cannot_say) == ((), (), False)
    assert "max_tokens" not in settings.unchecked
    assert {one.word for one in found.pairs[0].figures} == {"inside noise"}


@pytest.mark.parametrize(
    ("manifest", "what"),
    [
        ({"corpus": {"sha256": "ab"}}, "corpus"),
        ({"instructions": {"DIRECT": "bc"}}, "instructions"),
        ({"crediting_rule": "2"}, "crediting rule"),
        ({"version": "0.2.0"}, "loadrig"),
        ({"price_table": {"rows": [{"model": "m", "seen": "2026-11-24"}]}}, "prices"),
        (plan(model=[{"id": "m", "max_tokens": 300, "base_url": "http://127.0.0.1:9"}]), "max_tokens"),
        (plan(model=[{"id": "m", "max_tokens": 2000}]), "endpoint"),
        (plan(load={"concurrency": [4]}), "load"),
        (plan(limits={"total": 5.0}), "limits"),
        (plan(retry={"attempts": 1}), "retries"),
        (plan(corpus={"chunk_tokens": 200, "chunk_overlap": 50}), "passages"),
        (plan(arms=[{"name": "k5", "kind": "Rag", "k": 5, "order": "document"}]), "arm's order"),
        (plan(arms=[{"name": "k5", "kind": "Rag", "k": 5, "chronology": False}]), "arm's chronology"),
        (plan(arms=[{"name": "k5", "kind": "Other"}]), "arm"),
    ],
)
def test_one_setting_changed_is_one_thing(manifest: dict[str, object], what: str) -> None:
    """A-87: each kind of setting is found by name, and alone."""
    assert counted(run_of("a", answers(17, 20)), run_of("b", answers(17, 20), manifest)) == [what]


@pytest.mark.parametrize(("chronology", "counts"), [(True, []), (False, ["arm's chronology"])])
def test_an_option_that_came_later_is_no_difference_until_it_is_used(chronology: bool, counts: list[str]) -> None:
    """A run of before it had the sentence too."""
    kind = {"name": "k5", "kind": "loadrig.arms.rag:Rag", "k": 5}
    before, now = (plan(arms=[arm]) for arm in (kind, {**kind, "chronology": chronology}))
    assert counted(run_of("a", answers(1, 2), before), run_of("b", answers(1, 2), now)) == counts


@pytest.mark.parametrize(("arm", "counts"), [(FullContext(), []), (FullContext(cache="5m"), ["arm's cache"])])
def test_a_run_of_before_there_was_a_cache_had_none(arm: FullContext, counts: list[str]) -> None:
    """Of full context's options of today only the cache that is on differs, and it is no fault."""
    kind = {"name": "k5", "kind": "loadrig.arms.full_context:FullContext"}
    before, now = (plan(arms=[one]) for one in ({**kind, "order": "date"}, {**kind, **asdict(arm)}))
    assert counted(run_of("a", answers(1, 2), before), run_of("b", answers(1, 2), now)) == counts


def test_two_things_changed_cannot_be_told_apart() -> None:
    """Corpus and model settings both: named, and said that nobody can say which."""
    other = {"corpus": {"sha256": "ab"}, **plan(retry={"attempts": 1})}
    found = compare(run_of("a", answers(17, 20)), run_of("b", answers(17, 20), other), draws=FEW)
    assert ([one.what for one in found.pairs[0].settings.counted], found.cannot_say) == (["corpus", "retries"], True)


def test_a_seed_and_a_machine_are_named_and_not_counted() -> None:
    """Chance and surroundings are no variable of the comparison."""
    found = only(run_of("a", answers(1, 2)), run_of("b", answers(1, 2), {"seed": 8, "machine": {"processors": 9}}))
    assert found.settings.counted == ()
    assert next((one.what, one.a, one.b) for one in found.settings.beside) == ("seed", "unknown", "8")
    assert [one.what for one in found.settings.beside] == ["seed", "machine"]


def test_another_question_text_shows() -> None:
    """The same id with other words is another question."""
    a, b = run_of("a", answers(1, 2)), run_of("b", answers(1, 2))
    changed = {name: type(q)(**{**_fields(q), "reference": "No."}) for name, q in b.questions.items()}
    assert counted(a, run_of("b", answers(1, 2), questions=changed)) == ["questions"]


def test_another_grader_is_another_measure() -> None:
    """One run by a sheet, one by the pre-check: counted as a difference."""
    marks = {(r.trial, r.try_no): Score("anna", r.trial, r.try_no, True, False, False) for r in answers(1, 2)}
    b = run_of("b", answers(1, 2), grading=Grading("the sheet of anna", "sheet", ("anna",), marks))
    found = only(run_of("a", answers(1, 2)), b)
    assert [(one.what, one.a, one.b) for one in found.settings.counted] == [
        ("grading", "pre-check", "the sheet of anna")
    ]
    assert found.accuracy is not None
    assert (found.accuracy.right_a, found.accuracy.right_b) == (1, 2)


def test_what_no_manifest_says_is_not_checked() -> None:
    """Two old runs without a crediting rule are not alike in it: it is named as not checked."""
    manifest = {"crediting_rule": None}
    found = compare(run_of("a", answers(1, 2), manifest), run_of("b", answers(1, 2), manifest), draws=FEW)
    assert "crediting rule" in found.pairs[0].settings.unchecked
    assert any("not checked" in warning and "crediting rule" in warning for warning in found.warnings)


def test_requests_are_compared_by_their_bytes_where_all_settings_agree() -> None:
    """A prompt that changed without any setting is still a difference."""
    a, b = (run_of(n, answers(1, 2, turns=(turn(prompt=(f"hash-{n}",)),))) for n in "ab")
    assert counted(a, b) == ["first requests, by their bytes"]
    assert only(a, a_again := run_of("c", a.records)).settings.alike == 2
    assert counted(a, a_again) == []


def test_simulated_is_never_compared_with_real() -> None:
    """Dial settings beside measurements would be taken for evidence."""
    with pytest.raises(InputError, match="simulated run is not compared with a real one"):
        compare(run_of("a", answers(1, 2)), run_of("b", answers(1, 2), {"simulated": True}))


def test_no_common_question_is_refused() -> None:
    """There is nothing to pair."""
    with pytest.raises(InputError, match="no question was asked on both sides"):
        compare(run_of("a", [record("a", question="q1")]), run_of("b", [record("b", question="q2")]))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "one run, and one thing in it"),
        ({"arms": ["k5"]}, "one run, and one thing in it"),
        ({"arms": ["k5", "k6"]}, "no arm 'k6'"),
        ({"arms": ["k5", "k5", "k5"]}, "3 times --arm"),
    ],
)
def test_wrong_choices_are_named(given: dict[str, list[str]], problem: str) -> None:
    """One run wants two arms that are in it."""
    run = run_of("a", [*answers(1, 2), *answers(1, 2, arm="k10")])
    with pytest.raises(InputError, match=problem):
        compare(run, run, **given)


def test_two_arms_of_one_run_differ_by_their_options() -> None:
    """k = 5 against k = 10: the one option is the one thing, and the pair is named by both arms."""
    run = run_of("a", [*answers(1, 2), *answers(2, 2, arm="k10")])
    found = only(run, run, arms=["k5", "k10"])
    assert (found.arm_a, found.arm_b) == ("k5", "k10")
    assert [(one.what, one.a, one.b) for one in found.settings.counted] == [("arm's k", "5", "10")]


def test_arms_and_models_of_one_name_are_paired() -> None:
    """Two arms on both sides are two pairs; the only model of each side is paired with the other's."""
    a = run_of("a", [*answers(1, 2), *answers(1, 2, arm="k10")])
    b = run_of("b", [*answers(1, 2, model="n"), *answers(1, 2, arm="k10", model="n"), record("x", arm="other")])
    assert [(x.arm, y.arm, x.model, y.model) for x, y in pairs(a, run_of("b", b.records[:4]))] == [
        ("k5", "k5", "m", "n"), ("k10", "k10", "m", "n"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "low", "high", "p", "earned"),
    [
        (0.2, 0.1, 0.3, 0.025, "higher"),
        (-0.2, -0.3, -0.1, 0.001, "lower"),
        (0.2, 0.1, 0.3, 0.026, "inside noise"),
        (0.2, 0.0, 0.3, 0.001, "inside noise"),
        (0.2, None, None, 0.001, "inside noise"),
    ],
)
def test_a_word_wants_both_the_p_and_the_whole_interval(
    value: float, low: float | None, high: float | None, p: float, earned: str
) -> None:
    """Accuracy has half of the 5 %; an interval that holds 0, or that nobody knows, is never higher or lower."""
    assert word(Difference(20, 0.5, 0.5 + value, value, low, high, p), p, "accuracy") == earned


def test_lost_questions_are_named() -> None:
    """20 of 20 against 17 of 20 on the same questions: p = .25, inside the noise, the three named with what became."""
    b = [*answers(17, 17), failed("f", question="q17", arm="k5", category="fact")]
    b += [record(f"b{i}", question=f"q{i}", arm="k5", category="fact", answer="no") for i in (18, 19)]
    row = only(run_of("a", answers(20, 20)), run_of("b", b)).accuracy
    assert row is not None
    assert (row.right_a, row.right_b, row.p, row.word) == (20, 17, 0.25, "inside noise")
    assert [(one.question, one.a, one.b) for one in row.lost] == [
        ("q17", "right", "failed (timeout)"), ("q18", "right", "wrong"), ("q19", "right", "wrong"),
    ]  # fmt: skip


def test_within_noise_at_twenty() -> None:
    """A-136: 20/20 against 19/20 is inside the noise, and nothing below 41.8 points could have been seen."""
    row = only(run_of("a", answers(20, 20)), run_of("b", answers(19, 20))).accuracy
    assert row is not None
    points = round(100 * row.difference.value, 9), round(100 * (row.detectable or 0), 1)
    assert (row.word, *points) == ("inside noise", -5, 41.8)


def test_where_nothing_differs_the_bound_is_told() -> None:
    """No discordant question of 20: at most 13.9 % of such questions differ."""
    row = only(run_of("a", answers(19, 20)), run_of("b", answers(19, 20))).accuracy
    assert row is not None
    assert (row.lost, row.won, round(row.at_most or 0, 3)) == ((), (), 0.139)


def test_a_large_loss_is_lower() -> None:
    """20 of 20 against 10 of 20: exact p = .002, the whole interval below 0."""
    row = only(run_of("a", answers(20, 20)), run_of("b", answers(10, 20))).accuracy
    assert row is not None
    assert (round(row.p, 4), row.word) == (0.0020, "lower")


def test_repetitions_count_once_and_stand_beside() -> None:
    """The first answer is right in both, two more of b are wrong: no discordant pair; over all, b is 2/3 of a point."""
    b = [r for i in range(3) for r in answers(20 if i == 0 else 0, 20, repetition=i + 1)]
    b = [record(f"b{place}", **_kept(r)) for place, r in enumerate(b)]
    row = only(run_of("a", answers(20, 20)), run_of("b", b)).accuracy
    assert row is not None
    assert row.repeated is not None
    assert (row.n, row.right_b, row.p, round(row.repeated.value, 3)) == (20, 20, 1, -0.667)


def test_what_the_control_knows_in_either_run_leaves_both() -> None:
    """q0 is known in b only: 19 questions are compared, and the control itself has no accuracy."""
    control = [record("c", arm="control", question="q0", category="fact")]
    a = run_of("a", [*answers(20, 20), record("c", arm="control", question="q0", category="fact", answer="no")])
    rows = {
        pair.arm_a: pair.accuracy for pair in compare(a, run_of("b", [*answers(20, 20), *control]), draws=FEW).pairs
    }
    assert rows["control"] is None
    assert rows["k5"] is not None
    assert rows["k5"].n == 19


def test_questions_of_one_side_are_in_no_figure_and_named() -> None:
    """b was to ask 20 and asked 18: two are unasked, and the reader is warned."""
    b = run_of("b", answers(18, 18), trials=run_of("x", answers(20, 20)).trials)
    found = compare(run_of("a", answers(20, 20)), b, draws=FEW)
    assert (found.pairs[0].questions, found.pairs[0].only_a, found.pairs[0].unasked) == (
        18,
        ("q18", "q19"),
        ("q18", "q19"),
    )
    assert any("2 of them b had planned and not asked" in warning for warning in found.warnings)


def figures(a: RunFolder, b: RunFolder) -> dict[str, Any]:
    return {f"{one.name} {one.kind}": one for one in only(a, b).figures}


def test_a_slower_run_is_higher_in_every_time() -> None:
    """Service of 1.00 to 1.19 s in 20 questions, half a second more in each: p50, p95 and shift, all called higher."""
    a = [record(f"a{i}", arm="k5", question=f"q{i}", service_ns=S + 10 * i * MS) for i in range(20)]
    b = [record(f"b{i}", arm="k5", question=f"q{i}", service_ns=S + (10 * i + 500) * MS) for i in range(20)]
    found = figures(run_of("a", a), run_of("b", b))
    for name in ("service p50", "service p95", "service question"):
        row = found[name]
        assert (row.difference.value, row.word, row.ok_a, row.n_b) == (S / 2, "higher", 20, 20)
    assert found["ttft p50"].word == "inside noise"


def test_failing_makes_nobody_faster() -> None:
    """16 of 20 trials of b fail: p95 beyond every success; the failed share is higher."""
    b = [*answers(4, 4, service_ns=S // 2)]
    b += [failed(f"f{i}", question=f"q{i}", arm="k5", category="fact") for i in range(4, 20)]
    found = figures(run_of("a", answers(20, 20)), run_of("b", b))
    assert found["service p95"].difference.b == math.inf
    assert (found["failed share"].difference.value, found["failed share"].word) == (0.8, "higher")


def test_tokens_of_two_models_are_refused_and_money_is_not() -> None:
    """A-90: models count tokens differently; cost per question compares, in one currency."""
    a = run_of("a", answers(20, 20, usage=Usage(input=100, output=9), cost="0.02"))
    b = run_of("b", answers(20, 20, usage=Usage(input=150, output=9), cost="0.01", model="n"))
    found = figures(a, b)
    assert found["tokens_in mean"].difference is None
    assert "compare them by cost" in str(found["tokens_in mean"].refused)
    assert (found["cost mean"].ratio.value, found["cost mean"].word) == (0.5, "lower")


def test_two_currencies_are_refused() -> None:
    """Money of one is not money of the other."""
    a, b = run_of("a", answers(9, 9, cost="0.02")), run_of("b", answers(9, 9, cost="0.01"), {"currency": "EUR"})
    assert figures(a, b)["cost mean"].refused == "USD and EUR are two currencies"


def test_recall_under_two_crediting_rules_is_refused() -> None:
    """A-56: the same documents under another rule are another figure; under one rule recall is compared."""
    a, b = (run_of(n, answers(9, 9, retrieved=(Hit("d", None, 1.0),)), questions=_with_gold(9)) for n in "ab")
    other = run_of("b", b.records, {"crediting_rule": "2"}, questions=_with_gold(9))
    assert figures(a, b)["recall mean"].difference.value == 0
    assert figures(a, other)["recall mean"].refused == "crediting rules 1 and 2 differ"


def test_a_failed_trial_that_lost_its_hits_is_no_recall_of_nothing() -> None:
    """One of nine failed on the one side: eight count there, and nothing was found less often."""
    found = answers(9, 9, retrieved=(Hit("d", None, 1.0),))
    lost = [*found[:8], failed(found[8].trial, arm="k5", question="q8")]
    recall = figures(*(run_of(n, of, questions=_with_gold(9)) for n, of in (("a", found), ("b", lost))))["recall mean"]
    assert (recall.ok_a, recall.ok_b, recall.n_b, recall.difference.value) == (9, 8, 9, 0)


def test_categories_are_held_to_holm() -> None:
    """Two categories: the family's adjusted p is not below the raw one, and each has its questions."""
    a = [*answers(9, 9), *(record(f"p{i}", question=f"p{i}", arm="k5", category="trap") for i in range(9))]
    b = [*answers(9, 9), *(record(f"p{i}", question=f"p{i}", arm="k5", category="trap", answer="no") for i in range(9))]
    rows = only(run_of("a", a), run_of("b", b)).categories
    assert [(row.category, row.n, round(row.p, 4), round(row.adjusted_p, 4), row.word) for row in rows] == [
        ("fact", 9, 1, 1, "inside noise"), ("trap", 9, 0.0039, 0.0078, "lower"),
    ]  # fmt: skip


def test_a_client_bound_stage_is_marked() -> None:
    """A stage that was the rig's on one side is marked on every time, and said."""
    own = {"stage": "c2", "worker": "w1", "lag_n": 100, "lag_p50_ns": 9 * MS, "lag_p99_ns": 90 * MS, "lag_max_ns": S}
    a = run_of("a", answers(20, 20), {"self_measurement": [{**own, "cpu_share_max": 0.99}]})
    found = compare(a, run_of("b", answers(20, 20)), draws=FEW)
    assert {one.client_bound for one in found.pairs[0].figures if one.unit == "ns"} == {True}
    assert found.warnings[-1] == "a stage is client-bound, its times partly the rig's own: k5"


def _fields(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__slots__}


def _kept(r: object) -> dict[str, object]:
    return {name: getattr(r, name) for name in ("arm", "question", "category", "answer", "repetition")}


def _with_gold(n: int) -> dict[str, object]:
    run = run_of("x", answers(n, n))
    return {name: type(q)(**{**_fields(q), "gold": ("d",)}) for name, q in run.questions.items()}
