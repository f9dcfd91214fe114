"""What a stall of the target looks like in open loop and in closed loop, beside what it must be.

    python benchmarks/coordinated_omission.py [--rate 20] [--seconds 60] [--freeze 5]

Target: the simulator, a process of its own that answers in about 20 ms, stopped by a signal in the middle of each run
and let go on later. Three runs, inline: open loop; open loop with at most four trials in flight; closed loop, four in
flight with a pause between two trials that makes the same rate. Truth: the trials due while it is stopped wait for the
rest of the freeze, evenly spread, and take 20 ms beside; the others take 20 ms.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loadrig.analysis.summary import Summary
from loadrig.arms.control import Control
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.live.progress import Progress
from loadrig.reports import write_all
from loadrig.stats import Quantile, quantile
from loadrig.words.settings import CorpusSettings, LoadSettings, ModelSettings, Plan, QuestionSettings

TOOK_S = 0.02
SCENARIO = (
    "base_ms = 20.0\ndecode_ms_per_token = 0.0\nprefill_us_per_token = 0.0\njitter = 0.0\nfixed_answer_tokens = 1\n"
)


def main() -> int:
    """Runs and prints one line a load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--freeze", type=float, default=5.0)
    options = parser.parse_args()
    rate, seconds = options.rate, options.seconds
    open_loop = {"rate": (rate,), "arrivals": "constant", "duration_s": seconds, "warmup": 0}
    loads = {
        "open loop": LoadSettings(**open_loop),
        "open loop, 4 at most": LoadSettings(**open_loop, max_in_flight=4),
        "closed loop, 4": LoadSettings(
            concurrency=(4,), think_s=4 / rate - TOOK_S, duration_s=seconds, warmup=0
        ),
    }  # fmt: skip
    print(
        f"load average {os.getloadavg()[0]:.2f}; {rate:g}/s for {seconds:g} s, target frozen for {options.freeze:g} s"
    )
    print(f"{'':22}{'trials':>8}{'scheduled p50/p95/p99 s':>28}{'service p50/p95/p99 s':>28}")
    print(_line("truth", round(rate * seconds), _truth(rate, seconds, options.freeze), None))
    for name, load in loads.items():
        summary = _ran(load, seconds, options.freeze)
        (stage,) = summary.stages
        loop, service = stage.open_loop, stage.service.successes
        found = None if loop is None else loop.scheduled.successes
        print(_line(
            name, stage.asked, None if found is None else (found.p50, found.p95, found.p99),
            (service.p50, service.p95, service.p99),
        ))  # fmt: skip
    return 0


def _truth(rate: float, seconds: float, freeze_s: float) -> tuple[Quantile | None, ...]:
    """The quantiles as reckoned."""
    stalled = [freeze_s - n / rate + TOOK_S for n in range(round(freeze_s * rate))]
    waits = sorted([*stalled, *[TOOK_S] * (round(rate * seconds) - len(stalled))])
    return tuple(quantile([round(wait * 1e9) for wait in waits], q) for q in (0.5, 0.95, 0.99))


def _line(
    name: str, trials: int, scheduled: tuple[Quantile | None, ...] | None, service: tuple[Quantile | None, ...] | None
) -> str:
    def told(found: tuple[Quantile | None, ...] | None) -> str:
        return "-" if found is None else " / ".join(f"{(of.value_ns or 0) / 1e9:.3f}" for of in found if of)

    return f"{name:22}{trials:8}{told(scheduled):>28}{told(service):>28}"


def _ran(load: LoadSettings, seconds: float, freeze_s: float) -> Summary:
    with tempfile.TemporaryDirectory() as folder, _simulator(Path(folder)) as (process, url):
        plan = Plan(
            name="freeze", corpus=CorpusSettings(path="corpora/tiny"),
            questions=QuestionSettings(path="questions/tiny.jsonl"),
            model=(ModelSettings(id="claude-haiku-5-5", base_url=url),), arms=(Control(),), load=load,
        )  # fmt: skip
        watching = _Freezer(process, seconds / 3, freeze_s)
        with open(os.devnull, "w") as nowhere, Progress(nowhere) as progress:  # noqa: PTH123
            threading.Thread(target=watching.run, args=(Path(folder),), daemon=True).start()
            done = execute(plan, Options(out=Path(folder) / "results", inline=True), progress)
        return write_all(done.folder)


class _Freezer:
    """Stops the process for a while, so long after the run's first record was written."""

    def __init__(self, process: subprocess.Popen[str], after_s: float, freeze_s: float) -> None:
        self._process, self._after_s, self._freeze_s = process, after_s, freeze_s

    def run(self, folder: Path) -> None:
        pause = threading.Event()
        while not any(path.read_bytes().count(b"\n") > 1 for path in folder.glob("results/*/records.jsonl")):
            pause.wait(0.01)
        pause.wait(self._after_s)
        self._process.send_signal(signal.SIGSTOP)
        pause.wait(self._freeze_s)
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def _simulator(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    (folder / "target.toml").write_text(SCENARIO)
    command = [sys.executable, "-m", "loadrig.simulator", "--port", "0", "--scenario", str(folder / "target.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[1]
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
