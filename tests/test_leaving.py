"""Two signals: the first waits a little for what is in flight, the second does not."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from command import LOADRIG, only_run, write_plan


def _read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    assert any(words in line for line in process.stderr), f"never said {words!r}"


def test_a_second_signal_leaves_at_once(tmp_path: Path) -> None:
    """I3: with four in flight for 30 s a first SIGINT would wait 5 s and cancel them; a second leaves them as lost,
    with every planned trial on file."""
    plan = write_plan(tmp_path)
    (tmp_path / "fast.toml").write_text("base_ms = 30000\n")
    command = [*LOADRIG, "run", str(plan), "--out", str(tmp_path / "results"), "--inline"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        _read_until(process, "4/4 in flight")
        process.send_signal(signal.SIGINT)
        _read_until(process, "once more to leave at once")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    found = only_run(tmp_path / "results")
    assert {record.trial for record in found.records} == {trial.id for trial in found.trials}
    assert {(record.outcome, record.reason) for record in found.records} == {
        ("failed", "lost"), ("not_run", "stopped"),
    }  # fmt: skip
