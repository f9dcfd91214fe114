"""Who has which trial: the driver's book of one stage. Pure: no I/O, no clock.

Rules: trials are leased in plan order; the credits of the living workers sum to the stage's concurrency; every trial
is unleased, leased to one worker, or ended, and ends once. In closed loop a lease ahead keeps slots full between two
exchanges; the last N trials are leased only into free slots, so that no trial waits at one worker while another has a
slot free. In open loop trials are dealt to the workers in turn, so that each has every n-th, ahead of their due times.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from loadrig.words.trial import Trial

SHORTEST_S, LONGEST_S, APART_S = 0.1, 0.5, 0.01
AHEAD_PERIODS = 2.5  # of the exchange: two, and the time of a round trip


class Ledger:
    """The book of one stage."""

    def __init__(self, trials: Iterable[Trial], concurrency: int, workers: Sequence[str]) -> None:
        self._unleased = deque(trials)
        self._concurrency = concurrency
        self._leased: dict[str, dict[str, Trial]] = {worker: {} for worker in workers}
        self._dealt: dict[str, deque[Trial]] = {worker: deque() for worker in workers}
        self._turn = 0

    @property
    def more(self) -> bool:
        """Trials remain to be leased."""
        return bool(self._unleased) or any(self._dealt.values())

    @property
    def is_done(self) -> bool:
        return not self.more and not any(self._leased.values())

    @property
    def workers(self) -> tuple[str, ...]:
        return tuple(self._leased)

    def credits(self, worker: str) -> int:
        """The worker's share of the concurrency: as even as whole numbers allow, in the order of the workers."""
        share, rest = divmod(self._concurrency, len(self._leased))
        return share + (list(self._leased).index(worker) < rest)

    @property
    def in_hand(self) -> int:
        """Trials leased and not ended."""
        return sum(map(len, self._leased.values()))

    @property
    def period_s(self) -> float:
        """How long a worker may take to answer: a tenth of a second; with more than ten of them longer, so that their
        answers, each of which costs the driver one to two milliseconds, stay at a hundred a second; at most a half."""
        return min(LONGEST_S, max(SHORTEST_S, len(self._leased) * APART_S))

    def lease(self, worker: str, *, rate_per_s: float, room: int | None = None) -> tuple[Trial, ...]:
        """The next trials for a worker that ends `rate_per_s` trials a second; at most `room` of them."""
        ahead_s = AHEAD_PERIODS * self.period_s
        ahead = 0 if len(self._unleased) <= self._concurrency else 1 + round(rate_per_s * ahead_s)
        wanted = self.credits(worker) + ahead - len(self._leased[worker])
        if self.credits(worker) == 0:
            return ()
        size = min(max(0, wanted), len(self._unleased), len(self._unleased) if room is None else room)
        block = tuple(self._unleased.popleft() for _ in range(size))
        self._leased[worker].update((trial.id, trial) for trial in block)
        return block

    def lease_due(
        self, worker: str, *, until_ns: int, overdue_ns: int = 0, room: int | None = None
    ) -> tuple[Trial, ...]:
        """The worker's share of the trials due before `until_ns` (from the stage's begin), and what another one has not
        fetched that is due before `overdue_ns`; at most `room` trials."""
        takers = [name for name in self._leased if self.credits(name)]
        while takers and self._unleased and _due_ns(self._unleased[0]) < until_ns:
            self._dealt[takers[self._turn % len(takers)]].append(self._unleased.popleft())
            self._turn += 1
        mine = self._dealt[worker]
        if worker in takers:
            for other in self._dealt.values():
                while other is not mine and other and _due_ns(other[0]) < overdue_ns:
                    mine.append(other.popleft())
        block = tuple(mine.popleft() for _ in range(len(mine) if room is None else min(room, len(mine))))
        self._leased[worker].update((trial.id, trial) for trial in block)
        return block

    def held(self, worker: str) -> Mapping[str, Trial]:
        """What the worker was leased and has not ended, by trial id, in the order of the leases."""
        return self._leased.get(worker, {})

    def end(self, worker: str, trial_id: str) -> bool:
        """Notes a trial's end; False when this worker did not have it (a record that came twice)."""
        return self._leased.get(worker, {}).pop(trial_id, None) is not None

    def hand_back(self, worker: str, trial_ids: Iterable[str]) -> None:
        """Puts trials a worker did not begin back in front, in plan order."""
        self._put_back(trial for one in trial_ids if (trial := self._leased[worker].pop(one, None)) is not None)

    def lose(self, worker: str, *, sent_until_ns: int | None = None, begun: int | None = None) -> tuple[Trial, ...]:
        """Removes a dead worker; returns what it may have sent of what it had in hand. Its credits fall to the others,
        and so do trials it cannot have begun: in open loop those due after `sent_until_ns`; in closed loop, where
        trials are begun in the order of the leases, all but the first `begun`, if that is known."""
        held = tuple(self._leased.pop(worker, {}).values())
        if sent_until_ns is not None:
            sent = tuple(one for one in held if _due_ns(one) <= sent_until_ns)
        else:
            sent = held[:begun]
        ids = {one.id for one in sent}
        self._put_back([*(one for one in held if one.id not in ids), *self._dealt.pop(worker, ())])
        return sent

    def close(self) -> tuple[Trial, ...]:
        """Takes every unleased trial out of the book: nothing more will be leased."""
        for dealt in self._dealt.values():
            self._put_back(dealt)
            dealt.clear()
        rest = tuple(self._unleased)
        self._unleased.clear()
        return rest

    def _put_back(self, trials: Iterable[Trial]) -> None:
        """In front of the unleased, in plan order."""
        self._unleased.extendleft(sorted(trials, key=lambda trial: -trial.position))


def _due_ns(trial: Trial) -> int:
    return trial.due_ns or 0
