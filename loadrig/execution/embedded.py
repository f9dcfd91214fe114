"""The embedded simulator: a process of its own that ends with this one, whatever happens to it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from loadrig.words.errors import InputError, LoadrigError

NAME = "simulator"  # what a plan's base_url says for it
START_LIMIT_S = 30.0


@asynccontextmanager
async def embedded(scenario: str | None, truth_log: Path) -> AsyncIterator[str]:
    """A simulator on a free loopback port; its base URL. Raises `InputError` when it refuses its scenario."""
    command = [sys.executable, "-m", "loadrig.simulator", "--port", "0", "--exit-with-parent"]
    command += ["--truth-log", str(truth_log), *(["--scenario", scenario] if scenario else [])]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        yield await _base_url(process)
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
