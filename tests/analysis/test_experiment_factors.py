"""What an option does, and whether that hangs on another: by hand on a few questions, and which words it earns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from compared import nothing_to_collect  # noqa: F401
from experimented import FEW, bits, described, run_of_bits
from msgspec import structs
from records import S, failed

from loadrig.analysis.experiments.cells import cells, service
from loadrig.analysis.experiments.factors import Factor, factors, interactions
from loadrig.log import RunFolder
from loadrig.statistics.power import detectable
from loadrig.words.record import Usage

FOUR = [
    described("full_context", f"c{chronology:d}i{ids:d}", chronology=chronology, ids=ids)
    for chronology in (True, False)
    for ids in (True, False)
]
BY_HAND = {("m", "c1i1"): "1111", ("m", "c0i1"): "1100", ("m", "c1i0"): "1111", ("m", "c0i0"): "0000"}


def found(run: RunFolder) -> dict[str, Factor]:
    return {f"{one.option} {one.a}-{one.b}": one for one in factors(cells(run), FEW)}


def test_a_main_effect_is_the_mean_over_the_pairs_by_hand() -> None:
    """Without the sentence: 0 0 -1 -1 where ids are there, -1 -1 -1 -1 where not; so -.5 -.5 -1 -1, which is -.75."""
    found_ = found(run_of_bits(FOUR, BY_HAND))
    chronology, ids = found_["chronology true-false"], found_["ids true-false"]
    assert chronology.accuracy is not None
    assert ids.accuracy is not None
    one, other = chronology.accuracy.difference, ids.accuracy.difference
    assert (one.n, one.a, one.b, one.value) == (4, 1.0, 0.25, -0.75)
    assert (other.a, other.b, other.value) == (0.75, 0.5, -0.25)
    assert chronology.arms == (("c1i1", "c0i1"), ("c1i0", "c0i0"))


def test_an_interaction_is_a_difference_of_differences_by_hand() -> None:
    """The sentence is worth half the questions with ids and all of them without: -.5, -1, and -.5 between."""
    (one,) = interactions(cells(run_of_bits(FOUR, BY_HAND)), FEW)
    assert (one.option, one.other, one.other_a, one.other_b) == ("chronology", "ids", "true", "false")
    assert (one.accuracy.difference.a, one.accuracy.difference.b, one.accuracy.difference.value) == (-0.5, -1.0, -0.5)


def test_two_effects_that_add_up_do_not_interact() -> None:
    """Each takes one question of four, both take two: the difference of differences is 0."""
    right = {("m", "c1i1"): "1111", ("m", "c0i1"): "1110", ("m", "c1i0"): "1101", ("m", "c0i0"): "1100"}
    (one,) = interactions(cells(run_of_bits(FOUR, right)), FEW)
    assert (one.accuracy.difference.value, one.accuracy.word) == (0.0, "inside noise")


def test_a_planted_effect_is_found_and_a_null_is_called_noise() -> None:
    """Backwards 12 of 20 questions more are right; the sentence does nothing, and what 20 could show is said."""
    arms = [
        described("full_context", f"{order}{chronology:d}", order=order, chronology=chronology)
        for order in ("date", "reverse")
        for chronology in (True, False)
    ]
    right = {("m", f"{order}{there}"): bits(n) for order, n in (("date", 4), ("reverse", 16)) for there in (1, 0)}
    effects = found(run_of_bits(arms, right))
    order, chronology = effects["order date-reverse"], effects["chronology true-false"]
    assert order.accuracy is not None
    assert chronology.accuracy is not None
    assert (order.accuracy.word, order.accuracy.difference.value) == ("higher", pytest.approx(0.6))
    assert (chronology.accuracy.word, chronology.accuracy.difference.value) == ("inside noise", 0.0)
    assert chronology.accuracy.detectable == detectable(20, alpha=0.025 / 2)


def test_an_option_changed_alone_is_a_pair_of_its_own() -> None:
    """A plan that is no factorial: each option's effect is that of its one pair, and there is no interaction."""
    arms = FOUR[:3]
    right = {key: row for key, row in BY_HAND.items() if key[1] != "c0i0"}
    run = run_of_bits(arms, right)
    found_ = found(run)
    assert [one.arms for one in found_.values()] == [(("c1i1", "c0i1"),), (("c1i1", "c1i0"),)]
    assert interactions(cells(run), FEW) == ()


