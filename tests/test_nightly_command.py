"""`loadrig nightly`: one command a night, and what is left of it whatever happens."""

from __future__ import annotations

import http.server
import json
import logging
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from command import QUICK, here, loadrig, write_plan
from records import record, turn, write_run

from loadrig.commands.lock import held
from loadrig.cost import total
from loadrig.log import read_run
from loadrig.outside import post_secretly
from loadrig.words.errors import InputError
from loadrig.words.record import Usage

SECRET = "/services/T0/B0/xyzzy"
SMALL = ["--inline", "--one-pass", "--limit", "2"]


@dataclass
class Hook:
    """What came to a webhook's server that answers with `status`."""

    status: int
    url: str = ""
    got: list[tuple[str, bytes]] = field(default_factory=list)


@contextmanager
def listening(status: int = 200) -> Iterator[Hook]:
    hook = Hook(status)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hook.got.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(hook.status)
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    hook.url = f"http://127.0.0.1:{server.server_address[1]}{SECRET}"
    try:
        yield hook
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """The quick plan, with one night on file."""
    used = turn("0.04", usage=Usage(input=1, output=1))
    kept = record("a", began_at="2026-11-20T12:00:00Z", cost="0.04", turns=(used,))
    write_run(tmp_path / "results" / "n1", [kept], plan={"name": "quick"})
    return write_plan(tmp_path)


def report_only(plan: Path, *flags: object) -> list[object]:
    return ["nightly", plan, "--out", plan.parent / "results", "--report-only", *flags]


def test_a_night_runs_reports_and_tells(tmp_path: Path) -> None:
    """Exit 0; three reports whose bill is that of the records; rates on file; the webhook gets text and figures, by its
    variable or its flag, and its address is nowhere."""
    plan, results = write_plan(tmp_path), tmp_path / "results"
    with listening() as hook:
        called = loadrig("nightly", plan, "--out", results, *SMALL, "--webhook", hook.url)
    assert called.code == 0, called.err
    found = json.loads((results / "nightly-quick.json").read_text())
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    run = read_run(folder)
    spent = total(Decimal(one.cost) for one in (*run.records, *run.probes) if one.cost is not None)
    assert Decimal(found["bill"]["total"]["amount"]) == spent > 0
    assert total(Decimal(line["money"]["amount"]) for line in found["bill"]["lines"]) == spent
    assert (found["simulated"], found["day"]) == (True, datetime.now(UTC).date().isoformat())
    assert found["standing"] in ("sound", "client-bound")  # a busy machine is no reason to fail
    assert run.manifest["price_table"]["rows"][0]["rates"]["input"] != ""
    ((path, body),) = hook.got
    told = json.loads(body)
    assert path == SECRET
    assert told["text"].startswith("loadrig nightly quick, ")
    assert told["nightly"] == {name: value for name, value in found.items() if name != "days"}
    texts = [file.read_bytes() for file in results.rglob("*") if file.is_file()]
    assert not any(b"xyzzy" in text for text in [*texts, called.out.encode(), called.err.encode()])
    assert "--webhook ..." in run.manifest["command_line"]
    assert all(cell["money"]["unknown"] == 0 for cell in _cells(results))
    assert all(cell[part]["rest"] == "0" for cell in _cells(results) for part in ("sound", "broken"))


def _cells(results: Path) -> list[dict]:
    return json.loads((results / "nights-quick.jsonl").read_bytes().splitlines()[0])["nights"]["cells"]


def test_a_deadline_cuts_a_night_short(tmp_path: Path) -> None:
    """Replies of two minutes and a deadline before their end, which the trials' begin reaches even on a busy machine:
    exit 3, the results kept, and the night is named so."""
    plan, results = write_plan(tmp_path, QUICK.replace("\n[corpus]", "\nprobe = false\n[corpus]")), tmp_path / "results"
    (tmp_path / "fast.toml").write_text("base_ms = 120000\n")
    for deadline in ("6s", "1m"):
        called = here("nightly", plan, "--out", results, *SMALL, "--deadline", deadline)
        assert called.code == 3, called.err
        if (results / "nightly-quick.json").exists():
            break
    found = json.loads((results / "nightly-quick.json").read_text())
    assert (found["standing"], found["findings"]) == ("cut short", [])
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    assert read_run(folder).manifest["cut_short_after_s"] in (6, 60)
    assert "the deadline of 6" in called.err


def test_a_run_that_comes_to_nothing_has_a_report_all_the_same(planned: Path) -> None:
    """The corpus is gone: exit 2 with the reason, and a report of the night before says so first."""
    planned.write_text(planned.read_text().replace("corpora/tiny", "corpora/nowhere"))
    called = here("nightly", planned, "--out", planned.parent / "results", *SMALL)
    assert called.code == 2
    assert "corpora/nowhere" in called.err
    text = (planned.parent / "results" / "nightly-quick.md").read_text()
    assert "Tonight's run came to nothing" in text.splitlines()[4]
    assert "nowhere" in text.splitlines()[4]


