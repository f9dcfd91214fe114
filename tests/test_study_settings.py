"""A study's file is read once, and what is wrong in it is told with file, line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadrig.config import read_plan, read_study
from loadrig.words.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
STUDY = 'name = "s"\nplan = "p.toml"\n[[run]]\nname = "a"\n[[run]]\nname = "b"\nlimit = 3\n'


def read(folder: Path, text: str) -> InputError:
    (folder / "s.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_study(folder / "s.toml")
    return caught.value


def test_a_study_is_read(tmp_path: Path) -> None:
    """Runs in their order, with what they change."""
    (tmp_path / "s.toml").write_text(STUDY)
    found = read_study(tmp_path / "s.toml")
    assert [(run.name, run.limit) for run in found.run] == [("a", None), ("b", 3)]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (STUDY.replace('"b"', '"a"'), 6, "two runs are named 'a'"),
        (STUDY.replace("limit", "limt"), 7, "unknown key 'run.1.limt'"),
        (STUDY.replace("limit = 3", "limit = 0"), 7, "'run.1.limit': input should be greater than or equal to 1"),
        (STUDY.replace('"b"', '"b/c"'), 6, "'b/c' cannot be a run's name"),
        ('name = "s"\nplan = "p.toml"\n', None, "'run' is missing"),
        (STUDY + '[known]\nmoney_per_month = "much"\n', 9, "'much' is no amount of money"),
    ],
)
def test_what_is_wrong_is_told(text: str, line: int | None, said: str, tmp_path: Path) -> None:
    """The line of the key, and a remedy."""
    error = read(tmp_path, text)
    assert error.problem.startswith(said)
    assert (error.line, bool(error.remedy)) == (line, True)


def test_the_shipped_study_and_its_plans_are_read() -> None:
    """Each run's plan is one, and its first is what the others are held against."""
    study = read_study(ROOT / "plans" / "huskbook-study.toml")
    assert study.run[0].name == "original"
    for run in study.run:
        assert read_plan(ROOT / (run.plan or study.plan)).load.cycle is False