def test_arms_that_differ_in_two_options_are_no_pair() -> None:
    """Nobody can say which of the two it was."""
    arms = [FOUR[0], FOUR[3]]
    assert found(run_of_bits(arms, {("m", "c1i1"): "11", ("m", "c0i0"): "00"})) == {}


def test_four_orders_are_each_held_against_the_first() -> None:
    """Three contrasts, all with the order that the plan lists first."""
    arms = [described("full_context", order, order=order) for order in ("date", "reverse", "name", "shuffle")]
    run = run_of_bits(arms, {("m", str(arm["order"])): "1100" for arm in arms})
    assert list(found(run)) == ["order date-reverse", "order date-name", "order date-shuffle"]


@pytest.mark.parametrize(("ks", "count"), [((5, 20), 1), ((3, 5, 10), 0)])
def test_k_of_two_values_is_a_factor_and_of_more_a_curve(ks: tuple[int, ...], count: int) -> None:
    """More than two points are looked at for an inverted U instead."""
    arms = [described("rag", f"k{k}", k=k, retriever="bm25") for k in ks]
    assert len(found(run_of_bits(arms, {("m", f"k{k}"): "1100" for k in ks}))) == count


def test_models_are_never_one_factor() -> None:
    """Each model has its effects to itself: its tokens mean nothing beside another's."""
    right = {(model, arm): row for model in ("m", "n") for (_, arm), row in BY_HAND.items()}
    effects = factors(cells(run_of_bits(FOUR, right)), FEW)
    assert [(one.model, one.option) for one in effects] == [(m, o) for m in "mn" for o in ("chronology", "ids")]


def test_tokens_and_time_stand_beside_by_question() -> None:
    """100 prompt tokens and a second with ids, 60 and a second without: -40, 0."""

    def tokens(arm: str) -> dict[str, Any]:
        return {"usage": Usage(input=100 if arm == "c1i1" else 60, output=1), "service_ns": S}

    rows = [run_of_bits(FOUR, {("m", arm): "1100"}, **tokens(arm)) for arm in ("c1i1", "c1i0")]
    records = tuple(record for run in rows for record in run.records)
    ids = found(replace(rows[0], records=records))["ids true-false"]
    assert ids.tokens_in is not None
    assert ids.service is not None
    assert (ids.tokens_in.difference.a, ids.tokens_in.difference.value) == (100.0, -40.0)
    assert (ids.service.difference.value, ids.service.word, ids.service.detectable) == (0.0, "inside noise", None)


def test_repetitions_are_one_cluster() -> None:
    """Four questions asked three times are four questions: accuracy by the first answers, time by the mean."""
    run = run_of_bits(FOUR[:2], {("m", "c1i1"): "1111", ("m", "c1i0"): "0000"})
    again = tuple(
        structs.replace(r, trial=f"{r.trial}-{n}", repetition=n, answer="yes", service_ns=4 * S)
        for r in run.records
        for n in (2, 3)
    )
    ids = found(replace(run, records=(*run.records, *again)))["ids true-false"]
    assert ids.accuracy is not None
    assert ids.service is not None
    assert (ids.accuracy.difference.n, ids.accuracy.difference.value) == (4, -1.0)
    assert ids.service.difference.a == pytest.approx(3 * S)


def test_a_question_that_the_control_knew_is_no_evidence() -> None:
    """Three questions are left of four."""
    arms = [described("control", "control"), *FOUR]
    run = run_of_bits(arms, {("m", "control"): "1000", **BY_HAND})
    accuracy = found(run)["chronology true-false"].accuracy
    assert accuracy is not None
    assert accuracy.difference.n == 3


def test_the_time_of_a_trial_that_failed_is_in_no_options_effect() -> None:
    """q0 took 1 s and its repetition, which failed, 30 s; q1 took 3 s: 1 and 3, not 15.5."""
    run = run_of_bits([described("rag", "r")], {("m", "r"): "11"})
    first, second = run.records
    lost = failed("lost", model="m", arm="r", question="q0", repetition=2)
    run = replace(run, records=(first, structs.replace(second, service_ns=3 * S), lost))
    (cell,) = cells(run)
    assert service(cell) == {"q0": S, "q1": 3 * S}
