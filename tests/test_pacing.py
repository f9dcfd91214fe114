"""Due times: fixed beforehand from a seed, and exact however many there are."""

from __future__ import annotations

import statistics
from fractions import Fraction
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.pacing import Arrivals, Pace, Schedule, counting, lasting, replayed

S = 1_000_000_000
rates = st.integers(1, 10_000).map(lambda n: n / 100)  # 0.01 to 100 a second
kinds = st.sampled_from(["constant", "poisson"])
ramps = st.integers(0, 30).map(float)


def pace(rate: float, arrivals: Arrivals = "constant", ramp_s: float = 0.0, seed: str = "7") -> Pace:
    return Pace(rate, arrivals, seed, ramp_s)


def test_constant_arrivals_are_evenly_spaced() -> None:
    """Four a second: 0, 250, 500 and 750 ms, and the second is over when the next would be due."""
    assert counting(pace(4), 4, warmup=0) == Schedule((0, S // 4, S // 2, 3 * S // 4), 0, S)


@given(rate=rates, k=st.integers(0, 10**9))
def test_the_kth_constant_arrival_never_drifts(rate: float, k: int) -> None:
    """At any rate the k-th is due k / rate after the begin, to the nanosecond, though k be a billion."""
    assert pace(rate).at_ns(k * S) == int(Fraction(k * S) / Fraction(str(rate)))


@given(rate=rates, arrivals=kinds, ramp_s=ramps, seed=st.text(max_size=3))
def test_due_times_rise_and_are_the_same_for_the_same_seed(
    rate: float, arrivals: Arrivals, ramp_s: float, seed: str
) -> None:
    """Sorted whole nanoseconds from 0 on; made twice they are the same."""
    first, second = (list(islice(pace(rate, arrivals, ramp_s, seed).due_ns(), 200)) for _ in range(2))
    assert first == second
    assert all(earlier <= later for earlier, later in pairwise([0, *first]))


@given(rate=rates, seconds=st.integers(1, 20), warmup=st.integers(0, 9), ramp_s=ramps)
def test_a_duration_holds_rate_times_duration_constant_arrivals(
    rate: float, seconds: int, warmup: int, ramp_s: float
) -> None:
    """Behind ramp and warm-up, to within one; the warm-up is extra: what was asked for, and the ramp's share."""
    schedule = lasting(pace(rate, ramp_s=ramp_s), float(seconds), warmup=warmup)
    assert abs(len(schedule.due_ns) - schedule.warmup - rate * seconds) <= 1
    assert abs(schedule.warmup - warmup - rate * ramp_s / 2) <= 1
    assert schedule.measured_s == seconds


@given(rate=rates, arrivals=kinds, number=st.integers(1, 300), warmup=st.integers(0, 9), ramp_s=ramps)
def test_a_count_is_kept_and_the_stage_ends_after_the_last(
    rate: float, arrivals: Arrivals, number: int, warmup: int, ramp_s: float
) -> None:
    """So many measured arrivals, whatever the pace; none is due at or after the end."""
    schedule = counting(pace(rate, arrivals, ramp_s), number, warmup=warmup)
    assert len(schedule.due_ns) - schedule.warmup == number
    assert schedule.due_ns[-1] <= schedule.length_ns


def test_poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() -> None:
    """20,000 gaps at 5 a second: mean 200 ms and standard deviation 200 ms, each within 2 %."""
    due = list(islice(pace(5, "poisson").due_ns(), 20_000))
    gaps_s = [(later - earlier) / S for earlier, later in pairwise([0, *due])]
    assert statistics.mean(gaps_s) == pytest.approx(0.2, rel=0.02)
    assert statistics.stdev(gaps_s) == pytest.approx(0.2, rel=0.02)


def test_poisson_counts_have_the_variance_of_their_mean() -> None:
    """In 2,000 windows of 2 s at 5 a second: mean 10, variance 10, within a tenth."""
    due = list(islice(pace(5, "poisson").due_ns(), 25_000))
    counts = [0] * 2_000
    for due_ns in due:
        if due_ns < 4_000 * S:
            counts[due_ns // (2 * S)] += 1
    assert statistics.mean(counts) == pytest.approx(10, rel=0.05)
    assert statistics.variance(counts) == pytest.approx(10, rel=0.1)


def test_another_seed_is_another_schedule() -> None:
    """Seeds 7 and 8 draw different gaps; a constant pace draws none."""
    assert lasting(pace(5, "poisson"), 10, warmup=0) != lasting(pace(5, "poisson", seed="8"), 10, warmup=0)
    assert lasting(pace(5), 10, warmup=0) == lasting(pace(5, seed="8"), 10, warmup=0)


def test_a_ramp_rises_in_a_straight_line() -> None:
    """Two a second after a ramp of 4 s: t^2 / 4 arrivals until 4 s (0, 2, 2.83, 3.46, 4), then one each half second."""
    due = list(islice(pace(2, ramp_s=4).due_ns(), 7))
    assert due == [0, 2 * S, 2_828_427_124, 3_464_101_615, 4 * S, 4 * S + S // 2, 5 * S]


@given(rate=rates, ramp_s=st.integers(1, 30), t=st.floats(0, 60))
def test_arrivals_follow_the_integral_of_the_rate(rate: float, ramp_s: int, t: float) -> None:
    """By any instant rate t^2 / (2 ramp), then rate (t - ramp / 2) arrivals: mapped to the clock and back."""
    arrived = rate * t * t / (2 * ramp_s) if t < ramp_s else rate * (t - ramp_s / 2)
    assert pace(rate, ramp_s=float(ramp_s)).at_ns(round(arrived * S)) / S == pytest.approx(t, abs=2e-3)


def test_constant_and_poisson_share_the_ramp() -> None:
    """Over many seeds the ramp's 4 s at 2 a second hold 4 arrivals on average, as the constant ones do."""
    found = [sum(due < 4 * S for due in islice(pace(2, "poisson", 4.0, str(n)).due_ns(), 40)) for n in range(2_000)]
    assert statistics.mean(found) == pytest.approx(4, rel=0.05)


def test_a_replay_keeps_the_times_it_is_given() -> None:
    """0, 0.1 and 2.5 s are due then; the stage ends a second after the last."""
    assert replayed((0.0, 0.1, 2.5)) == Schedule((0, S // 10, 5 * S // 2), 0, 7 * S // 2)
