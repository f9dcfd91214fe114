"""Effective length, and refusals by size of context."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from records import question, read_run, record, turn

from loadrig.analysis.contexts import looked_at
from loadrig.analysis.experiments.cells import cells
from loadrig.analysis.lengths import ABSOLUTE, Lengths, effective_length, lengths, rate, size_of
from loadrig.words.record import Failure, Record, Usage

K = 1000
SHORT_TO_LONG = (1 * K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K)


@pytest.mark.parametrize(
    ("base", "scores", "effective"),
    [
        (99.3, (98.1, 98.0, 95.7, 89.2, 81.6, 69.7), 8 * K),  # GPT-4o
        (87.6, (85.4, 84.0, 77.6, 61.7, 45.7, 29.8), 4 * K),  # Claude 3.5 Sonnet
        (97.3, (94.2, 87.4, 81.5, 72.1, 59.5, 42.7), 2 * K),  # Llama 3.3 70B
        (84.9, (67.7,), None),  # GPT-4o mini: below 1k
    ],
)
def test_nolimas_published_rows(base: float, scores: tuple[float, ...], effective: int | None) -> None:
    """B-18, B-25: the longest length with 0.85 x base, from the scores that NoLiMa published."""
    found = effective_length(dict(zip(SHORT_TO_LONG, scores, strict=False)), base=base)
    assert found is not None
    assert found.length == effective
    assert found.threshold == pytest.approx(0.85 * base)


def test_the_base_is_of_the_short_contexts() -> None:
    """Mean of 250, 500 and 1,000 tokens: .90, so .765; without any, the shortest."""
    found = effective_length({250: 1.0, 500: 0.9, 1000: 0.8, 4000: 0.76})
    assert found is not None
    assert (found.base, found.length) == (pytest.approx(0.9), 1000)
    longer = effective_length({8000: 0.8, 16000: 0.68, 32000: 0.67})
    assert longer is not None
    assert (longer.base, longer.length) == (0.8, 16000)


def test_a_threshold_of_its_own_is_rulers_rule() -> None:
    """.856 is enough, .855 is not."""
    found = effective_length({4000: 0.95, 8000: 0.856, 16000: 0.855}, threshold=ABSOLUTE)
    assert found is not None
    assert found.length == 8000


def test_a_shorter_length_that_fails_is_named() -> None:
    """The longest counts, the dip before it is told."""
    found = effective_length({1000: 1.0, 2000: 0.5, 4000: 0.9})
    assert found is not None
    assert (found.length, found.dips) == (4000, (2000,))
    assert effective_length({}) is None


def test_a_length_behind_the_longest_is_no_dip() -> None:
    """2,000 fails before 4,000, 8,000 after it."""
    found = effective_length({1000: 1.0, 2000: 0.5, 4000: 0.9, 8000: 0.1})
    assert found is not None
    assert (found.length, found.dips) == (4000, (2000,))


def test_a_share_where_nothing_varies_is_bounded_by_its_questions() -> None:
    """0 of 40 trials of 20 questions: Wilson's upper bound of 0/20, .1611."""
    found = rate({f"q{n}": [False, False] for n in range(20)})
    assert found is not None
    assert (found.k, found.trials, found.n, found.share, found.low) == (0, 40, 20, 0.0, 0.0)
    assert found.high == pytest.approx(0.1611, abs=5e-5)


def test_a_size_is_the_power_of_two_above_the_last_prompt() -> None:
    """2,000 tokens are up to 2,000, 2,001 up to 4,000; of several turns the last."""
    sizes = [size_of(record("t", turns=(prompt(900), prompt(tokens)))) for tokens in (1, 1000, 2000, 2001)]
    assert sizes == [1000, 1000, 2000, 4000]
    assert size_of(record("t")) is None


def prompt(tokens: int) -> Any:
    return turn(usage=Usage(input=tokens))


def refusing(arm: str, refused: int, **given: Any) -> list[Record]:
    """Forty questions, so many of them refused."""
    ends: Mapping[bool, dict[str, Any]] = {
        True: {"outcome": "unanswered", "reason": "refused", "answer": ""},
        False: {"answer": "yes"},
    }
    return [record(f"{arm}-{n}", arm=arm, question=f"q{n}", **ends[n < refused], **given) for n in range(40)]


def found(folder: Path, records: list[Record], plan: dict[str, Any]) -> Lengths:
    run = read_run(folder, records, plan=plan, questions=[question(f"q{n}", gold=("d1",)) for n in range(40)])
    (one,) = lengths(cells(run), looked_at(run, {}))
    return one


def placed_plan(*sizes: int) -> dict[str, Any]:
    kind = "loadrig.arms.placed:PlacedGold"
    return {
        "name": "p",
        "arms": [{"name": f"p{n}", "kind": kind, "length": n, "band": "40-60%", "seed": 7} for n in sizes],
    }


def test_refusals_by_length_and_their_rise(tmp_path: Path) -> None:
    """B-12: 2 of 40 at 8,000 tokens, 20 of 40 at 64,000: the same questions, eighteen more."""
    records = refusing("p8000", 2, context_tokens=7900) + refusing("p64000", 20, context_tokens=63_000)
    one = found(tmp_path, records, placed_plan(8000, 64000))
    assert [(at.size, at.refused.k, at.refused.trials) for at in one.sizes] == [(8000, 2, 40), (64000, 20, 40)]
    refused, declined = one.rises
    assert (refused.what, refused.a, refused.b, refused.n) == ("refused", 0.05, 0.5, 40)
    assert refused.found
    assert (declined.b, declined.found) == (0.5, True)


