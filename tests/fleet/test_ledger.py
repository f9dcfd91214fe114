"""The driver's book: exactly N in hand, plan order, every trial once, nothing lost with a worker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from loadrig.fleet.ledger import Ledger
from loadrig.pacing import Pace, counting
from loadrig.words.trial import Trial


def _trials(count: int) -> list[Trial]:
    return [Trial(f"t{n}", n, "a", "m", f"q{n}", "fact", 1, "c1", "measured") for n in range(count)]


def test_credits_sum_to_the_concurrency_as_evenly_as_they_can() -> None:
    """Seven in flight over three workers: 3, 2, 2."""
    ledger = Ledger(_trials(10), 7, ["a", "b", "c"])
    assert [ledger.credits(worker) for worker in "abc"] == [3, 2, 2]


def test_a_worker_without_credit_gets_no_trial() -> None:
    """One in flight over two workers: the second has nothing to do, and trials are not stranded there."""
    ledger = Ledger(_trials(3), 1, ["a", "b"])
    assert ledger.lease("b", rate_per_s=100) == ()


def test_leases_follow_the_plan_and_run_ahead_by_the_rate() -> None:
    """8 trials/s over a quarter second is two ahead, and one more: 4 credits + 3, in plan order."""
    ledger = Ledger(_trials(100), 4, ["a"])
    assert [trial.position for trial in ledger.lease("a", rate_per_s=8)] == list(range(7))
    assert ledger.lease("a", rate_per_s=8) == ()


def test_the_last_trials_are_leased_only_into_free_slots() -> None:
    """With N or fewer left nothing is leased ahead, so none waits at one worker while another has a slot free."""
    ledger = Ledger(_trials(4), 4, ["a", "b"])
    assert [trial.position for trial in ledger.lease("a", rate_per_s=1000)] == [0, 1]
    assert [trial.position for trial in ledger.lease("b", rate_per_s=1000)] == [2, 3]


def test_a_record_that_comes_twice_counts_once() -> None:
    """The second end of a trial is told apart from the first."""
    ledger = Ledger(_trials(2), 1, ["a"])
    ledger.lease("a", rate_per_s=0)
    assert [ledger.end("a", "t0"), ledger.end("a", "t0")] == [True, False]


def test_a_dead_workers_trials_are_named_and_its_credits_pass_on() -> None:
    """Of 4 credits over two workers the survivor gets all 4, and the two trials in hand come back by name."""
    ledger = Ledger(_trials(100), 4, ["a", "b"])
    ledger.lease("a", rate_per_s=0)
    held = ledger.lease("b", rate_per_s=0)
    assert ledger.lose("b") == held
    assert ledger.credits("a") == 4


def test_of_a_dead_worker_that_kept_count_only_what_it_had_begun_is_lost() -> None:
    """Four in hand of which it had begun one, the first leased: that is lost, the other three are leased again."""
    ledger = Ledger(_trials(100), 8, ["a", "b"])
    ledger.lease("a", rate_per_s=0)
    ledger.end("a", "t0")
    assert _positions(ledger.lose("a", begun=1)) == [1]
    assert _positions(ledger.lease("b", rate_per_s=0))[:4] == [2, 3, 4, 5]


def test_unbegun_trials_go_back_to_the_front_in_plan_order() -> None:
    """Trials handed back are the next to be leased."""
    ledger = Ledger(_trials(10), 2, ["a"])
    ledger.lease("a", rate_per_s=0)
    ledger.hand_back("a", ["t2", "t1"])
    assert [trial.id for trial in ledger.close()][:3] == ["t1", "t2", "t3"]


@given(
    count=st.integers(0, 60),
    concurrency=st.integers(1, 12),
    workers=st.integers(1, 4),
    steps=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["lease", "end", "lose", "back"])), max_size=80),
)
def test_whatever_happens_every_trial_is_in_exactly_one_place(
    count: int, concurrency: int, workers: int, steps: list[tuple[int, str]]
) -> None:
    """Unleased + in hand + ended + lost is the plan, after any history, and no trial is leased while in hand."""
    names = [f"w{n}" for n in range(workers)]
    ledger = Ledger(_trials(count), concurrency, names)
    held: dict[str, list[str]] = {name: [] for name in names}
    over: list[str] = []
    for number, step in steps:
        name = names[number % workers]
        if name not in ledger.workers or (step == "lose" and len(ledger.workers) == 1):
            continue
        if step == "lease":
            held[name] += [trial.id for trial in ledger.lease(name, rate_per_s=number)]
        elif step == "end" and held[name]:
            over.append(held[name].pop(0))
            assert ledger.end(name, over[-1])
        elif step == "lose":
            over += [trial.id for trial in ledger.lose(name)]
            held[name] = []
        elif step == "back" and held[name]:
            ledger.hand_back(name, [held[name].pop()])
    in_hand = [trial for ids in held.values() for trial in ids]
    assert ledger.in_hand == len(in_hand)
    everything = [*in_hand, *over, *(trial.id for trial in ledger.close())]
    assert sorted(everything) == sorted(trial.id for trial in _trials(count))


def _due(*at_ns: int) -> list[Trial]:
    return [replace(trial, due_ns=due_ns) for trial, due_ns in zip(_trials(len(at_ns)), at_ns, strict=True)]


def _positions(trials: tuple[Trial, ...]) -> list[int]:
    return [trial.position for trial in trials]


def test_due_trials_are_dealt_in_turn_ahead_of_their_time() -> None:
    """Five due at 0, 10, ... 40: until 30 the first worker gets 0 and 20, the second 10; later 40 and 30."""
    ledger = Ledger(_due(0, 10, 20, 30, 40), 8, ["a", "b"])
    assert _positions(ledger.lease_due("a", until_ns=30)) == [0, 2]
    assert _positions(ledger.lease_due("b", until_ns=30)) == [1]
    assert [_positions(ledger.lease_due(worker, until_ns=99)) for worker in "ab"] == [[4], [3]]
    assert not ledger.more


@given(seed=st.text(max_size=3), workers=st.integers(1, 9), number=st.integers(1, 300))
def test_shares_are_disjoint_and_together_the_plan(seed: str, workers: int, number: int) -> None:
    """Whoever asks first: no due trial is in two shares and none in none, and no share is larger by more than one."""
    due_ns = counting(Pace(5.0, "poisson", seed), number, warmup=0).due_ns
    names = [f"w{n}" for n in range(workers)]
    ledger = Ledger(_due(*due_ns), workers, names)
    shares = [ledger.lease_due(name, until_ns=due_ns[-1] + 1) for name in reversed(names)]
    assert sorted(trial.due_ns or 0 for share in shares for trial in share) == list(due_ns)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_worker_without_credit_is_dealt_no_due_trial() -> None:
    """One in flight over two workers: the first has all of them."""
    ledger = Ledger(_due(0, 10, 20), 1, ["a", "b"])
    assert ledger.lease_due("b", until_ns=99) == ()
    assert _positions(ledger.lease_due("a", until_ns=99)) == [0, 1, 2]


def test_what_a_dead_worker_cannot_have_sent_falls_to_the_others() -> None:
    """Due at 0 and 20 in hand, 40 dealt to it; at 15 it dies: 0 is lost, 20 and 40 go to the other."""
    ledger = Ledger(_due(0, 10, 20, 30, 40), 8, ["a", "b"])
    ledger.lease_due("a", until_ns=30)
    ledger.lease_due("b", until_ns=99)
    assert _positions(ledger.lose("a", sent_until_ns=15)) == [0]
    assert _positions(ledger.lease_due("b", until_ns=99)) == [2, 4]


def test_what_a_worker_does_not_fetch_goes_to_another_before_it_is_due() -> None:
    """Of 10 and 30, dealt to a worker that is silent, 10 is taken over by the one that asks at 15, 30 is not yet."""
    ledger = Ledger(_due(0, 10, 20, 30), 8, ["a", "b"])
    assert _positions(ledger.lease_due("a", until_ns=99, overdue_ns=15)) == [0, 2, 1]
    assert _positions(ledger.lease_due("b", until_ns=99)) == [3]


def test_room_holds_due_trials_back() -> None:
    """A budget with room for one: one now, the other when there is room again."""
    ledger = Ledger(_due(0, 10), 8, ["a"])
    assert [_positions(ledger.lease_due("a", until_ns=99, room=room)) for room in (1, 0, 5)] == [[0], [], [1]]


@given(
    count=st.integers(0, 40),
    workers=st.integers(1, 4),
    steps=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["lease", "end", "lose", "back"])), max_size=60),
)
def test_in_open_loop_too_every_trial_is_in_exactly_one_place(
    count: int, workers: int, steps: list[tuple[int, str]]
) -> None:
    """Unleased + in hand + ended + lost is the plan, whoever dies and whatever is handed back."""
    names = [f"w{n}" for n in range(workers)]
    ledger = Ledger(_due(*range(0, 10 * count, 10)), 50, names)
    held: dict[str, list[str]] = {name: [] for name in names}
    over: list[str] = []
    for now, (number, step) in enumerate(steps):
        name = names[number % workers]
        if name not in ledger.workers:
            continue
        if step == "lease":
            held[name] += [trial.id for trial in ledger.lease_due(name, until_ns=10 * now, overdue_ns=5 * now)]
        elif step == "end" and held[name]:
            over.append(held[name].pop(0))
            assert ledger.end(name, over[-1])
        elif step == "lose":
            over += [trial.id for trial in ledger.lose(name, sent_until_ns=7 * now)]
            held[name] = []
        elif step == "back" and held[name]:
            ledger.hand_back(name, [held[name].pop()])
    in_hand = [trial for ids in held.values() for trial in ids]
    assert ledger.in_hand == len(in_hand)
    everything = [*in_hand, *over, *(trial.id for trial in ledger.close())]
    assert sorted(everything) == sorted(trial.id for trial in _trials(count))


@pytest.mark.parametrize(("workers", "period_s"), [(1, 0.1), (10, 0.1), (25, 0.25), (50, 0.5), (1000, 0.5)])
def test_many_workers_answer_less_often(workers: int, period_s: float) -> None:
    """A hundred answers a second in all from ten workers on, and each is heard of twice a second at least. What is
    leased ahead lasts two and a half times as long: at 40 trials a second that is 10, 10, 25, 50 and 50, and one."""
    names = [f"w{number}" for number in range(workers)]
    ledger = Ledger(_trials(workers + 100), workers, names)
    assert ledger.period_s == pytest.approx(period_s)
    assert len(ledger.lease("w0", rate_per_s=40)) == 1 + 1 + round(100 * period_s)
