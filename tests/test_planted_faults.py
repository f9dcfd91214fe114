"""Faults of the instrument, planted one at a time: the check for it catches each, and clean providers alarm none.

A quick part of `benchmarks/planted_faults.py`: each provider is a model of one run. What is drawn follows from a seed
that stands in every failing test's message.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random

import pytest
from partial_judges import fair, held, leaning, mannered, partial, sheet
from planting import BESIDE, Fault, Study, alarms, beside, faults, run, seen_beside, side_by_side

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder

SEED = time.time_ns() % 1_000_000
TINY = Study(repetitions=3)
HUSKBOOK = ("corpora/huskbook", "questions/huskbook.jsonl")
CLEAN = [f"clean{number}" for number in range(5)]
WHOLE = 700  # tokens of the longest prompt over the tiny corpus, by the simulator's count


def planted() -> dict[str, Fault]:
    """One fault of each kind: at its stated strength or at a drawn one, as the seed has it."""
    chance = Random(SEED)
    asked = [json.loads(line)["question"] for line in Path(TINY.questions).read_text().splitlines()]
    kinds: dict[str, list[Fault]] = {}
    for fault in faults(TINY, WHOLE, asked, chance):
        if fault.crediting_rule is None:  # a rule is of a run, not of a provider
            kinds.setdefault(fault.name, []).append(fault)
    return {f"fault{number}": chance.choice(found) for number, found in enumerate(kinds.values())}


PLANTED = planted()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, Summary]:
    """Five clean providers and one for each kind of fault, in one run."""
    clean = {name: Fault("clean", "", ()) for name in CLEAN}
    return side_by_side(TINY, {**clean, **PLANTED}, tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_caught_by_a_check_that_names_it(ran: tuple[RunFolder, Summary], name: str) -> None:
    """A-80 to A-83, A-140: whatever its strength, a check meant for it fails or warns."""
    fault = PLANTED[name]
    found = alarms(ran[1], name)
    assert set(found) & set(fault.caught_by), f"seed {SEED}: {fault} raised {found}"


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_provider_raises_no_alarm(ran: tuple[RunFolder, Summary], name: str) -> None:
    """Nothing fails and nothing warns where nothing is wrong."""
    assert alarms(ran[1], name) == {}


def test_a_factor_that_no_run_shows_is_caught_beside_a_clean_run(tmp_path: Path) -> None:
    """A-81: where nothing is counted the run itself says "not checked", and a comparison names the factor."""
    clean, _ = run(TINY, Fault("clean", "", ()), tmp_path / "clean", seed=1)
    again, _ = run(TINY, Fault("clean", "", ()), tmp_path / "again", seed=2)
    fault = Random(SEED).choice(seen_beside(Random(SEED)))
    found, summary = run(TINY, fault, tmp_path / "fault", seed=3)
    assert alarms(summary) == {}, f"seed {SEED}"
    assert [one.verdict for one in summary.safeguards if one.name == "prompt tokens"] == ["not checked"]
    assert set(beside(clean, found)) == {BESIDE}, f"seed {SEED}: {fault}"
    assert beside(clean, again) == {}


def test_a_judge_that_prefers_one_arm_is_caught_and_a_fair_one_is_not(tmp_path: Path) -> None:
    """A-86: it takes a sentence that ends answers of full context for a sign that they are right."""
    judged, _ = run(Study(*HUSKBOOK, limit=30, repetitions=1), mannered(1.0), tmp_path / "judged")
    sheet(judged)
    assert set(leaning(held(judged, partial(1.0, drawn=False), tmp_path / "partial"))) == {"full_context"}
    assert leaning(held(judged, fair(), tmp_path / "fair", seed=1)) == {}


def test_the_probe_is_on_record_and_on_a_line_of_the_bill(ran: tuple[RunFolder, Summary]) -> None:
    """A-80, A-85: a call or two a model before the first trial, in no count of trials, with what was asked on file."""
    run, summary = ran
    assert {record.model for record in run.probes} == {*CLEAN, *PLANTED}
    assert {record.phase for record in run.probes} == {"probe"}
    assert max(record.end_ns or 0 for record in run.probes) < min(record.begin_ns or 0 for record in run.records)
    assert "probe" in [line.name for line in summary.bill.lines]
    assert summary.counts[0].planned == len(run.records)
    assert run.manifest["safeguards"]
