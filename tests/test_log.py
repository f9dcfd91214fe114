"""The run's folder: what is written comes back, whatever cut it short, and one process writes it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from records import attempt, failed, record, trial_of, turn, write_run

from loadrig.log import (
    MANIFEST,
    PLAN,
    QUESTIONS,
    RECORDS,
    RunLog,
    count_records,
    leave_out,
    read_prompts,
    read_run,
    write_json,
)
from loadrig.words.corpus import Hit
from loadrig.words.errors import InputError, LogError
from loadrig.words.prompt import Citation
from loadrig.words.record import Failure, Gaps, ToolCall, Usage

READ = ToolCall("read", "{}", ok=True, docs=("a.md",), ns=9)
REFUSED = attempt(failure=Failure("http_5xx", "ä", http_status=500), rate_limit=(("x", "1"),))
FULL = record(
    "t1", try_no=2, caller=("staff",), route="a", citations=(Citation("a span", "a.md"),), cost="0.00012",
    currency="USD", begin_ns=1,
    end_ns=2, usage=Usage(input=1, cache_read=2, output=3, exact=False, flags=("odd",)),
    retrieved=(Hit("a.md", "a.md#0", 1.5),),
    turns=(turn("0.00012", prompt=("h1", "h2"), gaps=Gaps(3, 1, 2, 3), tool_calls=(READ,)), turn(attempts=(REFUSED,))),
)  # fmt: skip
LOCKING = "import sys; from pathlib import Path; from loadrig.log import RunLog\n" + (
    "with RunLog(Path(sys.argv[1])):\n    print('locked', flush=True)\n    sys.stdin.read()"
)
FILLING = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from loadrig.log import RunLog
from loadrig.words.errors import LogError
from records import record
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
written = 0
try:
    with RunLog(Path(sys.argv[1])) as log:
        for number in range(1000):
            log.append([record(f"t{number}")], {})
            written += 1
except LogError as error:
    print(written, error)
"""
FREED = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from loadrig.log import RunLog
from loadrig.words.errors import LogError
from records import record
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, most))
with RunLog(Path(sys.argv[1])) as log:
    for number in range(5):
        try:
            log.append([record(f"t{number}", answer="x" * 2300)], {})
        except LogError:
            print("full at", number)
            break
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    log.append([record("later", answer="x" * 2300)], {})
"""


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Every kind of field, turns and attempts included; the trial it answers, and the manifest, with it."""
    run = read_run(write_run(tmp_path, [FULL, failed("t2")]))
    assert run.records == (FULL, failed("t2"))
    assert [trial.id for trial in run.trials] == ["t1", "t2"]
    assert run.manifest["run"] == "r1"


def test_the_first_line_is_the_schema_and_then_a_line_is_a_record(tmp_path: Path) -> None:
    """Schema 1; `try` is the name in the file of what Python cannot call so."""
    write_run(tmp_path, [FULL])
    head, line = (json.loads(line) for line in (tmp_path / RECORDS).read_text().splitlines())
    assert head == {"schema": 1, "kind": "loadrig records"}
    assert (line["trial"], line["try"], line["schema"]) == ("t1", 2, 1)


def test_the_highest_try_counts_and_the_others_stay(tmp_path: Path) -> None:
    """Try 2 is before try 1 in the file and counts all the same; the other is superseded, not gone."""
    first, second = failed("t1", "lost"), record("t1", try_no=2)
    run = read_run(write_run(tmp_path, [second, first]))
    assert (run.records, run.superseded) == ((second,), (first,))
    run = read_run(write_run(tmp_path / "other", [first, second]))
    assert (run.records, run.superseded) == ((second,), (first,))


def test_a_new_line_does_not_glue_to_a_torn_one(tmp_path: Path) -> None:
    """I8: cut in the middle of the second record, the first is there; what is appended begins on a line of its own."""
    write_run(tmp_path, [record("t1"), record("t2")])
    records = tmp_path / RECORDS
    records.write_bytes(records.read_bytes()[:-10])
    assert [one.trial for one in read_run(tmp_path).records] == ["t1"]
    with RunLog(tmp_path) as log:
        log.append([record("t3")], {})
    assert [one.trial for one in read_run(tmp_path).records] == ["t1", "t3"]


def test_a_torn_line_is_not_counted(tmp_path: Path) -> None:
    """Two records and the beginning of a third are two; a folder without records has none."""
    assert count_records(tmp_path) == 0
    write_run(tmp_path, [record("a"), record("b")])
    with (tmp_path / RECORDS).open("ab") as file:
        file.write(b'{"trial": "c"')
    assert count_records(tmp_path) == 2


def test_each_record_belongs_to_the_session_that_wrote_it(tmp_path: Path) -> None:
    """Two were on file when the second session began, none more when the third did, which wrote what came then, the
    second try of a trial among it. What one session wrote needs no numbers."""
    records = [record("a"), record("b"), record("c"), record("a", try_no=2)]
    counted = [{"records": 0}, {"records": 2}, {"records": 2}]
    found = read_run(write_run(tmp_path, records, sessions=counted)).sessions
    assert found == {("a", 1): 1, ("b", 1): 1, ("c", 1): 3, ("a", 2): 3}
    assert read_run(write_run(tmp_path / "one", records, sessions=counted[:1])).sessions == {}