def test_a_deadline_before_the_first_trial_is_said_to_be_one(planned: Path) -> None:
    """Reached while the run is made ready: exit 3, and the report of the night before names the deadline first."""
    called = here("nightly", planned, "--out", planned.parent / "results", *SMALL, "--deadline", "0.001s")
    assert called.code == 3
    assert "stopped by the deadline of 0.001 s" in called.err
    assert "stopped by the deadline" in (planned.parent / "results" / "nightly-quick.md").read_text().splitlines()[4]


def test_a_second_one_is_told_who_is_at_work(planned: Path) -> None:
    """Exit 2 and the holder's process; with --wait it comes to its turn; another plan's lock is another."""
    lock = planned.parent / "results" / ".nightly-quick.lock"
    with held(lock):
        called = here(*report_only(planned))
        assert called.code == 2
        assert "another nightly of this plan is at work: process " in called.err
        with held(lock.with_name(".nightly-other.lock")):
            pass
    assert here(*report_only(planned)).code == 0


def test_one_that_waits_comes_to_its_turn(tmp_path: Path) -> None:
    """The first lets go while the second waits."""
    taken, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with held(tmp_path / "lock"):
            taken.set()
            go_on.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(30)
    with pytest.raises(InputError, match="is at work"), held(tmp_path / "lock"):
        pass
    go_on.set()
    with held(tmp_path / "lock", wait_s=30):
        thread.join()


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    """Killed while it held it: the file still names it, and the next one gets the lock at once."""
    code = "import sys,time; from pathlib import Path; from loadrig.commands.lock import held\n"
    code += "with held(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, tmp_path / "lock"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert f"process {process.pid} " in (tmp_path / "lock").read_text()
    with held(tmp_path / "lock"):
        assert f"process {process.pid} " not in (tmp_path / "lock").read_text()


@pytest.mark.parametrize("status", [404, 500, 0])
def test_a_webhook_that_fails_is_a_warning(
    status: int, planned: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It answers with an error, or is not there (0): the exit code is the run's, and no line names the address, not
    even in a log of everything."""
    caplog.set_level(logging.DEBUG)
    with listening(status or 200) as hook:
        url = hook.url if status else f"http://127.0.0.1:1{SECRET}"
        monkeypatch.setenv("LOADRIG_WEBHOOK_URL", url)
        called = here(*report_only(planned))
    assert called.code == 0
    assert "warning: the webhook was not told" in called.err
    assert "xyzzy" not in called.out + called.err + caplog.text


@pytest.mark.parametrize(("sent", "timeout_s"), [(b"HTTP/1.1 200 OK\r\n\r\n", 30), (b"HTTP/1.1 200 OK\r\nx: ", 0.2)])
def test_a_webhook_that_never_ends_is_not_waited_for(sent: bytes, timeout_s: float) -> None:
    """A byte every twentieth of a second for ever: with a status before it is delivered, without one given up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def dribble() -> None:
            there, _ = server.accept()
            with there, suppress(OSError):
                there.sendall(sent)
                while True:
                    there.sendall(b"x")
                    time.sleep(0.05)

        thread = threading.Thread(target=dribble, daemon=True)
        thread.start()
        trouble = post_secretly(f"http://127.0.0.1:{server.getsockname()[1]}{SECRET}", b"{}", timeout_s=timeout_s)
        assert (trouble is None) == (timeout_s == 30)


def test_a_usage_report_is_checked_before_anything_is_paid_for(planned: Path) -> None:
    """A wrong cell: exit 2 with file, line and remedy, and no run was begun."""
    usage = planned.parent / "usage.csv"
    usage.write_text("day,model,cost\n2026-11-20,m,$4\n")
    called = here("nightly", planned, "--out", planned.parent / "results", "--usage", usage)
    assert called.code == 2
    assert "usage.csv:2" in called.err
    assert [path.name for path in (planned.parent / "results").iterdir() if path.is_dir()] == ["n1"]
    usage.write_text("day,model,cost\n2026-11-20,m,4\n")
    assert here(*report_only(planned, "--usage", usage)).code == 0
    assert "Beside the provider's usage report" in (planned.parent / "results" / "nightly-quick.md").read_text()


@pytest.mark.parametrize("text", ["45 minutes", "0", "25h", "-3m", "m"])
def test_a_deadline_that_is_none_is_refused(text: str, planned: Path) -> None:
    """Exit 2, and how to write one."""
    called = here(*report_only(planned, "--deadline", text))
    assert called.code == 2
    assert "45m" in called.err


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('expected = ["monday"]', "nightly.expected"),
        ("night = 3", "did you mean 'nights'"),
        ("least = 1", "nightly.least"),
    ],
)
def test_a_wrong_line_of_the_plans_table_is_named(line: str, problem: str, planned: Path) -> None:
    """Exit 2 with the line and what is wrong with it."""
    planned.write_text(planned.read_text() + f"[nightly]\n{line}\n")
    number = len(planned.read_text().splitlines())
    called = here(*report_only(planned))
    assert called.code == 2
    assert f"quick.toml:{number}" in called.err
    assert problem in called.err


def test_a_folder_that_is_not_there_is_not_made(planned: Path) -> None:
    """A misspelt --out: exit 2, and nothing is left behind."""
    called = here("nightly", planned, "--report-only", "--out", planned.parent / "resutls")
    assert called.code == 2
    assert not (planned.parent / "resutls").exists()
