"""What driver and worker say to each other: one exchange about each 100 ms carries everything, both ways.

A worker keeps a batch until the driver has acknowledged its number, so a lost answer loses no record.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loadrig.words.change import Adoption
from loadrig.words.record import Record
from loadrig.words.trial import Trial
from loadrig.worker.probe import Vitals


@dataclass(frozen=True, slots=True)
class Order:
    """From the driver. `credits` is the number of trials to keep in flight; `more` says that the stage still has
    trials to lease; `ack` the last batch received. `stop`: start nothing more and hand back what waits;
    `cancel`: end what is in flight too. `wait_s`: answer after this long at the latest. Open loop, on the worker's own
    clock: `begin_ns` is the instant from which due times count; nothing is begun from `end_ns` on. Else None.
    `change_ns`: the instant, on that clock too, at which documents change; None: they do not, or have."""

    stage: str
    credits: int
    trials: tuple[Trial, ...] = ()
    more: bool = True
    ack: int = 0
    wait_s: float = 0.1
    stop: bool = False
    cancel: bool = False
    begin_ns: int | None = None
    end_ns: int | None = None
    change_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """From the worker. `fragments` are prompt parts by content hash, each sent once a worker; `returned` the ids of
    trials handed back unbegun; `credits` the number it was last told to keep in flight; `vitals` what it saw of
    itself since the last batch; `heard_ns` and `answered_ns` when, by its clock, it was asked and answered.
    `adoption`: its part, so far, in a change of documents."""

    number: int
    records: tuple[Record, ...]
    fragments: dict[str, bytes] = field(default_factory=dict)
    in_flight: int = 0
    waiting: int = 0
    returned: tuple[str, ...] = ()
    credits: int = 0
    vitals: Vitals = field(default_factory=Vitals)
    heard_ns: int = field(default=0, compare=False)
    answered_ns: int = field(default=0, compare=False)
    adoption: Adoption | None = None