def test_as_many_refusals_are_no_rise(tmp_path: Path) -> None:
    """Three of forty at either length: nothing is claimed."""
    records = refusing("p8000", 3, context_tokens=7900) + refusing("p64000", 3, context_tokens=63_000)
    assert not any(rise.found for rise in found(tmp_path, records, placed_plan(8000, 64000)).rises)


def test_refusals_that_fall_do_not_rise(tmp_path: Path) -> None:
    """Twenty of forty at 8,000 tokens, two at 64,000: beyond noise, and the other way round."""
    records = refusing("p8000", 20, context_tokens=7900) + refusing("p64000", 2, context_tokens=63_000)
    rises = found(tmp_path, records, placed_plan(8000, 64000)).rises
    assert [(rise.what, rise.a, rise.b, rise.found) for rise in rises] == [
        ("refused", 0.5, 0.05, False), ("declined", 0.5, 0.05, False),
    ]  # fmt: skip


def test_two_rises_are_two_tests(tmp_path: Path) -> None:
    """Who refuses declines too: the same numbers, so one p, and Holm doubles it."""
    records = refusing("p8000", 2, context_tokens=7900) + refusing("p64000", 8, context_tokens=63_000)
    refused, declined = found(tmp_path, records, placed_plan(8000, 64000)).rises
    assert (refused.p, refused.adjusted_p) == pytest.approx((declined.p, 2 * refused.p))
    assert 0 < refused.p < 0.5


def test_only_the_models_refusal_is_one(tmp_path: Path) -> None:
    """An answer that never came refuses nothing; what could not be placed, and a trap that failed, have no size."""
    empty = {"outcome": "unanswered", "reason": "empty", "answer": "", "context_tokens": 8000}
    gone = {"outcome": "failed", "answer": ""}
    records = [
        *refusing("p8000", 3, context_tokens=8000)[:10], record("e", arm="p8000", question="q10", **empty),
        record("n", arm="p8000", question="q11", reason="not_placed", failure=Failure("not_placed", "x"), **gone),
        record("f", arm="p8000", question="trap", reason="timeout", failure=Failure("timeout", "x"), **gone),
        *refusing("p64000", 0, context_tokens=64_000),
    ]  # fmt: skip
    asked = [*(question(f"q{n}", gold=("d1",)) for n in range(40)), question("trap")]
    run = read_run(tmp_path, records, plan=placed_plan(8000, 64000), questions=asked)
    (one,) = lengths(cells(run), looked_at(run, {}))
    assert (one.sizes[0].refused.k, one.sizes[0].refused.trials) == (3, 11)


def test_other_arms_are_by_their_prompts(tmp_path: Path) -> None:
    """What was paid for says how large it was; they may decline rightly, so only refusals are tested."""
    records = refusing("rag", 0, turns=(prompt(1500),)) + refusing("full", 30, turns=(prompt(12_000),))
    plan = {"name": "p", "arms": [{"name": "rag", "kind": "r"}, {"name": "full", "kind": "f"}]}
    one = found(tmp_path, records, plan)
    assert [(at.size, at.refused.k) for at in one.sizes] == [(2000, 0), (16_000, 30)]
    assert [(rise.what, rise.found) for rise in one.rises] == [("refused", True)]
    assert one.effective is None


def test_the_effective_length_of_a_run_is_over_what_was_placed(tmp_path: Path) -> None:
    """40 of 40 at 8,000, 35 (.875) at 16,000, 20 at 32,000: 16,000 keeps .85; surely does 8,000 alone."""
    records = [
        one
        for size, wrong in ((8000, 0), (16000, 5), (32000, 20))
        for one in refusing(f"p{size}", wrong, context_tokens=size)
    ]
    one = found(tmp_path, records, placed_plan(8000, 16000, 32000))
    assert one.effective is not None
    assert (one.effective.base, one.effective.length, one.effective.sure) == (1.0, 16000, 8000)


def test_a_context_that_fell_short_is_in_no_length(tmp_path: Path) -> None:
    """A trap over a small corpus has fewer tokens before it than the arm was told."""
    records = refusing("p8000", 0, context_tokens=8000) + refusing("p64000", 0, context_tokens=9000)
    run = read_run(tmp_path, records, plan=placed_plan(8000, 64000))
    assert lengths(cells(run), looked_at(run, {})) == ()


def test_a_trap_that_is_declined_is_declined_rightly(tmp_path: Path) -> None:
    """Of two declined answers the one counts whose documents answer it."""
    plan = placed_plan(8000, 64000)
    records = [
        record(
            f"p{size}-{name}", arm=f"p{size}", question=name, answer="The documents do not say.", context_tokens=size
        )
        for size in (8000, 64000)
        for name in ("q0", "trap")
    ]
    run = read_run(tmp_path, records, plan=plan, questions=[question("q0", gold=("d1",)), question("trap")])
    (one,) = lengths(cells(run), looked_at(run, {}))
    assert [(at.refused.trials, at.declined and at.declined.trials) for at in one.sizes] == [(2, 1), (2, 1)]
