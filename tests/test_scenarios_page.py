"""docs/scenarios.md: its table is what is shipped, and its commands and programs work as written, in their order."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import LOADRIG

from loadrig.simulator.scenario import load_scenario, scenario_names

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scenarios.md"
TEXT = PAGE.read_text()
COMMANDS = [line.strip() for line in TEXT.splitlines() if line.startswith("    .venv/bin/loadrig ")]
PROGRAMS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@contextmanager
def simulating(line: str, folder: Path) -> Iterator[str]:
    """The command of a line, on a free port; its address. Stopped from outside, it ends in good order."""
    words = re.sub(r"--port \d+", "--port 0", line)
    with subprocess.Popen(
        [*LOADRIG, *shlex.split(words)[1:]], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_the_gallery_is_what_is_shipped() -> None:
    """One row for each scenario that can be named, and no other."""
    rows = re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)
    assert sorted(rows) == sorted(scenario_names())


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    """The first program gets its answer from the first command's simulator, and the second finds it in the log."""
    answer, read_log, _ = PROGRAMS
    with simulating(COMMANDS[0], tmp_path) as url:
        answer = answer.replace("http://127.0.0.1:8089", url)
        subprocess.run([sys.executable, "-c", answer], cwd=tmp_path, check=True, timeout=60)
    told = subprocess.run(
        [sys.executable, "-c", read_log], cwd=tmp_path, check=True, timeout=60, capture_output=True, text=True
    )
    assert re.fullmatch(r"\d+ requests for one answer, [1-9]\d* tokens paid\n", told.stdout)


def test_the_file_shown_is_a_scenario(tmp_path: Path) -> None:
    """Monday as it is written loads, and its command serves it."""
    (text,) = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    (tmp_path / "monday.toml").write_text(text)
    assert load_scenario(str(tmp_path / "monday.toml")).base_ms == 2000
    with simulating(COMMANDS[1], tmp_path) as url, urllib.request.urlopen(f"{url}/_sim/stats") as reply:
        assert b'"scenario":"monday"' in reply.read()


def test_the_fixture_shown_starts_and_ends_a_provider() -> None:
    """It is there inside the block and gone behind it."""
    namespace: dict[str, object] = {}
    exec(PROGRAMS[2], namespace)  # the page's own program
    with namespace["provider"]("cut_stream") as url, urllib.request.urlopen(f"{url}/healthz") as reply:  # type: ignore[operator]
        assert reply.status == 200
