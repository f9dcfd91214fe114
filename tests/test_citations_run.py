"""A whole run whose answers cite: planted spans are found, all of them and no other, from socket to report."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from command import loadrig, only_run
from small_run import Fired, fire

from loadrig.analysis.citations import Audit
from loadrig.arms.agentic import Agentic
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.config import read_plan
from loadrig.log import read_prompts
from loadrig.words.settings import CorpusSettings, ModelSettings, QuestionSettings
from plans import plan

QUICK = "base_ms = 2.0\ndecode_ms_per_token = 0.01\nprefill_us_per_token = 0.0\n"
ARMS = (
    Rag(citations="asked"), Rag(citations="blocks"), Rag(unit="document", k=3, citations="blocks"),
    FullContext(citations="asked"), Agentic(results="blocks"), Agentic(citations="asked"), Rag(k=3),
)  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Fired, Path]:
    """Seven arms and forty questions, over a model that makes up a tenth of its spans and misplaces another."""
    folder = tmp_path_factory.mktemp("cited")
    scenario = folder / "loose.toml"
    scenario.write_text(f"{QUICK}fabricates_citations = 0.1\nmisplaces_citations = 0.1\n")
    small = plan(
        *ARMS, model=(ModelSettings(id="m-1"),), corpus=CorpusSettings(path="corpora/huskbook"),
        questions=QuestionSettings(path="questions/huskbook.jsonl", limit=40), load={"concurrency": (8,)},
    )  # fmt: skip
    return fire(small, {"m-1": scenario}, folder), folder


def test_every_planted_span_is_found_and_no_other(ran: tuple[Fired, Path]) -> None:
    """B-09: trial by trial, what the simulator's own log says it planted is what the audit finds."""
    fired, folder = ran
    rows = [json.loads(line) for line in (folder / "run" / "truth-m-1.jsonl").read_text().splitlines()]
    planted: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for kind in ("spans", "fabricated", "misplaced"):
            planted[row["attempt"].rsplit(".", maxsplit=2)[0], kind] += row[kind]
    audit = Audit(read_prompts(fired.run.path))
    found: Counter[tuple[str, str]] = Counter()
    for record in fired.run.records:
        for span in audit.spans(record):
            found[record.trial, "spans"] += 1
            found[record.trial, span.verdict] += 1
    wrong = {key: n for key, n in found.items() if key[1] != "sent"}
    assert +planted == +Counter(wrong)
    assert min(sum(n for key, n in planted.items() if key[1] == kind) for kind in ("fabricated", "misplaced")) > 20


def test_the_report_counts_what_was_planted(ran: tuple[Fired, Path]) -> None:
    """By arm; an arm that was not to cite is not there, and nothing was left unchecked."""
    fired, _ = ran
    arms = fired.summary.behaviour.citations
    assert [arm.arm for arm in arms] == [arm.name for arm in ARMS[:-1]]
    for arm in arms:
        whole = arm.categories[0]
        assert whole.spans == whole.sent + whole.fabricated + whole.misplaced > 20
        assert whole.unchecked == 0
        assert whole.rate is not None


def test_answers_with_quotes_are_graded_without_them(ran: tuple[Fired, Path]) -> None:
    """The record's answer has no quotes, its turn has; both arms answer about as well as the one that does not cite."""
    records = ran[0].records("m-1")
    asked = [record for record in records if record.arm == "rag-bm25-k5-quotes" and record.citations]
    assert not any("<quote" in record.answer for record in asked)
    assert all("<quote" in record.turns[-1].text for record in asked)
    right = {arm.arm: arm.categories[0].right for arm in ran[0].summary.accuracy}
    assert abs(right["rag-bm25-k5-quotes"] - right["rag-bm25-k5-blocks"]) <= 4


def test_evidence_in_blocks_is_seen_as_evidence(ran: tuple[Fired, Path]) -> None:
    """Recall of quotes and reading misses know search results: the same passages, the same figures."""
    rows = {row.arm: row.categories[0] for row in ran[0].summary.recall}
    blocks, quotes = rows["rag-bm25-k5-blocks"], rows["rag-bm25-k5-quotes"]
    assert blocks.evidence == quotes.evidence
    assert blocks.recall == quotes.recall


def test_the_plan_of_agents_runs(tmp_path: Path) -> None:
    """C-11: over words and over a hybrid, whose parts need no model; each searches, reads and answers."""
    small = ("--corpus", "corpora/tiny", "--questions", "questions/tiny.jsonl", "--limit", "1", "--inline")
    called = loadrig("run", "plans/agentic.toml", *small, "--out", tmp_path / "results")
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    measured = {record.arm: record for record in run.records if record.phase != "warmup"}
    agents = {f"agentic{name}" for name in ("", "-blocks", "-fused-h5-t12", "-fused-h5-t12-blocks", "-b15000")}
    assert measured.keys() == agents | {"control"}
    assert {record.outcome for record in measured.values()} == {"answered"}
    assert all("search" in [call.name for call in measured[arm].turns[0].tool_calls] for arm in agents)
    assert run.manifest["index"].keys() == {"bm25", "bm25-okapi", "fused"}


def test_the_plan_of_citations_can_be_read() -> None:
    """Every arm of it has a name of its own."""
    arms = read_plan(Path("plans/citations.toml")).arms
    assert len({arm.name for arm in arms}) == len(arms) == 6