def test_a_torn_prompt_is_written_again(tmp_path: Path) -> None:
    """Whoever was killed while writing a fragment has not written it."""
    write_run(tmp_path, [record("t1")], prompts={"h1": b"one", "h2": b"two"})
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_bytes(prompts.read_bytes()[:-3])
    assert read_prompts(tmp_path) == {"h1": b"one"}
    with RunLog(tmp_path) as log:
        log.append([], {"h2": b"two"})
    assert read_prompts(tmp_path) == {"h1": b"one", "h2": b"two"}


def test_a_prompt_is_written_once(tmp_path: Path) -> None:
    """The same fragment in three batches, the last after the file was opened again: one line."""
    with RunLog(tmp_path) as log:
        log.append([], {"h1": 'say "é"\n'.encode()})
        log.append([], {"h1": 'say "é"\n'.encode(), "h2": b"two"})
    with RunLog(tmp_path) as log:
        log.append([], {"h1": 'say "é"\n'.encode()})
    assert len((tmp_path / "prompts.jsonl").read_bytes().splitlines()) == 2
    assert read_prompts(tmp_path)["h1"] == 'say "é"\n'.encode()


def test_a_record_is_on_file_before_the_next_comes(tmp_path: Path) -> None:
    """I3: whatever ends the process, what was appended can be read; nothing waits for the end."""
    write_run(tmp_path, [])
    with RunLog(tmp_path) as log:
        log.append([record("t1")], {"h1": b"one"})
        assert [one.trial for one in read_run(tmp_path).records] == ["t1"]
        assert read_prompts(tmp_path) == {"h1": b"one"}


@contextmanager
def _another_writer(folder: Path) -> Iterator[None]:
    with subprocess.Popen(
        [sys.executable, "-c", LOCKING, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "locked\n"
        yield
        process.stdin.close()


def test_a_run_has_one_writer(tmp_path: Path) -> None:
    """As long as another process writes the run, and not longer; reading it is nobody's business."""
    write_run(tmp_path, [record("t1")])
    with _another_writer(tmp_path):
        with pytest.raises(InputError, match="another process is writing this run"):
            RunLog(tmp_path)
        assert len(read_run(tmp_path).records) == 1
    RunLog(tmp_path).close()


def test_a_full_disk_is_one_line_and_loses_nothing_before_it(tmp_path: Path) -> None:
    """A file that may not grow over 20,000 bytes: one LogError with folder and reason, every record before it whole."""
    write_run(tmp_path, [])
    command = [sys.executable, "-c", FILLING, str(tmp_path), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    (said,) = done.stdout.splitlines()
    written, _, told = said.partition(" ")
    assert told == f"{tmp_path}: records cannot be written: [Errno 27] File too large"
    assert 10 < int(written) == len(read_run(tmp_path).records)


def test_what_a_full_disk_took_in_part_is_cut_off_and_the_next_record_is_whole(tmp_path: Path) -> None:
    """Records of 3,000 bytes, room for 10,000, then for more: what did not fit is not on file, what comes after is."""
    write_run(tmp_path, [])
    command = [sys.executable, "-c", FREED, str(tmp_path), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "full at 3\n")
    assert [one.trial for one in read_run(tmp_path).records] == ["t0", "t1", "t2", "later"]


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """Records that a later loadrig wrote are not read half: an error with file and line."""
    records = write_run(tmp_path, [record("t1")]) / RECORDS
    records.write_bytes(records.read_bytes().replace(b'"schema":1', b'"schema":2'))
    with pytest.raises(InputError, match=r"records\.jsonl:1: records of schema 2, this loadrig reads 1"):
        read_run(tmp_path)


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    """A line somebody edited is an error with its number, not a trial less."""
    with (write_run(tmp_path, [record("t1")]) / RECORDS).open("a") as file:
        file.write('{"trial":"t2"}\n')
    with pytest.raises(InputError, match=r"records\.jsonl:3: not a record"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        (MANIFEST, '{"run": [', r"manifest\.json: cannot"),
        (MANIFEST, "[]", r"manifest\.json: cannot"),
        (MANIFEST, "\udcff", r"manifest\.json: cannot"),
        (RECORDS, "[]\n", r"records\.jsonl:1: cannot"),
        (PLAN, '{"id": 1}\n', r"plan\.jsonl:1: cannot"),
        (QUESTIONS, "nothing\n", r"questions\.jsonl:1: cannot"),
    ],
)
def test_a_damaged_file_of_a_run_is_named(tmp_path: Path, file: str, text: str, place: str) -> None:
    """Cut, of another kind, not UTF-8, not JSON: an error with the file, the line and what to do."""
    write_run(tmp_path, [record("t1")])
    (tmp_path / file).write_text(text, errors="surrogateescape")
    with pytest.raises(InputError, match=place):
        read_run(tmp_path)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    """Without records or manifest there is nothing to report or to take up."""
    with pytest.raises(InputError, match="not a run folder"):
        read_run(tmp_path)


def test_a_manifest_that_cannot_be_written_is_a_log_error(tmp_path: Path) -> None:
    """The folder is gone: one error, with the file's name."""
    with pytest.raises(LogError, match=r"manifest\.json cannot be written"):
        write_json(tmp_path / "gone" / "manifest.json", {})


def test_what_a_stage_had_no_time_for_leaves_the_plan_on_file(tmp_path: Path) -> None:
    """Of two planned trials one was left out: the other stays as it was, and nothing is missing."""
    write_run(tmp_path, [record("a")], trials=[trial_of(record("a")), trial_of(record("b"), 1)])
    leave_out(tmp_path, {"b"})
    assert read_run(tmp_path).trials == (trial_of(record("a")),)
