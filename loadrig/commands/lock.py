"""One at a time: a lock that ends with the process that holds it, however that ends.

The kernel's advisory lock on an open file, so that nothing has to be cleaned up after a kill; the file stays where it
is and names who holds it, or held it last. On a network file system it is as good as that system's locks.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from loadrig.words.clock import SystemClock
from loadrig.words.errors import InputError

POLL_S = 0.2


@contextmanager
def held(path: Path, *, wait_s: float = 0.0) -> Iterator[None]:
    """Holds the lock; waits for it for up to `wait_s` seconds. Raises `InputError` that names who holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise InputError(f"no lock: {error}", path=path, remedy="name an --out folder that can be written") from error
    with file:
        _take(file, path, time.monotonic() + wait_s)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()} since {SystemClock().label()}\n")
        file.flush()
        yield


def _take(file: IO[str], path: Path, until_s: float) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= until_s:
                file.seek(0)
                who = file.read(200).strip() or "another process"
                remedy = "wait until it has ended, or give --wait SECONDS"
                raise InputError(f"another nightly of this plan is at work: {who}", path=path, remedy=remedy) from error
            time.sleep(POLL_S)
        except OSError as error:
            raise InputError(
                f"no lock: {error}", path=path, remedy="put --out on a disk that can lock files"
            ) from error
        else:
            return
