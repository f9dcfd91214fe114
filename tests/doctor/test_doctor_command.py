"""`loadrig doctor` as a user calls it: what is printed, what is written, and the exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import QUICK, here, write_plan
from examined import simulator, web_server


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with simulator(tmp_path_factory.mktemp("simulator")) as url:
        yield url


def test_a_page_and_a_file_are_written_of_a_good_endpoint(target: str, tmp_path: Path) -> None:
    """What will be sent comes first, then the verdict, then groups; the file has the same findings; exit code 0."""
    called = here("doctor", "--base-url", target, "--model", "claude-haiku-5-5", "--json", tmp_path / "found.json")
    assert called.code == 0, called.out + called.err
    places = [
        called.out.index(one) for one in ("sending at most", "A run makes sense here.", "Can be measured", "usage")
    ]
    assert places == sorted(places)
    assert "Cannot be measured" not in called.out
    (found,) = json.loads((tmp_path / "found.json").read_text())
    assert (found["makes_sense"], found["model"]) == (True, "claude-haiku-5-5")
    assert {one["state"] for one in found["findings"]} == {"ok", "not there"}


def test_the_page_of_the_docs_explains_every_check(target: str, tmp_path: Path) -> None:
    """Each stands in its table, by the name that is printed."""
    here("doctor", "--base-url", target, "--json", tmp_path / "found.json")
    checks = {one["check"] for one in json.loads((tmp_path / "found.json").read_text())[0]["findings"]}
    text = (Path(__file__).resolve().parents[2] / "docs" / "doctor.md").read_text()
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")]
    assert checks - {name.strip() for cell in cells for name in cell.split(",")} == set()


def test_a_run_that_makes_no_sense_is_exit_code_one(tmp_path: Path) -> None:
    """A plain web server, in every dialect and with `/v1` behind its address; one page, and nothing of a traceback."""
    with web_server() as url:
        called = here("doctor", "--base-url", url)
    assert called.code == 1
    assert "A run makes no sense here: HTTP 501" in called.out.replace("\n", " ")
    assert "Traceback" not in called.out + called.err


def test_the_models_of_a_plan_are_examined_as_the_plan_has_them(tmp_path: Path) -> None:
    """The embedded simulator with the plan's scenario, started for the time being."""
    called = here("doctor", write_plan(tmp_path))
    assert called.code == 0, called.out + called.err
    assert "claude-haiku-5-5 at http://127.0.0.1:" in called.out


@pytest.mark.parametrize(("flags", "problem"), [
    ([], "no endpoint is named"), (["--base-url", "http://h", "--header", "x"], "--header without a colon"),
    (["--base-url", "http://h", "--header", "Host: x"], "belongs to the connection"),
    (["--base-url", "http://h", "--header", "x-api-key: abcdef"], "a secret stands in"),
    (["--base-url", "ftp://h"], "not a base URL"), (["--base-url", "http://h", "--provider", "nobody"], "nobody"),
    (["--base-url", "http://h", "--ca-file", "gone.pem"], "gone.pem"), (["PLAN", "--path", "/x"], "a plan and --path"),
    (["PLAN", "--model", "other"], "the plan has no model 'other'"), (["gone.toml"], "no such plan"),
])  # fmt: skip
def test_wrong_usage_is_exit_code_two(flags: list[str], problem: str, tmp_path: Path) -> None:
    """With a remedy, before anything is sent; no value of a header is told."""
    plan = write_plan(tmp_path, QUICK)
    called = here("doctor", *(str(plan) if flag == "PLAN" else flag for flag in flags))
    assert called.code == 2, called.out
    assert problem in called.err
    assert "remedy" in called.err
    assert "abcdef" not in called.err


def test_headers_and_path_of_the_command_line_are_sent(target: str) -> None:
    """A path that the simulator does not know is not there, though the simulator is."""
    called = here("doctor", "--base-url", target, "--provider", "anthropic", "--path", "/gate", "--header", "x-a: b")
    assert called.code == 1
    assert "HTTP 404" in called.out
    assert "have headers of the plan: x-a" in called.out.replace("\n", " ")
