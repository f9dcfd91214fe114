"""The driver of a chaos run: what `loadrig run PLAN` does without its reports, with a witness that writes down, before
the driver does it, which records it acknowledges, and when and why it gives a worker up.

    python benchmarks/chaos_driver.py PLAN RESULTS WITNESS SILENCE_LIMIT_S [--resume] [--retry-failed]
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from loadrig.config import read_plan
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.fleet import handle
from loadrig.live.progress import Progress
from loadrig.words.errors import FleetError, LoadrigError
from loadrig.worker.messages import Batch, Order

DONE, BROKEN, INTERRUPTED = 0, 1, 3
_exchange = handle.Handle.exchange
_last: dict[str, Batch] = {}


def main() -> int:
    """Runs; the exit code says how it ended."""
    plan, results, witness, silence_s = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
    file = os.open(witness, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def witnessed(self: handle.Handle, order: Order) -> Batch:
        last = _last.get(self.name)
        if last is not None and last.records and order.ack == last.number:
            _note(file, acknowledged=[(record.trial, record.try_no) for record in last.records])
        try:
            _last[self.name] = await _exchange(self, order)
        except FleetError as error:
            _note(file, given_up=self.pid, why=str(error))
            raise
        return _last[self.name]

    handle.SILENCE_LIMIT_S = silence_s
    handle.Handle.exchange = witnessed  # type: ignore[method-assign]
    resumed = next(results.iterdir()) if "--resume" in sys.argv else None
    retry = "--retry-failed" in sys.argv
    options = Options(out=results, resume=resumed, retry_failed=retry, command_line="chaos")
    try:
        with Progress() as progress:
            finished = execute(read_plan(plan), options, progress)
    except LoadrigError as error:
        print(error, file=sys.stderr)
        return BROKEN
    return INTERRUPTED if finished.interrupted else DONE


def _note(file: int, **what: object) -> None:
    os.write(file, json.dumps({"at_ns": time.monotonic_ns(), **what}).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
