"""A plan's change of documents before anything runs: what it comes to, its keys, and what it is checked against."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from records import record

from loadrig import corpus
from loadrig.config import read_plan
from loadrig.execution.changing import check_same, is_made, planned, quickest_first, warnings
from loadrig.log import RunLog
from loadrig.questions import load
from loadrig.retrievers.hybrid import Hybrid
from loadrig.words.change import AFTER, BEFORE, Made
from loadrig.words.errors import InputError
from loadrig.words.settings import NamedRetriever, Plan, UpdateSettings
from plans import plan

SHOWN = Path("plans/freshness.toml")


def test_the_plan_shown_changes_two_documents_and_two_keys() -> None:
    """One paper is corrected, one comes; its wording is told apart, and the keys are those of questions it asks."""
    shown = read_plan(SHOWN)
    before = corpus.load(shown.corpus)
    change = planned(shown, before, load(shown.questions, before))
    assert change is not None
    assert {document.id for document in change.update.documents} == {"06-minutes-2034-04-04", "12-minutes-2034-07-06"}
    assert len(change.after.documents) == len(before.documents) + 1
    assert {key.id for key in change.keys} == {"hb-sf-19", "hb-sf-20"}
    assert any("1,140 parcels" in span for span in change.wordings.old)
    assert warnings(change, before) == ()


def test_keys_of_questions_that_nobody_asks_are_an_error() -> None:
    """A file whose ids are others' is not what was meant."""
    shown = read_plan(SHOWN)
    before = corpus.load(shown.corpus)
    asked = tuple(one for one in load(shown.questions, before) if one.id == "hb-pa-01")
    with pytest.raises(InputError, match="no key of a question that is asked"):
        planned(shown, before, asked)


def test_texts_that_only_come_are_warned_of(tmp_path: Path) -> None:
    """A name that differs from a document's replaces nothing, and may not be meant."""
    (tmp_path / "apple.md").write_text("Apples are pruned in November, whatever anybody says.")
    small = plan(update=UpdateSettings(path=str(tmp_path), after_s=1))
    tiny = corpus.load(small.corpus)
    (told,) = warnings(planned(small, tiny, ()), tiny)
    assert told.startswith("[update] replaces no document: its 1 texts come to the others")
    assert planned(plan(), tiny, ()) is None


def test_a_run_is_not_taken_up_with_another_change(tmp_path: Path) -> None:
    """The hash of what comes after is on file: other texts, or no change any more, are refused."""
    (tmp_path / "new.md").write_text("Something that was never said before.")
    small = plan(update=UpdateSettings(path=str(tmp_path), after_s=1))
    change = planned(small, corpus.load(small.corpus), ())
    assert change is not None
    check_same(tmp_path, {"update": {"sha256": change.after.sha256}}, change)
    check_same(tmp_path, {}, None)
    for manifest, other in (({"update": {"sha256": "0"}}, change), ({}, change), ({"update": {"sha256": "0"}}, None)):
        with pytest.raises(InputError, match="differ from those this run was begun with"):
            check_same(tmp_path, manifest, other)


def test_documents_have_changed_by_the_drivers_word_or_a_trials(tmp_path: Path) -> None:
    """A driver that was killed at the instant may have had no time to write it; a record says it, too."""
    old, new = (record("t", corpus_version=version) for version in (BEFORE, AFTER))
    assert not is_made(tmp_path, [old])
    assert is_made(tmp_path, [old, new])
    with RunLog(tmp_path) as log:
        log.change(Made(1, "now", 5))
    assert is_made(tmp_path, [old])


def test_indexes_are_rebuilt_the_quickest_first_and_behind_their_parts() -> None:
    """A hybrid takes no time of its own, and all that of its slow part: it comes last, and bm25 does not wait."""
    both = NamedRetriever(name="both", kind="hybrid", options=Hybrid(of=("bm25", "dense")))
    named: Plan = replace(plan(), retriever=(both,))
    assert quickest_first({"both": 1, "dense": 900, "bm25": 40}, named) == ("bm25", "dense", "both")
