"""Recall of documents and evidence."""

from __future__ import annotations

import pytest

from loadrig.measures.recall import evidence_share, recall
from loadrig.words.corpus import Evidence


@pytest.mark.parametrize(
    ("retrieved", "gold", "expected"),
    [(["a", "x"], ["a", "b"], 0.5), (["b", "a"], ["a", "b"], 1.0), (["x"], ["a"], 0.0), ([], ["a"], 0.0)],
)
def test_recall_is_the_share_of_gold_documents_credited(retrieved: list[str], gold: list[str], expected: float) -> None:
    """Found gold over gold; what else was found does not matter."""
    assert recall(retrieved, gold) == expected


def test_a_document_found_twice_counts_once() -> None:
    """Recall never passes 1, whatever repeats on either side."""
    assert recall(["a", "a", "a"], ["a", "b"]) == 0.5
    assert recall(["a", "a"], ["a", "a"]) == 1.0


def test_a_question_without_gold_has_no_recall() -> None:
    """Neither 0 nor 1: None, so that it can be left out of a mean and counted."""
    assert recall(["a"], []) is None
    assert evidence_share(["text"], []) is None


def test_a_quote_counts_when_one_text_holds_it_whole() -> None:
    """Other white space is no difference; a quote spread over two texts is not found."""
    evidence = [Evidence("a", "at most 2 members"), Evidence("b", "one two")]
    assert evidence_share(["... at  most\n2 members ...", "one", "two"], evidence) == 0.5
