"""Arms and retrievers of the user's own: those of the documentation work, and a broken one costs only its trials."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from command import QUICK, Called, loadrig, only_run, write_plan

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "extending.md").read_text()
ROOT = Path(__file__).resolve().parents[1]
HEAD = QUICK[: QUICK.index("[[arm]]")]
TAIL = QUICK[QUICK.index("[load]") :]
BROKEN = """\
from loadrig.arms.control import Control


class Broken(Control):
    @property
    def name(self):
        return "broken"

    async def answer(self, question, client):
        if question.id == "tiny-sf-01":
            return {}["missing"]
        return await super().answer(question, client)
"""
RAISING = """\
class Raising:
    def __init__(self, corpus):
        pass

    def search(self, query, k, caller, *, unit):
        raise ValueError(f"no {query[:4]}")
"""


def _run(folder: Path, monkeypatch: pytest.MonkeyPatch, modules: dict[str, str], arms: str, *flags: str) -> Called:
    """Runs a plan of these arms, in a folder that holds the modules."""
    for name, text in modules.items():
        (folder / name).write_text(text)
    for name in ("corpora", "questions"):
        (folder / name).symlink_to(ROOT / name)
    monkeypatch.chdir(folder)
    return loadrig("run", write_plan(folder, HEAD + arms + TAIL), "--out", folder / "results", *flags)


def test_the_arm_and_the_retriever_of_the_page_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied from docs/extending.md as they stand: three arms, all answered; the newest documents come first."""
    code = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
    arms = "".join(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
    called = _run(tmp_path, monkeypatch, code, arms)
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    assert {record.arm for record in run.records} == {"titles-10", "titles-100", "rag-newest.Newest-k3"}
    assert {len(record.retrieved) for record in run.records if record.arm.startswith("rag")} == {3}


def test_an_arm_that_raises_fails_its_trial_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of four questions raises: three answered, one arm_error with type and place, a report, exit code 1."""
    called = _run(tmp_path, monkeypatch, {"mine.py": BROKEN}, '[[arm]]\nkind = "mine:Broken"\n')
    assert called.code == 1, called.err
    run = only_run(tmp_path / "results")
    measured = [record for record in run.records if record.phase != "warmup"]
    assert Counter(record.outcome for record in measured) == {"answered": 3, "failed": 1}
    (failure,) = (record.failure for record in measured if record.failure)
    assert (failure.reason, failure.detail) == ("arm_error", "KeyError: 'missing' (mine.py:11)")
    assert run.manifest["status"] == "complete"
    assert "Traceback" not in called.err


@pytest.mark.parametrize("flags", [["--inline"], ["--workers", "2"]])
def test_a_retriever_that_raises_ends_no_run(flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search raises, inline and in processes: every trial fails by name, and the run ends with a report."""
    arms = '[[arm]]\nkind = "rag"\nretriever = "mine:Raising"\n'
    called = _run(tmp_path, monkeypatch, {"mine.py": RAISING}, arms, *flags)
    assert called.code == 1, called.err
    run = only_run(tmp_path / "results")
    assert Counter(record.reason for record in run.records) == {"arm_error": len(run.trials)}
    assert "ValueError: no " in run.records[0].failure.detail  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("module", "arm", "said"),
    [
        ("from dataclasses import dataclass\n@dataclass\nclass No:\n    x: int = 1\n", 'kind = "mine:No"', "is no arm"),
        ("class No:\n    pass\n", 'kind = "mine:No"', "is not a dataclass"),
        ("def No(corpus):\n    return 1 / 0\n", 'kind = "rag"\nretriever = "mine:No"', "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_runs(
    module: str, arm: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An arm without an arm's members, a plain class, an unbuildable retriever: exit code 2, nothing written."""
    called = _run(tmp_path, monkeypatch, {"mine.py": module}, f"[[arm]]\n{arm}\n")
    assert called.code == 2, called.err
    assert said in called.err
    assert not list((tmp_path / "results").glob("*"))
