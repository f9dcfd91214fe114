"""`loadrig compare` as a user calls it: exit codes, files, and every command of its page."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from command import loadrig
from compared import SETTINGS, answers
from records import write_run

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "compare.md"
COMMANDS = [
    line.partition("#")[0].strip() for line in PAGE.read_text().splitlines() if line.startswith("    .venv/bin/loadrig")
]
ARMS = ("rag-bm25-k5", "rag-bm25-k10")


def two_runs(folder: Path, *, lost: int, n: int = 40) -> tuple[Path, Path]:
    """A baseline that is right on all of n questions in two arms, and a run that loses some."""
    return tuple(  # type: ignore[return-value]
        write_run(
            folder / "results" / name, [r for arm in ARMS for r in answers(right, n, arm=arm)],
            **{**SETTINGS, "run": name},
        )
        for name, right in (("MAIN", n), ("BRANCH", n - lost))
    )  # fmt: skip


def test_the_page_has_its_commands() -> None:
    """Two runs, one arm, two arms of a run, a gate, and a gate with objectives."""
    assert len(COMMANDS) == 5


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_page_works(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 0 on runs of which one loses two of 40 questions, 5.0 points; the report is where the page says."""
    two_runs(tmp_path, lost=2)
    monkeypatch.chdir(tmp_path)
    called = loadrig(*shlex.split(line)[1:])
    assert called.code == 0, called.out + called.err
    assert "inside noise" in called.out
    folder = "BRANCH" if "BRANCH" in line else "MAIN"
    assert {path.name for path in (tmp_path / "results" / folder).glob("compare.*")} == {
        "compare.md", "compare.json", "compare.html",
    }  # fmt: skip


def test_a_gate_that_fails_exits_with_one(tmp_path: Path) -> None:
    """Three of 40 are 7.5 points: 1 with the gate, 0 without; --out takes the files."""
    main, branch = two_runs(tmp_path, lost=3)
    gated, plain = loadrig("compare", main, branch, "--gate", "--out", tmp_path / "x"), loadrig("compare", main, branch)
    assert (gated.code, plain.code) == (1, 0)
    assert "Gate: FAILED" in gated.out
    assert "-7.5 points, 40/40 to 37/40; inside noise at n = 40" in gated.out
    assert (tmp_path / "x" / "compare.md").is_file()


def test_an_objective_that_is_broken_exits_with_one(tmp_path: Path) -> None:
    """Trials of 1 s against a limit of half a second; accuracy is not asked for."""
    main, branch = two_runs(tmp_path, lost=20)
    called = loadrig("compare", main, branch, "--gate-objective", "latency_p95<500ms")
    assert called.code == 1
    assert "accuracy falls" not in called.out


def test_a_gate_holds_a_run_to_its_own_plan(tmp_path: Path) -> None:
    """Nothing is lost, but the plan of B promised a p95 of half a second, and trials take 1 s."""
    main, _ = two_runs(tmp_path, lost=0)
    promised = {"name": "latency_p95", "measure": "service", "q": 0.95, "limit": 5e8}
    manifest = {**SETTINGS, "run": "P", "plan": {**SETTINGS["plan"], "objectives": [promised]}}
    other = write_run(tmp_path / "results" / "P", answers(40, 40, arm=ARMS[0]), **manifest)
    called = loadrig("compare", main, other, "--gate")
    assert called.code == 1
    assert "latency_p95 < 0.5 s" in called.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("MAIN", "NOWHERE"), "not a run folder"),
        (("MAIN",), "nothing to compare"),
        (("MAIN", "BRANCH", "--arm", "other"), "no arm 'other'"),
        (("MAIN", "BRANCH", "--gate-objective", "speed<2s"), "unknown objective"),
        (("MAIN", "BRANCH", "--gate-objective", "ttft_p95"), "has no <"),
    ],
)
def test_wrong_input_exits_with_two(arguments: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    """Named, with a remedy and without a traceback; nothing is written."""
    two_runs(tmp_path, lost=0)
    called = loadrig("compare", *(tmp_path / "results" / a if a.isupper() else a for a in arguments))
    assert called.code == 2
    assert problem in called.err
    assert "remedy" in called.err
    assert list(tmp_path.rglob("compare.*")) == []
