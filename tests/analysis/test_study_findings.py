"""A study's sentences follow its numbers: the words, what could not have been seen, and how far each reaches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

import pytest
from compared import nothing_to_collect, plan, run_of  # noqa: F401 - the first is used by pytest
from records import record

from loadrig.analysis.study import marked, recalled, tested, width
from loadrig.analysis.study.answers import part_of
from loadrig.analysis.study.finding import listed, p_told, points, times_told
from loadrig.analysis.study.recalled import Recalled
from loadrig.analysis.study.tested import PairTest, adjusted, paired
from loadrig.analysis.study.width import Split, one_question, one_told
from loadrig.analysis.summary import Summary
from loadrig.statistics.clustered import Difference

NO_SUMMARY = cast("Summary", None)  # tests of answers alone


def verdicts(right: int, n: int) -> dict[str, bool]:
    """Questions q0, q1, ...: the first `right` of n are right."""
    return {f"q{number}": number < right for number in range(n)}


def one(right: int, against: int, n: int) -> PairTest:
    """An arm with `right` of n against one with `against` of n."""
    found = paired(
        verdicts(against, n), verdicts(right, n), key="k", names=("original", "m", "full_context", "rag-k5"),
        category="all",
    )  # fmt: skip
    assert found is not None
    return found


def test_three_more_of_twenty_are_inside_noise() -> None:
    """20/20 against 17/20: McNemar's exact p is .25, and the sentence says what could not have been seen."""
    (found,) = adjusted([one(20, 17, 20)])
    assert (found.p, found.p_holm, found.word) == (0.25, 0.25, "inside noise")
    (said,) = tested.told([found])
    assert "full_context 20/20 against 17/20 (p .25, Holm .25): inside noise at n = 20, exact McNemar" in said.text
    assert "6 questions must differ one way for p .05, 3 do at most" in said.text
    assert said.text.endswith(f"a difference below {points(found.detectable or 0)} could not have been seen")
    assert said.strength == "inside noise"


def test_twenty_against_nineteen_is_inside_noise() -> None:
    """One question of twenty differs: p 1."""
    (said,) = tested.told(adjusted([one(20, 19, 20)]))
    assert "(p 1, Holm 1): inside noise at n = 20" in said.text


def test_no_question_differs() -> None:
    """7/7 everywhere: at most 34.8 % of such questions differ (1 - .05 ** (1/7))."""
    (said,) = tested.told(adjusted([one(7, 7, 7), one(7, 7, 7)]))
    told = "full_context 7/7, full_context 7/7, each with the same questions right as there: inside noise at n = 7"
    assert told in said.text
    assert f"at most {100 * (1 - 0.05 ** (1 / 7)):.1f} % of such questions differ" in said.text
    assert said.text.endswith("no difference could have been seen reliably") or "points" in said.text


def test_ten_more_of_twenty_are_a_result() -> None:
    """20/20 against 10/20: p 2 * .5 ** 10, higher by 50.0 points; Holm over two tests doubles it."""
    family = adjusted([one(20, 10, 20), one(20, 20, 20)])
    assert (family[0].word, family[0].p_holm) == ("higher", pytest.approx(4 * 0.5**10))
    first, rest = tested.told(family)
    assert "full_context is higher than rag-k5 by 50.0 points, 20/20 against 10/20" in first.text
    assert (first.strength, rest.strength) == ("result", "inside noise")


def test_five_questions_one_way_are_never_enough() -> None:
    """5 of 5 that differ go one way, p .0625; six do with .03125."""
    assert [adjusted([one(20, right, 20)])[0].word for right in (15, 14)] == ["inside noise", "higher"]


WIDE = {"full_context": (False,) * 3, "agentic": (False,) * 3}
NARROW = {f"rag-k{k}": (True,) * 3 for k in (5, 10, 20)}


