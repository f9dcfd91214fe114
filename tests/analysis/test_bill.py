"""The bill: every charge on one line, unknown never nothing, divisors named."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import MS, attempt, failed, read_run, record, turn

from loadrig.analysis.bill import bill, charges, money, per_question
from loadrig.cost import total
from loadrig.words.record import Record, Usage

USED = Usage(input=10, output=10)


def priced(trial: str, cost: str, **given: object) -> Record:
    """A record of one turn that cost `cost`."""
    return record(trial, cost=cost, turns=(turn(cost, usage=USED),), **given)


def test_the_lines_sum_to_the_total(tmp_path: Path) -> None:
    """Seven kinds of money, each on its own line, 0.79 in all."""
    retried = turn(attempts=(attempt(cost="0.02", usage=USED), attempt(cost="0.01", usage=USED)), cost="0.03")
    records = [
        priced("a", "0.01", try_no=1), priced("a", "0.02", try_no=2), priced("w", "0.04", phase="warmup"),
        priced("t", "0.08", phase="tail"), record("r", cost="0.03", turns=(retried,)),
        failed("f", cost="0.45", turns=(turn("0.45", usage=USED),)),
        record("c", cost="0.16", turns=(turn("0.15", usage=USED, purpose="classify"), turn("0.01", usage=USED))),
    ]  # fmt: skip
    found = bill(read_run(tmp_path, records))
    assert {line.name: line.money.amount for line in found.lines} == {
        "measured": "0.04", "tail": "0.08", "classifier": "0.15", "warmup": "0.04", "retries": "0.02", "failed": "0.45",
        "superseded": "0.01", "probe": "0", "priming": "0", "summaries": "0", "judge": "0",
    }  # fmt: skip
    assert (found.total.amount, found.total.unknown, found.total.at_least) == ("0.79", 0, False)


@pytest.mark.parametrize(
    ("of", "lines"),
    [
        ({}, ("retries", "classifier", "measured")), ({"phase": "tail"}, ("retries", "classifier", "tail")),
        ({"phase": "warmup"}, ("warmup",) * 3), ({"outcome": "failed"}, ("failed",) * 3),
    ],
)  # fmt: skip
def test_a_turn_that_classifies_has_a_line_and_is_part_of_its_questions_cost(
    of: dict[str, str], lines: tuple[str, ...]
) -> None:
    """Retries, warm-up and failures are what they are of any turn; else its last attempt is the classifier's."""
    tried = (attempt(cost="0.01", usage=USED), attempt(cost="0.02", usage=USED))
    turns = (turn("0.03", attempts=tried, purpose="classify"), turn("0.04", usage=USED))
    one = record("c", cost="0.07", turns=turns, **of)
    found = [(charge.line, str(charge.amount)) for charge in charges(one)]
    assert found == list(zip(lines, ("0.01", "0.02", "0.04"), strict=True))
    assert per_question([one], "USD", correct=1).total.amount == "0.07"


def test_calls_before_the_first_trial_are_on_the_line_of_what_they_were_for(tmp_path: Path) -> None:
    """One that failed is on its line too; none of them is a trial's."""
    made = [
        record(f"probe-{at}", cost=cost, phase="probe", turns=(turn(cost, usage=USED, purpose=purpose),), **given)
        for at, (cost, purpose, given) in enumerate(
            [("0.01", "answer", {}), ("0.02", "prime", {}), ("0.04", "summarise", {"outcome": "failed"})]
        )
    ]
    found = bill(replace(read_run(tmp_path, [priced("a", "0.08")]), probes=tuple(made)))
    assert {line.name: line.money.amount for line in found.lines if line.money.amount != "0"} == {
        "measured": "0.08", "probe": "0.01", "priming": "0.02", "summaries": "0.04",
    }  # fmt: skip
    assert found.total.amount == "0.15"


@given(st.lists(st.tuples(st.sampled_from(["measured", "tail", "warmup"]), st.decimals(0, 9, places=9)), max_size=9))
def test_any_bill_sums_exactly(found: list[tuple[str, Decimal]]) -> None:
    """The sum of the charges by line is the sum of all, to the last digit."""
    made = [c for i, (phase, cost) in enumerate(found) for c in charges(priced(str(i), str(cost), phase=phase))]
    by_line = [money((c for c in made if c.line == line), "USD") for line in ("measured", "tail", "warmup")]
    assert total(Decimal(part.amount or "x") for part in by_line) == Decimal(money(made, "USD").amount or "x")


