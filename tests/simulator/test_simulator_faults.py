"""Each fault as it looks from the client's side and in the truth log."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import FAST, asking, running

from loadrig.simulator.draws import draw
from loadrig.simulator.faults import choose
from loadrig.simulator.scenario import Scenario


@pytest.mark.parametrize(
    ("key", "status", "kind"),
    [("rate_429", 429, "rate_limit_error"), ("rate_529", 529, "overloaded_error"), ("rate_500", 500, "api_error")],
)
def test_a_request_turned_away_has_the_error_of_its_status(tmp_path: Path, key: str, status: int, kind: str) -> None:
    """Status, error type and, for 429 alone, retry-after; the row names the fault."""
    with running(FAST + f"{key} = 1.0\nretry_after_s = 3\n", tmp_path) as simulator:
        reply = simulator.post(asking("x?"))
        (row,) = simulator.stop()
    assert (reply.status, reply.json()["error"]["type"]) == (status, kind)
    assert reply.headers.get("retry-after") == ("3" if status == 429 else None)
    assert (row["status"], row["fault"], row["events"]) == (status, key, 0)


def test_an_error_event_ends_a_stream_that_began_well(tmp_path: Path) -> None:
    """Status 200, some text, then an error event and nothing after it."""
    with running(FAST + "rate_error_event = 1.0\nfixed_answer_tokens = 30\n", tmp_path) as simulator:
        reply = simulator.post(asking("x?"))
        (row,) = simulator.stop()
    assert (reply.status, reply.kinds[0], reply.kinds[-1]) == (200, "message_start", "error")
    assert reply.events[-1]["error"]["type"] == "overloaded_error"
    assert not reply.broken
    assert (row["stop_reason"], row["output"]) == (None, reply.kinds.count("content_block_delta"))


def test_a_cut_stream_breaks_the_body(tmp_path: Path) -> None:
    """The connection closes inside the chunked body, and the client is not blamed for it."""
    with running(FAST + "rate_cut = 1.0\n", tmp_path) as simulator:
        reply = simulator.post(asking("x?"))
        (row,) = simulator.stop()
    assert reply.broken
    assert "message_stop" not in reply.kinds
    assert (row["fault"], row["disconnected"]) == ("rate_cut", False)


def test_a_stream_can_end_in_good_order_too_early(tmp_path: Path) -> None:
    """The body is whole HTTP and lacks message_delta and message_stop."""
    with running(FAST + "rate_early_end = 1.0\n", tmp_path) as simulator:
        reply = simulator.post(asking("x?"))
        (row,) = simulator.stop()
    assert not reply.broken
    assert reply.kinds[-1] == "content_block_delta"
    assert (row["stop_reason"], row["disconnected"]) == (None, False)


def test_a_stall_holds_up_the_rest_of_the_stream(tmp_path: Path) -> None:
    """With a stall of 300 ms the last event leaves at least that long after the first, and the reply is whole."""
    with running(FAST + "rate_stall = 1.0\nstall_ms = 300.0\n", tmp_path) as simulator:
        reply = simulator.post(asking("x?"))
        (row,) = simulator.stop()
    assert reply.kinds[-1] == "message_stop"
    assert row["end_ns"] - row["first_event_ns"] >= 300_000_000


def test_a_refusal_is_a_whole_reply_without_content(tmp_path: Path) -> None:
    """Status 200, no block, stop reason refusal."""
    with running(FAST + "refuse_share = 1.0\n", tmp_path) as simulator:
        reply = simulator.post(asking("x?"))
    assert reply.kinds == ["message_start", "message_delta", "message_stop"]
    assert reply.events[1]["delta"]["stop_reason"] == "refusal"


def test_faults_come_at_their_rates() -> None:
    """Of 4,000 draws about a tenth is each of two faults (within 4 standard errors) and the rest none."""
    scenario = Scenario(rate_429=0.1, rate_cut=0.1)
    drawn = [choose(scenario, draw(0, f"t{number}.1.1", "fault")) for number in range(4000)]
    kinds = [fault.kind for fault in drawn if fault is not None]
    assert set(kinds) == {"rate_429", "rate_cut"}
    assert all(324 <= kinds.count(kind) <= 476 for kind in set(kinds))


def test_a_retry_draws_anew() -> None:
    """Among 40 trials whose first try meets a fault of rate one half, some second try does not."""
    scenario = Scenario(rate_529=0.5)
    tries = [
        [choose(scenario, draw(0, f"t{number}.1.{attempt}", "fault")) for attempt in (1, 2)] for number in range(40)
    ]
    assert any(first is not None and second is None for first, second in tries)
