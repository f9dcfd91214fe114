"""From a figure to the trial whose value it is."""

from __future__ import annotations

from records import MS, failed, record

from loadrig.analysis.tracing import trial_at
from loadrig.stats import quantile


def test_a_quantile_is_the_value_of_the_trial_that_is_named() -> None:
    """Of 1 to 40 ms the median is that of the twentieth, 95 % that of the thirty-eighth; failures stand nowhere."""
    trials = [record(f"t{ms}", service_ns=ms * MS) for ms in range(1, 41)]
    assert trial_at([*trials, failed("f")], "service", 0.5, 0.95) == ("t20", "t38")
    values = [ms * MS for ms in range(1, 41)]
    assert [found.value_ns for q in (0.5, 0.95) if (found := quantile(values, q))] == [20 * MS, 38 * MS]


def test_nothing_stands_at_a_quantile_of_nothing() -> None:
    """All failed: no trial has that time."""
    assert trial_at([failed("f")], "service", 0.5) == (None,)
