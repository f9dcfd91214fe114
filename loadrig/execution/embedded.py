"""The embedded simulator: a process of its own that ends with this one, whatever happens to it, and is asked how late
and how busy it was, over its standard input and output: a request on its port would be load."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from loadrig.bound import SIMULATOR
from loadrig.providers import load
from loadrig.words.errors import InputError, LoadrigError
from loadrig.worker.probe import CpuWindow, Pauses, Vitals

NAME = "simulator"  # what a plan's base_url says for it
START_LIMIT_S = 30.0
ANSWER_LIMIT_S = 5.0
_LONGEST_LINE = 2**20


class _Said(msgspec.Struct):
    """A line of the simulator's; see `loadrig.simulator.vitals`."""

    lags_ns: tuple[int, ...]
    at_ns: int
    cpu_ns: int
    gc_count: int
    gc_total_ns: int
    gc_max_ns: int
    loop: str


class Embedded:
    """A simulator that runs, under the name by which the rig knows it. One question at a time."""

    def __init__(self, process: asyncio.subprocess.Process, base_url: str, name: str) -> None:
        self.base_url, self.name, self.pid = base_url, name, process.pid
        self._process = process
        self._cpu = CpuWindow()
        self._silent = False

    def base_url_for(self, provider: str) -> str:
        """As a client of that dialect is given it: it ends as the provider's own does. Raises `InputError`."""
        return self.base_url + urlsplit(load(provider).endpoint.base_url).path

    async def begin_stage(self) -> None:
        """Forgets what it saw until now."""
        self._cpu.clear()
        await self.vitals()

    async def vitals(self) -> Vitals | None:
        """What it saw of itself since it was last asked; None when it does not answer within five seconds, or did not
        before: a later line would answer an earlier question."""
        said = None if self._silent else await self._asked()
        if said is None:
            self._silent = True
            return None
        share = self._cpu.share(said.at_ns / 1e9, said.cpu_ns / 1e9)
        return Vitals(said.lags_ns, share, Pauses(said.gc_count, said.gc_total_ns, said.gc_max_ns), said.loop)

    async def _asked(self) -> _Said | None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            async with asyncio.timeout(ANSWER_LIMIT_S):
                stdin.write(b"\n")
                await stdin.drain()
                line = await stdout.readline()
        except (TimeoutError, OSError, ValueError):  # hung, gone, or a line of more than a megabyte
            return None
        return msgspec.json.decode(line, type=_Said) if line.endswith(b"\n") else None


@asynccontextmanager
async def embedded(scenario: str | None, truth_log: Path, name: str = SIMULATOR) -> AsyncIterator[Embedded]:
    """A simulator on a free loopback port. Raises `InputError` when it refuses its scenario."""
    command = [sys.executable, "-m", "loadrig.simulator", "--port", "0", "--exit-with-parent"]
    command += ["--truth-log", str(truth_log), *(["--scenario", scenario] if scenario else [])]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, limit=_LONGEST_LINE
    )
    try:
        yield Embedded(process, await _base_url(process), name)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def _base_url(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(START_LIMIT_S):
            line = (await process.stdout.readline()).decode()
    except TimeoutError as error:
        raise LoadrigError(f"the simulator did not start within {START_LIMIT_S:g} s") from error
    if not line.startswith("listening "):
        said = (await process.stderr.read()).decode().strip().removeprefix("error: ")
        raise InputError(f"the simulator did not start: {said}", remedy="correct `scenario` of the [[model]]")
    return line.split()[1]