def test_small_sums_stay_exact_and_plain(tmp_path: Path) -> None:
    """F8: 1,000 trials of 0.00000625 cost 0.00625, written without an exponent."""
    found = bill(read_run(tmp_path, [priced(f"t{i}", "0.00000625") for i in range(1000)]))
    assert found.total.amount == "0.00625000"


def test_cost_per_question_names_its_divisor() -> None:
    """M5: 10 asked, 8 answered, 0.40 spent: 0.04 per asked and 0.05 per answered; 5 correct: 0.08."""
    answered = [priced(f"a{i}", "0.04") for i in range(8)]
    starved = [priced(f"s{i}", "0.04", outcome="unanswered", reason="starved") for i in range(2)]
    found = per_question([*answered, *starved], "USD", correct=5)
    assert (found.asked, found.answered, found.correct) == (10, 8, 5)
    assert (found.total.amount, found.per_asked, found.per_answered, found.per_correct) == (
        "0.40",
        "0.04",
        "0.05",
        "0.08",
    )


def test_nothing_correct_has_no_price() -> None:
    """Cost per correct answer is not available, rather than infinite, when none is correct."""
    assert per_question([priced("a", "0.04")], "USD", correct=0).per_correct is None


def test_a_model_without_a_price_makes_the_total_partial(tmp_path: Path) -> None:
    """F6: usage without a price is unknown, named and not in the sum; alone it makes the total unknown, not 0."""
    unpriced = record("u", cost=None, turns=(turn(None, usage=USED),))
    both = bill(read_run(tmp_path / "both", [unpriced, priced("a", "0.04")])).total
    alone = bill(read_run(tmp_path / "alone", [unpriced])).total
    assert (both.amount, both.unknown) == ("0.04", 1)
    assert (alone.amount, alone.unknown) == (None, 1)


def test_a_price_of_zero_is_a_true_zero(tmp_path: Path) -> None:
    """F6: a free model's bill is 0 and complete."""
    found = bill(read_run(tmp_path, [priced("a", "0")])).total
    assert (found.amount, found.unknown, found.at_least) == ("0", 0, False)


def test_what_was_refused_or_never_sent_costs_nothing_and_what_broke_costs_at_least() -> None:
    """A 529 without usage is 0, and so is what never left; a broken stream is a lower bound; a silent 200, a lost trial
    and a request that was sent whole and got no status are unknown."""
    unsent = failed("u", turns=(turn(None, attempts=(attempt(http_status=None),)),), cost="0")
    unheard = failed("h", turns=(turn(None, attempts=(attempt(http_status=None, upload_ns=MS),)),))
    overloaded = failed("o", cost="0", turns=(turn(None, attempts=(attempt(http_status=529),)),))
    broken = failed("b", cost="0.01", turns=(turn("0.01", usage=Usage(input=10, output=1, exact=False)),))
    silent = failed("s", cost=None, turns=(turn(None),))
    found = [money(charges(r), "USD") for r in (overloaded, unsent, broken, silent, unheard, failed("lost", "lost"))]
    assert [(m.amount, m.at_least, m.unknown) for m in found] == [
        ("0", False, 0), ("0", False, 0), ("0.01", True, 0), (None, False, 1), (None, False, 1), (None, False, 1),
    ]  # fmt: skip


def test_a_trial_ended_from_outside_is_unknown_beside_its_known_turns() -> None:
    """A turn in flight when the run was stopped left no usage: what the earlier turns cost is kept, one is unknown."""
    found = money(charges(failed("c", "cancelled", cost=None, turns=(turn("0.02", usage=USED),))), "USD")
    assert (found.amount, found.unknown) == ("0.02", 1)


def test_a_resumed_run_counts_finished_records_once(tmp_path: Path) -> None:
    """F9: ten records finished before a resume are charged once; nothing is asked or charged for what was not run."""
    records = [priced(f"t{i}", "0.01") for i in range(10)] + [record("n", outcome="not_run", reason="stopped")]
    found = bill(read_run(tmp_path, [*records, priced("n", "0.01", try_no=2)])).total
    assert (found.amount, found.unknown) == ("0.11", 0)
