"""What the user can get wrong: each kind is named with its remedy, exit code 2, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command import QUICK, loadrig, write_plan
from texts import rows, write

GOOD_QUESTION = {"id": "q1", "category": "c", "question": "Who?", "reference": "She.", "gold": ["a.md"]}


def _corpus(folder: Path, questions: str) -> str:
    write(folder, {"docs/a.md": "She did.", "q.jsonl": questions})
    text = QUICK.replace("corpora/tiny", str(folder / "docs"))
    return text.replace("questions/tiny.jsonl", str(folder / "q.jsonl"))


CASES: dict[str, tuple[Callable[[Path], str], str]] = {
    "unknown key": (lambda _: QUICK.replace("warmup", "warmap"), "did you mean 'warmup'"),
    "wrong type": (lambda _: QUICK.replace("warmup = 2", 'warmup = "two"'), "valid integer"),
    "absent corpus": (lambda _: QUICK.replace("corpora/tiny", "corpora/tinny"), "corpora/tinny"),
    "empty corpus": (lambda at: QUICK.replace("corpora/tiny", str(write(at / "e", {"a.md": " \n"}))), "empty"),
    "bad JSONL line": (lambda at: _corpus(at, rows(GOOD_QUESTION) + "{nope\n"), "q.jsonl:2"),
    "duplicate question id": (lambda at: _corpus(at, rows(GOOD_QUESTION, GOOD_QUESTION)), "q.jsonl:2"),
    "gold id not in corpus": (lambda at: _corpus(at, rows({**GOOD_QUESTION, "gold": ["b.md"]})), "b.md"),
    "unknown arm": (lambda _: QUICK.replace('"rag"', '"rug"'), "did you mean 'rag'"),
    "unknown retriever": (lambda _: QUICK.replace("k = [1, 5]", 'retriever = "bm26"'), "did you mean"),
    "unknown provider": (lambda _: QUICK.replace('id = "cl', 'provider = "x"\nid = "cl'), "unknown provider"),
    "no key": (lambda _: QUICK.replace('base_url = "simulator"', ""), "ANTHROPIC_API_KEY"),
    "unknown scenario": (lambda _: QUICK.replace("SCENARIO", "nope"), "nope"),
    "budget": (lambda _: QUICK + '[budget]\nmoney = "a lot"\n', "no amount of money"),
    "price table": (lambda _: QUICK + '[prices]\npath = "nope.toml"\n', "nope.toml"),
    "overlap": (lambda _: QUICK.replace('y"', 'y"\nchunk_overlap = 400', 1), "overlap"),
}


@pytest.mark.parametrize("kind", CASES)
def test_wrong_input_is_named_and_nothing_is_written(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, the place and the remedy on standard error, no run folder, no traceback."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    make, said = CASES[kind]
    called = loadrig("run", write_plan(tmp_path, make(tmp_path)), "--out", tmp_path / "results")
    assert called.code == 2, called.err
    assert said in called.err
    assert "remedy: " in called.err
    assert "Traceback" not in called.err
    assert not list((tmp_path / "results").glob("*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "plans/nope.toml"], "no such plan"),
        (["run", "plans/quickstart.toml", "--arm", "rug"], "unknown arm 'rug'"),
        (["run", "plans/quickstart.toml", "--concurrency", "0"], "Invalid value"),
        (["run", "plans/quickstart.toml", "--resume", "nowhere"], "not a run folder"),
        (["run", "plans/quickstart.toml", "--workers", "4096"], "the workers ask for 2048 CPUs"),
        (["run", "plans/quickstart.toml", "--workers", "4096", "--fleet", "ray"], "the workers ask for 2048 CPUs"),
        (["run", "plans/quickstart.toml", "--fleet", "inline"], "2 workers inline"),
        (["run", "plans/quickstart.toml", "--fleet", "rays"], "one of: inline, process, ray"),
        (["sweep", "plans/quickstart.toml", "--levels", "1,x"], "--levels '1,x'"),
        (["report", "nowhere"], "not a run folder"),
        (["nightly", "plans/quickstart.toml", "--report-only", "--out", "nowhere"], "nowhere"),
        (["simulate", "--scenario", "nope"], "nope"),
        (["corpus", "stats", "nowhere"], "nowhere"),
        (["fly"], "No such command"),
    ],
)
def test_wrong_usage_is_named(arguments: list[str], said: str) -> None:
    """Every command answers a wrong flag or file with exit code 2 and what is wrong."""
    called = loadrig(*arguments)
    assert called.code == 2, called.err
    assert said in called.err.replace("\n", " ")
    assert "Traceback" not in called.err
