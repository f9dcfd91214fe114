"""The one rule of when a stage is client-bound."""

from __future__ import annotations

import pytest

from loadrig.bound import Cause, any_bound, causes, is_bound, lag_limit_ns

MS = 1_000_000


@pytest.mark.parametrize(
    ("process", "lag_ms", "cpu", "ttft_ms", "over"),
    [
        ("w1", 5.0, 0.85, 100, []),
        ("w1", 5.1, 0.10, 100, ["lag_p99_ns"]),
        ("w1", 50.0, 0.10, 1000, []),
        ("w1", 50.1, 0.10, 1000, ["lag_p99_ns"]),
        ("w1", 5.1, None, None, ["lag_p99_ns"]),
        ("w1", 1.0, 0.86, 100, ["cpu_share_max"]),
        ("simulator", 9.0, 0.99, 100, ["lag_p99_ns", "cpu_share_max"]),
        ("driver", 99.0, 0.10, 100, []),
        ("driver", 101.0, 0.10, 100, ["lag_p99_ns"]),
        ("w1", None, None, 100, []),
    ],
)
def test_what_is_over_a_limit(
    process: str, lag_ms: float | None, cpu: float | None, ttft_ms: int | None, over: list[str]
) -> None:
    """Lag p99 > max(5 ms, 5 % of TTFT p50), CPU > 85 %; the driver's lag from 100 ms on; no sample is no cause."""
    found = causes(
        process,
        lag_p99_ns=None if lag_ms is None else round(lag_ms * MS),
        cpu_share_max=cpu,
        ttft_p50_ns=None if ttft_ms is None else ttft_ms * MS,
    )
    assert [cause.measure for cause in found] == over


def test_a_cause_says_which_process_which_measure_its_value_and_its_limit() -> None:
    """In words: worker w2, the simulator, the driver."""
    assert str(Cause("w2", "lag_p99_ns", 12.34 * MS, 5 * MS)) == "worker w2: loop lag p99 12.3 ms (limit 5.0 ms)"
    assert str(Cause("simulator", "cpu_share_max", 0.97, 0.85)) == "simulator: CPU 97% of a core (limit 85%)"
    assert str(Cause("driver", "cpu_share_max", 0.9, 0.85)) == "driver: CPU 90% of a core (limit 85%)"


def test_the_limit_follows_the_first_token_time() -> None:
    """5 ms up to a TTFT of 100 ms, then 5 % of it; also of a second simulator."""
    assert [lag_limit_ns("simulator-2", ttft * MS) for ttft in (20, 100, 400)] == [5 * MS, 5 * MS, 20 * MS]


def test_what_was_not_sampled_is_not_judged() -> None:
    """Without samples None, never False, unless something speaks against it; one open verdict leaves a stage open."""
    cause = Cause("w1", "cpu_share_max", 0.9, 0.85)
    assert [is_bound([], None), is_bound([], 1), is_bound([cause], None)] == [None, False, True]
    assert [any_bound(found) for found in ([], [None, False], [False, False], [None, True])] == [
        None, None, False, True,
    ]  # fmt: skip
