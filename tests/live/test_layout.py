"""The view of a run as text: what is on it, what drops out where there is no room, and that nothing wraps."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from records import MS, S, failed, record, turn
from rich.cells import cell_len

from loadrig.live.ahead import Ahead, StageAhead
from loadrig.live.layout import Screen, screen
from loadrig.live.tally import Tally
from loadrig.words.record import Record, Usage
from loadrig.words.trial import Pulse, RunInfo

USAGE = Usage(input=100, output=200)
STAGES = (StageAhead("c2", 40, None, is_open=False), StageAhead("c4", 60, None, is_open=False))


def ended(arm: str, **given: Any) -> Record:
    return record("t1", **{"arm": arm, "turns": (turn(ttft_ns=64 * MS),), "usage": USAGE, "cost": "0.01", **given})


def running(arms: tuple[str, ...] = ("control", "rag-bm25-k5"), plan: str = "quick") -> Tally:
    """A run of two stages, ten seconds into its first: ten trials an arm, and one of the first that failed."""
    tally = Tally()
    lanes = frozenset((arm, "m", "measured") for arm in arms)
    tally.expect(Ahead(lanes, STAGES, is_steered=False, currency="USD"))
    tally.start(RunInfo("r1", plan, "0.1.0", planned=100, currency="USD", simulated=True), 0)
    tally.pulse(Pulse("c2", 2, 2, 1, 0, 0.3, client_bound=False), 0)
    for second in range(1, 11):
        for arm in arms:
            tally.add(ended(arm), second * S)
    tally.add(failed("f", arm=arms[0]), 10 * S)
    return tally


def shown(tally: Tally, width: int = 80, height: int = 24) -> list[str]:
    lines = screen(tally, "running", elapsed_s=12, now_ns=10 * S, room=Screen(width, height))
    return ["".join(text for text, _ in line) for line in lines]


def test_a_screen_of_80_columns() -> None:
    """What runs and how long still, what became of the trials, each arm now, and how it went until now."""
    assert shown(running()) == [
        "quick (simulated)  stage c2 (1 of 2)  0:12  about 0:38 left  of this stage 0:09",
        "[==           ]  21/100 done  2/2 in flight  failed 1 (timeout 1)",
        "                         last 10 s",
        "arm          done  fail  TTFT p50      p95  latency p50      p95  tok/s    cost",
        "control        11     1     64 ms    64 ms       1.00 s   1.00 s    200  0.1000",
        "rag-bm25-k5    10     0     64 ms    64 ms       1.00 s   1.00 s    200  0.1000",
        "trials/s  ▁█████████  1.8, most 2.0",
        "TTFT p95   ██████████  64 ms, most 64 ms",
        "cost USD 0.2000  400 output tokens/s",
    ]


def test_a_wide_screen_shows_the_stage_so_far_and_how_many() -> None:
    """At 160 columns nothing drops out: samples of the last ten seconds, the stage's latencies, tokens a second."""
    header = next(line for line in shown(running(), width=160) if line.startswith("arm"))
    figures = "TTFT p50 p95 n latency p50 p95 n TTFT p50 p95 latency p50 p95"
    assert " ".join(header.split()) == f"arm done fail {figures} tok/s cost"


def test_columns_drop_out_by_importance() -> None:
    """What narrower and narrower screens still show: first what is done and fails, then first tokens, then latency."""
    kept = {
        width: next(line for line in shown(running(), width=width) if line.startswith("arm")).split()[1:]
        for width in (30, 50, 64, 90)
    }
    assert kept == {
        30: ["done", "fail"],
        50: ["done", "fail", "TTFT", "p50", "p95"],
        64: ["done", "fail", "TTFT", "p50", "p95", "latency", "p50", "p95"],
        90: ["done", "fail", "TTFT", "p50", "p95", "latency", "p50", "p95", "tok/s", "cost"],
    }


def test_arms_drop_out_at_the_end_of_the_table_and_it_is_said() -> None:
    """Thirty arms on 24 lines: the screen is not longer than that, and says how many more there are."""
    lines = shown(running(tuple(f"arm-{number:02}" for number in range(30))))
    assert len(lines) <= 23
    assert sum(line.startswith("arm-") for line in lines) == 15
    assert "and 15 more" in lines


@given(
    st.integers(20, 220), st.integers(6, 60), st.text(max_size=40),
    st.lists(st.text(max_size=30), min_size=1, max_size=5),
)  # fmt: skip
def test_nothing_is_wider_than_the_screen(width: int, height: int, plan: str, arms: list[str]) -> None:
    """Whatever plan and arms are called: no line wraps, no letter steers the terminal, the screen does not scroll."""
    lines = shown(running(tuple(arms), plan), width, height)
    assert max(map(cell_len, lines)) <= width
    assert all(letter.isprintable() for line in lines for letter in line)
    assert len(lines) < height or len(lines) <= 6


def test_before_the_run_there_is_one_line() -> None:
    """What goes on, and since when."""
    lines = screen(Tally(), "building\x1b[2J", elapsed_s=3, now_ns=0, room=Screen(80, 24))
    assert ["".join(text for text, _ in line) for line in lines] == ["loadrig  building?[2J  0:03"]


def test_a_client_bound_stage_is_marked_over_its_latencies() -> None:
    """The mark stands on the same screen as the figures that are partly the rig's own."""
    tally = running()
    tally.pulse(Pulse("c2", 2, 2, 1, 0, 0.9, client_bound=True, bound_by=("worker w1: CPU 97 %",)), 10 * S)
    assert shown(tally)[2] == "CLIENT-BOUND (worker w1: CPU 97 %)"


def test_a_stage_of_stated_length_ends_by_the_clock() -> None:
    """Of 30 s ten are over: 20 s are left of it, and with the 30 s of the next stage 50 s in all."""
    tally = Tally()
    stages = tuple(StageAhead(name, 500, 30.0, is_open=True) for name in ("r1", "r2"))
    tally.expect(Ahead(frozenset(), stages, is_steered=False, currency="USD"))
    tally.start(RunInfo("r1", "quick", "0.1.0", planned=1000, currency="USD", simulated=False), 0)
    tally.pulse(Pulse("r1", 2, None, 1, 0, 0.3, client_bound=False, rate_per_s=2.0), 0)
    assert (tally.stage_left_s(10 * S), tally.left_s(10 * S)) == (20, 50)
    assert shown(tally)[0] == "quick  stage r1 (1 of 2)  0:12  about 0:50 left  of this stage 0:20"


def test_a_run_that_chooses_its_stages_does_not_foresee_its_end() -> None:
    """What may come at most says nothing of how long it takes."""
    tally = Tally()
    tally.expect(Ahead(frozenset(), STAGES, is_steered=True, currency="USD"))
    tally.start(RunInfo("r1", "quick", "0.1.0", planned=100, currency="USD", simulated=False), 0)
    tally.pulse(Pulse("c2", 2, 2, 1, 0, 0.3, client_bound=False), 0)
    for second in range(1, 11):
        tally.add(ended("rag"), second * S)
    assert (tally.left_s(10 * S), tally.stage_left_s(10 * S), tally.stage_place()) == (None, 30, None)
