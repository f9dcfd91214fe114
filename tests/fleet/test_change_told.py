"""The driver's side of a change of documents: when it is, on whose clock, and what is put on file of it once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from hand_worker import HandWorker, promptly, trials

from loadrig.fleet.changing import Changing
from loadrig.fleet.driver import Driver
from loadrig.fleet.handle import Handle
from loadrig.fleet.spending import Spending, WorstCase
from loadrig.log import RunLog, read_changes
from loadrig.words.change import Adoption, Changes, Reindexed
from loadrig.words.clock import SystemClock
from loadrig.words.record import Record
from loadrig.words.settings import BudgetSettings
from loadrig.words.trial import RunInfo
from loadrig.worker.messages import Batch

S = 1_000_000_000


def heard(changing: Changing, worker: str, ahead_ns: int, adoption: Adoption | None = None) -> None:
    """A worker whose clock is so much ahead answers at once."""
    now_ns = SystemClock().now_ns()
    batch = Batch(1, (), heard_ns=now_ns + ahead_ns, answered_ns=now_ns + ahead_ns, adoption=adoption)
    changing.heard(worker, batch, sent_ns=now_ns)


def test_the_instant_is_so_long_after_the_first_stage_on_each_workers_clock(tmp_path: Path) -> None:
    """Five seconds after 1,000 s by the driver's clock; a worker's is an hour ahead, to within the round trip. A later
    stage moves nothing."""
    with RunLog(tmp_path) as log:
        changing = Changing(5, 1, log)
        assert changing.at_ns("w1") is None
        heard(changing, "w1", 3600 * S)
        changing.begin(1000 * S)
        changing.begin(2000 * S)
        at_ns = changing.at_ns("w1")
    assert at_ns is not None
    assert abs(at_ns - 4605 * S) < S // 10


def test_what_has_happened_is_on_file_once(tmp_path: Path) -> None:
    """Nothing before the instant; then the change, and of a worker what it told last, though it tells the same again
    and again."""
    first = Adoption(7)
    second = Adoption(7, {"bm25": Reindexed(1, 2, 3)})
    with RunLog(tmp_path) as log:
        changing = Changing(0, 2, log)
        heard(changing, "w1", 0)
        assert read_changes(tmp_path) == Changes()
        changing.begin(SystemClock().now_ns())
        for told in (None, first, first, second, second):
            heard(changing, "w1", 0, told)
    found = read_changes(tmp_path)
    assert found.made is not None
    assert found.made.session == 2
    assert found.made.ahead_ns.keys() == {"w1"}
    assert [(one.worker, one.session, one.adoption) for one in found.adopted] == [("w1", 2, second)]
    assert len((tmp_path / "changes.jsonl").read_text().splitlines()) == 4  # the schema's, the change, two tellings


class Watched(RunLog):
    """Notes, of each time that records are written, whether the change is on file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.was_told: list[bool] = []

    def append(self, records: Iterable[Record], fragments: Mapping[str, bytes]) -> None:
        if records := list(records):
            self.was_told.append(read_changes(self.folder).made is not None)
        super().append(records, fragments)


def test_the_change_is_on_file_before_any_record_of_after(tmp_path: Path) -> None:
    """Documents change at once: whenever the driver is killed, what the first trial's record says of them holds."""
    worker = HandWorker("w1", promptly)

    async def go(driver: Driver) -> None:
        running = asyncio.create_task(asyncio.Event().wait())
        await driver.drive([trials("c2", 1)], [Handle("w1", 1, worker.exchange, running, worker.end)])
        running.cancel()

    with Watched(tmp_path) as log:
        spending = Spending(BudgetSettings(), WorstCase(Decimal(0), 0), ["rag"])
        info = RunInfo("r1", "hand", "0", 1, "USD", simulated=False)
        asyncio.run(go(Driver(info, log, [], spending=spending, changing=Changing(0, 1, log))))
    assert log.was_told == [True]