def test_repetitions_of_one_question_are_not_pooled() -> None:
    """0/6 against 9/9: 1/C(15,6) pooled, 1/C(5,2) with the arm as unit; the sentence names the second and says why."""
    found = one_question("q1", WIDE, NARROW)
    assert found.p_pooled == pytest.approx(1 / math.comb(15, 6))
    assert found.p_arms == pytest.approx(1 / math.comb(5, 2))
    assert one_told(found) == (
        "q1: 0/6 right in wide context against 9/9 in narrow: Fisher's exact p is .0002 with the repetitions pooled "
        "and .1 with the arm as unit. The second is the honest one: 15 answers are 5 arms x 3 repetitions of one "
        "question, not 15 independent answers"
    )


def split(carried: int, value: float, p: float, low: float, high: float) -> Split:
    """Seven questions, of which `carried` differ by width; the first one splits the arms."""
    names = tuple(f"q{number}" for number in range(carried))
    apart = (one_question("q0", WIDE, NARROW),) if carried else ()
    up = carried if value > 0 else 0
    difference = Difference(7, 1.0, 1.0 + value, value, low, high, p)
    found = Split("k", "hardened", "m", "supersession", tuple(WIDE), tuple(NARROW), difference, names, up, apart)
    return width.adjusted([found])[0]


def test_one_question_is_a_lead() -> None:
    """What one question carries is told with both p, and as a lead, not a result."""
    said = width.told(split(1, -1 / 7, 1.0, -0.43, 0.0))
    assert said.strength == "lead"
    assert "The second is the honest one" in said.text
    assert said.text.endswith("One question carries it: a lead, not a result")


def test_a_width_is_tested_once_a_run_and_model() -> None:
    """p .02 in one of six runs and models is .12 after Holm: what one test in a study shows, six do not."""
    one, *_ = width.adjusted([split(6, -0.8, 0.02, -1.0, -0.5), *[split(6, -0.1, 0.9, -0.5, 0.3)] * 5])
    said = width.told(one)
    assert said.strength != "result"
    assert "permutation p .02, .12 after Holm over 6 tests" in said.text


def test_many_questions_are_a_result() -> None:
    """What passes its test over questions is called lower, and says how many questions carry it."""
    said = width.told(split(6, -0.8, 0.02, -1.0, -0.5))
    assert said.strength == "result"
    assert "lower with wide context (-80.0 points [-100.0, -50.0], permutation p .02; " in said.text
    assert "questions that differ: 0 towards wide, 6 towards narrow" in said.text


def test_no_question_differs_by_width() -> None:
    """Nothing is made of nothing."""
    assert width.told(split(0, 0.0, 1.0, 0.0, 0.0)).strength == "inside noise"


def classes() -> Iterator[Recalled]:
    for name, n, by_k in (
        ("all", 20, {5: 0.81, 10: 0.93}),
        ("paraphrase", 3, {5: 0.5, 10: 1.0}),
        ("supersession", 7, {5: 1.0, 10: 1.0}),
        ("aggregation", 3, {5: 0.6, 10: 0.8}),
    ):
        reached = next((k for k, recall in by_k.items() if recall >= 1), None)
        yield Recalled(f"recall/original/{name}", "original", "recall", name, n, by_k, reached)


def test_recall_is_told_by_class() -> None:
    """The class that never reaches 1, the k that the others need, and what the mean of .81 hides."""
    never, reached, hidden = (one.text for one in recalled.told(list(classes())))
    assert "never reaches 1 at k = 5, 10 for aggregation (at most .80, n = 3)" in never
    assert "is 1 for paraphrase from k = 10, supersession from k = 5" in reached
    assert "the mean recall at k = 5 is .81 over 20 questions and hides paraphrase at .50 (n = 3)" in hidden


def test_right_answers_with_ill_provenance_are_told() -> None:
    """What a grade of the claim alone does not see."""
    (said,) = marked.crossed_told([marked.Cross("k", "hardened", "m", 30, 11, 2, 3)])
    assert "11 of 14 answers whose provenance fails are right in what they claim (41 are right in all)" in said.text


