"""Whole runs over retrievers with options: what an endpoint does wrong costs trials, what the user stops goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from command import LOADRIG, QUICK, loadrig, only_run, write_plan
from model_server import Model, by_words, serving

from loadrig.retrievers.minilm import minilm
from loadrig.retrievers.vectors import VARIABLE
from loadrig.words.errors import InputError

HEAD, TAIL = QUICK[: QUICK.index("[[arm]]")], QUICK[QUICK.index("[load]") :]
DENSE = """\
[[retriever]]
name = "served"
kind = "dense"
url = "URL"
batch = 2
query_prefix = "query: "
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
retriever = "served"
k = 2
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))


def plan(folder: Path, model: Model, corpus: str = "tiny") -> Path:
    return write_plan(folder, (HEAD + DENSE + TAIL).replace("URL", model.url).replace("tiny", corpus))


def test_a_query_that_the_endpoint_refuses_fails_its_trial_and_no_other(tmp_path: Path) -> None:
    """Passages are embedded, queries are answered with 503: each trial of that arm fails by name, control answers, and
    the manifest has the fingerprint of the index."""
    with serving(Model(by_words, refuses=lambda body: body["input"][0].startswith("query: "))) as model:
        called = loadrig("run", plan(tmp_path, model), "--out", tmp_path / "results", "--inline")
    assert called.code == 1, called.err
    assert "served: 5 of 5 passages are to be embedded" in called.err
    run = only_run(tmp_path / "results")
    outcomes = Counter((record.arm, record.outcome) for record in run.records if record.phase != "warmup")
    assert outcomes == {("control", "answered"): 4, ("rag-served-k2", "failed"): 4}
    failures = {(record.failure.reason, record.failure.detail) for record in run.records if record.failure}
    assert failures == {("arm_error", f"retriever 'served': {model.url} answered 503: {model.told}")}
    assert len(run.manifest["index"]["served"]["sha256"]) == 64


def test_a_build_is_stopped_at_once_and_goes_on_where_it_stood(tmp_path: Path) -> None:
    """SIGINT while passages are embedded: exit code 3 long before the build would end, no folder; begun again, every
    passage has been sent once."""
    slow = Model(lambda text: time.sleep(0.2) or by_words(text))  # type: ignore[func-returns-value]
    with serving(slow) as model:
        command = [*LOADRIG, "run", str(plan(tmp_path, model, "huskbook")), "--out", str(tmp_path / "results")]
        with subprocess.Popen([*command, "--inline", "--limit", "1"], stderr=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + 60
            while len(model.asked) < 3 and time.monotonic() < until and process.poll() is None:
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 3, err
        assert 3 <= len(model.asked) < 10  # of 19
        assert not list((tmp_path / "results").glob("*"))
        model.vector = by_words
        called = loadrig(*command[len(LOADRIG) :], "--inline", "--limit", "1")
        assert called.code == 0, called.err
    passages = [text for text in model.texts if not text.startswith("query: ")]
    assert len(passages) == len(set(passages)) == 38


def test_the_plan_of_the_ladder_runs(tmp_path: Path) -> None:
    """Every rung answers the same question, over a corpus of five passages."""
    try:
        minilm(256)
    except InputError as error:
        pytest.skip(f"{error.problem}; {error.remedy}")
    small = ("--corpus", "corpora/tiny", "--questions", "questions/tiny.jsonl", "--limit", "1", "--inline")
    called = loadrig("run", "plans/ladder.toml", *small, "--out", tmp_path / "results")
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    rungs = {"bm25", "stemmed", "bm25-okapi", "dense", "both", "reranked", "recent"}
    others = {"control", "rag-both-k3-docs", "agentic-both-h5-t12"}
    measured = [record for record in run.records if record.phase != "warmup"]
    assert {record.arm for record in measured} == {f"rag-{rung}-k5" for rung in rungs} | others
    assert {record.outcome for record in measured} == {"answered"}
    assert run.manifest["index"].keys() == rungs
