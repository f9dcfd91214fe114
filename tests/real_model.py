"""The real model on its server, for tests that are marked `realserver`."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SCRIPT = [sys.executable, str(Path(__file__).resolve().parents[1] / "benchmarks" / "model_server.py")]


@contextmanager
def real_model() -> Iterator[str]:
    """Its base URL. Skips where it was not built."""
    if subprocess.run([*SCRIPT, "path"], capture_output=True, check=False).returncode:
        pytest.skip("llama-server is not built (make model-server)")
    with subprocess.Popen([*SCRIPT, "start"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
