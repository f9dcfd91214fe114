"""Callers at the same load never see each other's documents: judged on the bytes that the endpoint received.

A small part of `benchmarks/access_proof.py`, and what shows that the judge would see a leak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from leaky import Shared
from tenants import CALLERS, Judged, World, arms, bodies_of, endpoint, fired, judged, made

from loadrig import corpus
from loadrig.arms import ARMS
from loadrig.arms.agentic import Agentic
from loadrig.arms.decompose import Decompose
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.log import RunFolder
from loadrig.words.arm import Arm
from loadrig.words.change import AFTER

WHOLE = FullContext(mixed_rights=True)


def run(folder: Path, of: Sequence[Arm] | None, *, questions: int = 1) -> tuple[World, RunFolder, Judged]:
    """One pass over so many questions of every caller, and the judgement; None: every arm with every retriever."""
    world = made(folder, questions=questions)
    chosen = arms(corpus.load(world.plan([], "").corpus))[0] if of is None else of
    with endpoint(folder, world) as (url, bodies):
        found = fired(world.plan(chosen, url), folder)
    return world, found, judged(world, found, bodies_of(bodies))


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, RunFolder, Judged]:
    return run(tmp_path_factory.mktemp("proof"), None)


def test_no_request_holds_what_its_caller_may_not_see(proof: tuple[World, RunFolder, Judged]) -> None:
    """C-09: every arm of the table with every retriever at sixteen in flight: not a single token of another's."""
    _, found, verdict = proof
    assert verdict.leaks == ()
    assert {record.caller for record in found.records} == set(CALLERS)
    assert verdict.bodies >= len(found.records)
    for kind in ARMS:  # each of them has sent something that could have been one
        assert any(name == kind or name.startswith((f"{kind}-", f"{kind}_")) for name in verdict.by_arm), kind


def test_every_trial_had_an_end_of_its_own(proof: tuple[World, RunFolder, Judged]) -> None:
    """Nothing was kept from leaking by failing."""
    _, found, _ = proof
    assert [(r.arm, r.failure) for r in found.records if r.outcome not in ("answered", "unanswered")] == []


def test_no_prefix_is_kept_for_two_callers(proof: tuple[World, RunFolder, Judged]) -> None:
    """C-13: what an endpoint is asked to keep differs from caller to caller, to the byte, though they see the same."""
    _, _, verdict = proof
    assert verdict.prefixes >= len(CALLERS)
    assert verdict.shared == ()


def test_what_is_hidden_is_answered_as_what_is_nowhere(proof: tuple[World, RunFolder, Judged]) -> None:
    """Ids of others, paths, and the like in other letters, in other encodings: one answer, the same bytes."""
    _, _, verdict = proof
    assert verdict.answers == {"There is no document NAME. list_documents shows the ids."}
    assert verdict.refused[True] > 0
    assert verdict.refused[False] > 0


def test_a_document_that_is_closed_in_mid_run_is_closed_from_then_on(tmp_path: Path) -> None:
    """Three papers of all and three of both tenants become the red one's: no trial that begins later shows another
    caller a word of them, old or new, whatever an older index finds. Before, others had them: it could have failed."""
    world = made(tmp_path, questions=1)
    some = [Rag(), WHOLE, replace(WHOLE, cache="5m"), Agentic(), Decompose(), Rag(unit="document")]
    with endpoint(tmp_path, world, base_ms=150.0) as (url, bodies):  # quicker ones would be through before the change
        found = fired(world.closed_in_mid_run(some, url, seconds=4.0), tmp_path)
    later = {record.arm for record in found.records if record.corpus_version == AFTER}
    assert later == {arm.name for arm in some}
    assert judged(world, found, bodies_of(bodies)).leaks == ()
    always = replace(world, access={**world.access, **world.closing})
    early = judged(always, found, bodies_of(bodies))
    assert {leak.caller for leak in early.leaks} >= {("blue",), ("guest",), ()}


def test_a_view_that_shows_everything_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof's own proof: with the filter broken every caller but the one who sees both gets what is not his."""
    monkeypatch.setattr("loadrig.corpus.view.sees", lambda caller, access: True)
    _, _, verdict = run(tmp_path, [WHOLE])
    assert {leak.caller for leak in verdict.leaks} == set(CALLERS) - {("red", "blue")}


def test_an_arm_that_remembers_one_callers_text_is_found(tmp_path: Path) -> None:
    """And with it the prefix that callers then share."""
    _, _, verdict = run(tmp_path, [Shared()], questions=2)
    assert {leak.where for leak in verdict.leaks} == {"shared"}
    assert verdict.shared


def test_a_retriever_that_knows_no_callers_is_stopped(tmp_path: Path) -> None:
    """A retriever of somebody's: what it should not have found never reaches a prompt, and the trial says why."""
    _, found, verdict = run(tmp_path, [Rag(retriever="leaky:build", k=20)])
    assert verdict.leaks == ()
    said = {record.caller: record.failure for record in found.records}
    assert said[("red", "blue")] is None
    guest = said[("guest",)]
    assert guest is not None
    assert "not among what the caller may see" in guest.detail
