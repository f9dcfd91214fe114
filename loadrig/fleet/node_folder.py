"""A folder that the workers of one run on one node share: filled by the first of them, removed by the last.

Rules: it is the user's alone. Who uses it holds a lock that the kernel lets go of with the process, however that ends:
what killed workers left behind is removed by the next one that comes to the node.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from loadrig.words.errors import FleetError


@contextmanager
def shared(name: str, fill: Callable[[Path], None], *, root: Path | None = None) -> Iterator[Path]:
    """The folder of that name, below `root` (default: one in the temporary folder, by user); `fill` writes into it if
    it is new. Blocks while another fills it. Raises `FleetError` when the root is not ours alone."""
    root = root or Path(tempfile.gettempdir()) / f"loadrig-{os.getuid()}"
    _own(root)
    folder = root / name
    with ExitStack() as stack:
        with _alone(root):
            using = stack.enter_context((root / f"{name}.lock").open("wb"))
            fcntl.flock(using, fcntl.LOCK_SH)
            _sweep(root)
            if not folder.exists():
                filling = root / f"{name}.filling"
                shutil.rmtree(filling, ignore_errors=True)
                filling.mkdir()
                fill(filling)
                filling.rename(folder)
        try:
            yield folder
        finally:
            with _alone(root):
                fcntl.flock(using, fcntl.LOCK_UN)
                _sweep(root)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Nobody else enters or leaves."""
    with (root / "door").open("wb") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        yield


def _sweep(root: Path) -> None:
    """Removes the folders that nobody uses."""
    for lock in root.glob("*.lock"):
        with lock.open("rb") as file:
            if _takes(file):
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                shutil.rmtree(lock.with_suffix(".filling"), ignore_errors=True)
                lock.unlink()


def _takes(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _own(root: Path) -> None:
    root.mkdir(mode=0o700, exist_ok=True)
    found = root.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise FleetError(f"{root} is not a folder of this user alone; remove it")
