"""Who has which trial: the driver's book of one stage. Pure: no I/O, no clock.

Rules: trials are leased in plan order; the credits of the living workers sum to the stage's concurrency; every trial
is unleased, leased to one worker, or ended, and ends once. A lease ahead keeps slots full between two exchanges; the
last N trials are leased only into free slots, so that no trial waits at one worker while another has a slot free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from loadrig.words.trial import Trial

LEASE_AHEAD_S = 0.25  # more than two exchange periods of 100 ms and the time of a round trip


class Ledger:
    """The book of one stage."""

    def __init__(self, trials: Iterable[Trial], concurrency: int, workers: Sequence[str]) -> None:
        self._unleased = deque(trials)
        self._concurrency = concurrency
        self._leased: dict[str, dict[str, Trial]] = {worker: {} for worker in workers}

    @property
    def more(self) -> bool:
        """Trials remain to be leased."""
        return bool(self._unleased)

    @property
    def is_done(self) -> bool:
        return not self._unleased and not any(self._leased.values())

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

    def lease(self, worker: str, *, rate_per_s: float, room: int | None = None) -> tuple[Trial, ...]:
        """The next trials for a worker that ends `rate_per_s` trials a second; at most `room` of them."""
        ahead = 0 if len(self._unleased) <= self._concurrency else 1 + round(rate_per_s * LEASE_AHEAD_S)
        wanted = self.credits(worker) + ahead - len(self._leased[worker])
        if self.credits(worker) == 0:
            return ()
        size = min(max(0, wanted), len(self._unleased), len(self._unleased) if room is None else room)
        block = tuple(self._unleased.popleft() for _ in range(size))
        self._leased[worker].update((trial.id, trial) for trial in block)
        return block

    def end(self, worker: str, trial_id: str) -> bool:
        """Notes a trial's end; False when this worker did not have it (a record that came twice)."""
        return self._leased.get(worker, {}).pop(trial_id, None) is not None

    def hand_back(self, worker: str, trial_ids: Iterable[str]) -> None:
        """Puts trials a worker did not begin back in front, in plan order."""
        back = [trial for one in trial_ids if (trial := self._leased[worker].pop(one, None)) is not None]
        self._unleased.extendleft(sorted(back, key=lambda trial: -trial.position))

    def lose(self, worker: str) -> tuple[Trial, ...]:
        """Removes a dead worker; returns what it had in hand. Its credits fall to the others."""
        return tuple(self._leased.pop(worker, {}).values())

    def close(self) -> tuple[Trial, ...]:
        """Takes every unleased trial out of the book: nothing more will be leased."""
        rest = tuple(self._unleased)
        self._unleased.clear()
        return rest
