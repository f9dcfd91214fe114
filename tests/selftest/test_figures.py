"""Figures of the self-test, from literal stamps."""

from __future__ import annotations

import pytest
from records import attempt, record, turn

from loadrig.selftest.figures import fit, level
from loadrig.selftest.null import Schedule
from loadrig.selftest.rig import Window, timed

MS = 1_000_000


def row(received: int, first: int, last: int) -> dict[str, int]:
    return {"received_ns": received, "first_token_ns": first, "last_token_ns": last, "end_ns": last, "late_ns": 7}


def test_an_error_is_the_rigs_interval_less_the_targets() -> None:
    """The rig saw 203 ms and 1,010 ms, the target 200 and 1,000, on a clock of its own: 3 ms and 10 ms."""
    window = Window(seconds=1, cpu_s=0.1, replies=[("a.1.1", 5 * MS, 208 * MS, 1015 * MS)])
    found = level(window, Schedule(100, 200, 10), 1, {"a.1.1": row(9000 * MS, 9200 * MS, 10_000 * MS)})
    assert (found.ttft_error.p50_ns, found.e2e_error.p99_ns, found.ttft_error.n) == (3 * MS, 10 * MS, 1)
    assert found.target_late.max_ns == 7


def test_connecting_is_in_no_error_of_the_rigs() -> None:
    """Begun at 100, 30 to connect and 20 for TLS: the reply counts from 150, and is the second attempt's."""
    last = attempt(begin_ns=100, connect_ns=30, tls_ns=20, first_token_ns=400, end_ns=900)
    assert timed(record("t7", turns=(turn(attempts=(attempt(), last)),))) == ("t7.1.2", 150, 400, 900)
    warm = attempt(begin_ns=100, first_token_ns=None, end_ns=900)
    assert timed(record("t8", turns=(turn(attempts=(warm,)),))) == ("t8.1.1", 100, None, 900)


def test_a_paced_event_costs_its_share_of_the_schedule_not_of_what_happened_to_end() -> None:
    """119 streams of 106 events each 1.19 s are 10,600 events a second; 0.106 of a core is 10 us each, although no
    reply ended in the window."""
    found = level(Window(seconds=2, cpu_s=0.212), Schedule(100, 200, 10), 119, {})
    assert found.us_per_event == pytest.approx(10)
    assert found.replies_per_s == 0


def test_a_client_that_falls_behind_is_charged_for_what_it_read() -> None:
    """Of 100 replies a second one ended in the second: a full core for 106 events, not for 10,600."""
    window = Window(seconds=1, cpu_s=1, replies=[("a", 0, 1, 2)])
    assert level(window, Schedule(100, 200, 10), 119, {}).us_per_event == pytest.approx(1e6 / 106)


def test_without_delay_an_event_costs_cpu_over_events_that_came() -> None:
    """Two replies of 16 events in a second at half a core: 250,000 us a reply."""
    window = Window(seconds=1, cpu_s=0.5, replies=[("a", 0, 1, 2), ("b", 0, 1, 2)])
    found = level(window, Schedule(10), 32, {})
    assert (found.us_per_reply, found.us_per_event, found.events_per_s) == (250_000, 15_625, 32)


def test_the_fit_finds_fixed_and_marginal_cost() -> None:
    """50 us a request and 0.9 us an event, from replies of 16, 106 and 1,006 events."""
    found = fit([(events, 50 + 0.9 * events) for events in (16, 106, 1006)])
    assert (found.fixed_us, found.marginal_us) == (pytest.approx(50), pytest.approx(0.9))
