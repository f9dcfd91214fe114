"""A wall clock that can be set for the processes of a chaos run alone, by `chaos_clock.c`, which they load. The
machine's own is not touched, and monotonic clocks go on as they do when somebody sets a real one. Needs a C compiler.
"""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import time
from pathlib import Path

COMPILER = shutil.which("cc")
MISSING = "there is no C compiler"
SOURCE = Path(__file__).with_suffix(".c")
SIZE = 4096


class Wall:
    """The wall clock of all processes that are started with `environment`. `folder` is its own."""

    def __init__(self, folder: Path) -> None:
        self._file, library = folder / "wall", folder / "wall.so"
        self.true()
        self.environment: dict[str, str] = {}
        if COMPILER is not None:
            subprocess.run([COMPILER, "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
            self.environment = {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(self._file)}

    def true(self) -> None:
        """Right again, and forgets how it was set."""
        self._count = 0
        self._write(0, bytes(SIZE))

    def set(self, ahead_ns: int) -> None:
        """Ahead of the machine's from now on."""
        place = 8 + 16 * self._count
        self._count += 1
        self._write(place, struct.pack("@qq", time.time_ns(), ahead_ns))
        self._write(0, struct.pack("@q", self._count))  # last: it is read meanwhile

    def step(self, rng: random.Random) -> None:
        """Hours from the true time, or seconds, or milliseconds, forwards or backwards."""
        unit_ns = rng.choice((3_600_000_000_000, 3_600_000_000_000, 1_000_000_000, 1_000_000))
        self.set(round(rng.choice((-1, 1)) * rng.uniform(1, 5) * unit_ns))

    def _write(self, place: int, what: bytes) -> None:
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.seek(place)
            file.write(what)
