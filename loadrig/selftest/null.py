"""The null target as a process of its own, pinned to a core where there is more than one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadrig.outside import get_json
from loadrig.words.errors import LoadrigError

EVENTS_BESIDE_TOKENS = 6  # message_start, block start, ping, block stop, message_delta, message_stop


@dataclass(frozen=True, slots=True)
class Schedule:
    """`tokens` a reply, the first `first_ms` after the request, one each `step_ms`; a step of 0: all in one write."""

    tokens: int
    first_ms: float = 0.0
    step_ms: float = 0.0

    @property
    def events(self) -> int:
        """Server-sent events in a reply."""
        return self.tokens + EVENTS_BESIDE_TOKENS

    @property
    def lasts_s(self) -> float:
        """How long a reply takes by the schedule."""
        return (self.first_ms + self.step_ms * (self.tokens - 1)) / 1e3


def cores() -> tuple[int | None, int | None]:
    """One core for the target and one for the rig; None twice where there is but one, or they cannot be chosen."""
    if not hasattr(os, "sched_getaffinity"):
        return None, None
    found = sorted(os.sched_getaffinity(0))
    return (found[0], found[1]) if len(found) > 1 else (None, None)


@contextmanager
def null_target(
    schedule: Schedule, *, core: int | None = None, model: str = "null", certificate: Path | None = None
) -> Iterator[str]:
    """Its base URL. `certificate` (PEM with key) makes it speak TLS."""
    command = [sys.executable, "-m", "loadrig.simulator.null", "--exit-with-parent", "--model", model]
    command += ["--tokens", str(schedule.tokens), "--first-ms", str(schedule.first_ms)]
    command += ["--step-ms", str(schedule.step_ms)]
    command += [] if certificate is None else ["--certificate", str(certificate)]
    with subprocess.Popen(  # noqa: S603 - ourselves
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if core is not None:
                os.sched_setaffinity(process.pid, {core})
            line = process.stdout.readline()
            if not line.startswith("listening "):
                raise LoadrigError("the null target did not start")
            yield line.split()[1]
        finally:
            process.stdin.close()
            process.wait(10)


def truth(url: str) -> dict[str, Mapping[str, Any]]:
    """What the target at `url` noted of each request, by attempt."""
    return {row["attempt"]: row for row in get_json(f"{url}/_truth", timeout_s=60.0)}
