"""Objectives as written, and verdicts by counting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.objectives import Verdict, enough, objective, of_quantile, of_share, together, written
from loadrig.words.errors import InputError
from loadrig.words.settings import Objective


@pytest.mark.parametrize(
    ("name", "limit", "measure", "q", "value"),
    [
        ("ttft_p95", "2s", "ttft", 0.95, 2e9),
        ("latency_p99", "800 ms", "service", 0.99, 8e8),
        ("scheduled_p50", 1.5, "scheduled", 0.5, 1.5e9),
        ("tpot_p90", "0.5m", "tpot", 0.9, 3e10),
        ("error_share", "1%", "errors", None, 0.01),
        ("error_share", 0.02, "errors", None, 0.02),
    ],
)
def test_an_objective_is_a_name_and_a_limit(
    name: str, limit: object, measure: str, q: float | None, value: float
) -> None:
    """Durations come to nanoseconds, shares to shares of 1; in one piece it is the same."""
    expected = Objective(name=name, measure=measure, q=q, limit=value)
    assert objective(name, limit) == expected
    assert written(f"{name} < {limit}") == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ttft_p95", "has no <"), ("tfft_p95<2s", "unknown objective 'tfft_p95'"), ("ttft_p00<2s", "unknown"),
        ("ttft_p95<2", None), ("ttft_p95<2h", "'2h' is no duration"), ("ttft_p95<0s", "no duration"),
        ("error_share<100%", "no share"), ("error_share<2s", "no share"), ("error_share<0", "no share"),
    ],
)  # fmt: skip
def test_what_is_no_objective_is_refused_with_a_remedy(text: str, said: str | None) -> None:
    """A bare number is seconds; anything else wrong is named."""
    if said is None:
        assert written(text).limit == 2e9
        return
    with pytest.raises(InputError, match=said) as error:
        written(text)
    assert "such as" in error.value.remedy or "one of" in error.value.remedy


@pytest.mark.parametrize(
    ("within", "n", "verdict"),
    [(100, 100, "kept"), (99, 100, "undecided"), (90, 100, "undecided"), (89, 100, "broken")],
)
def test_a_p95_is_judged_by_how_many_lie_within(within: int, n: int, verdict: Verdict) -> None:
    """Of 100 the ranks that bound a p95 are 90 and 100: kept with all within, broken with fewer than 90."""
    assert of_quantile(0.95, within, n) == verdict


def test_a_small_sample_decides_nothing_well() -> None:
    """71 of 71 do not bound a p95 from above, 72 of 72 do; no trial decides nothing."""
    assert [of_quantile(0.95, n, n) for n in (71, 72)] == ["undecided", "kept"]
    assert (of_quantile(0.95, 0, 0), of_share(0.01, 0, 0)) == ("undecided", "undecided")


@pytest.mark.parametrize(("k", "n", "verdict"), [(0, 381, "kept"), (0, 380, "undecided"), (2, 100, "undecided"),
                                                 (3, 100, "broken")])  # fmt: skip
def test_a_share_is_judged_by_its_wilson_interval(k: int, n: int, verdict: Verdict) -> None:
    """Of no failures Wilson's upper end is 3.8415 / (n + 3.8415): below 1 % from 381 on. 3 of 100: 1.03 % to 8.5 %."""
    assert of_share(0.01, k, n) == verdict


@given(st.integers(1, 400), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_more_within_is_never_worse(n: int, q: float) -> None:
    """From 0 to n within the limit the verdict goes broken, undecided, kept, and never back."""
    order = {"broken": 0, "undecided": 1, "kept": 2}
    found = [order[of_quantile(q, within, n)] for within in range(n + 1)]
    assert found == sorted(found)


def test_enough_trials_decide_a_clean_stage() -> None:
    """72 for a p95, 381 for 1 % of errors; the largest of several; none for none."""
    p95, errors = objective("ttft_p95", "1s"), objective("error_share", "1%")
    assert (enough([p95]), enough([errors]), enough([p95, errors]), enough([])) == (72, 381, 381, 0)


def test_one_broken_objective_breaks_a_load() -> None:
    """And one that is open leaves it open; without any there is no verdict to give."""
    assert together(["kept", "undecided", "broken"]) == "broken"
    assert together(["kept", "undecided"]) == "undecided"
    assert (together(["kept", "kept"]), together([])) == ("kept", "undecided")