@pytest.mark.parametrize(
    ("p", "said"), [(1.0, "1"), (0.25, ".25"), (0.2308, ".23"), (0.0001998, ".0002"), (0.00001, "< .0001")]
)
def test_p_as_it_is_told(p: float, said: str) -> None:
    """Two digits, one below a thousandth, and no zero before the point."""
    assert p_told(p) == said


def test_points_are_rounded_up() -> None:
    """.324 is 32.4 points and .3241 is 32.5: what is told as seen could be seen."""
    assert (points(0.324), points(0.3241)) == ("32.4 points", "32.5 points")


def test_small_ratios_keep_their_digits() -> None:
    """6.2 times as much, and .016 of it is not 0.0."""
    assert (times_told(6.2049), times_told(0.0164)) == ("6.2", "0.016")


def test_long_lists_are_cut() -> None:
    """Of six names four, and how many more."""
    assert listed(list("abcdef")) == "a, b, c, d and 2 more"


def supersession(wide: dict[str, int], narrow: dict[str, int]) -> Split:
    """The split of a run of seven questions, three repetitions: how many each of the two wide arms and of three narrow
    arms get right of a question's three; all others are right everywhere."""
    arms = {"full_context": wide, "agentic": wide, **{f"k{k}": narrow for k in (5, 10, 20)}}
    records = [
        record(
            f"{arm}-{question}-{repetition}", arm=arm, question=question, category="supersession",
            repetition=repetition, answer="yes" if repetition <= right.get(question, 3) else "no",
        )
        for arm, right in arms.items() for question in (f"q{n}" for n in range(7)) for repetition in (1, 2, 3)
    ]  # fmt: skip
    described = [{"name": arm, "kind": "x", **({"k": int(arm[1:])} if arm[0] == "k" else {})} for arm in arms]
    run = run_of("r", records, plan(arms=described))
    (found,) = width.splits(part_of(run, NO_SUMMARY, name="hardened"), "supersession")
    return found


def test_the_studys_own_result_is_a_lead() -> None:
    """One question, 0/6 against 9/9 of seven: .0002 times 7 is within 5 %, so it stands out; more is not said."""
    found = supersession({"q3": 0}, {})
    assert (found.carried_by, [one.question for one in found.apart]) == (("q3",), ["q3"])
    assert width.told(found).strength == "lead"


def test_what_was_chosen_after_the_fact_is_no_lead() -> None:
    """2/6 against 9/9 is p .011 pooled, and times the seven questions that it could have been it is no lead."""
    found = supersession({"q3": 1}, {})
    assert one_question("q3", {"a": (True, False, False), "b": (True, False, False)}, NARROW).p_pooled == pytest.approx(
        math.comb(6, 2) / math.comb(15, 4)
    )
    assert found.apart == ()
    assert width.told(found).strength == "inside noise"


def test_arms_are_sorted_into_narrow_and_wide() -> None:
    """Narrow arms stand by k, whatever the plan's order; the control is neither; dropped questions are left out."""
    records = [
        record("c", arm="control", answer="yes"), record("c2", arm="control", question="q2", answer="no"),
        *(record(f"{arm}{q}", arm=arm, question=q) for arm in ("full_context", "k10", "k5") for q in ("q1", "q2")),
    ]  # fmt: skip
    arms = [{"name": "k10", "k": 10}, {"name": "k5", "k": 5}, {"name": "full_context"}]
    part = part_of(run_of("r", records, plan(arms=arms)), NO_SUMMARY, name="r")
    assert (part.arms, part.wide) == (("k5", "k10", "full_context"), ("full_context",))
    assert part.firsts("k5", "m") == {"q2": True}


def test_two_arms_want_more_than_one() -> None:
    """Six questions one way are p .03125: a result alone, and .0625 after Holm where a second arm was tested, too."""
    assert [found.word for found in adjusted([one(20, 14, 20), one(20, 20, 20)])] == ["inside noise", "inside noise"]
