"""What can be found wrong with a corpus and its questions before any run."""

from __future__ import annotations

from pathlib import Path

from texts import loaded

from loadrig.corpus.checks import Finding, check, stats
from loadrig.graders.precheck import passes
from loadrig.words.corpus import Evidence, Question

GOOD = Question(
    id="q", category="supersession", question="How long is a session?", reference="12 hours.", gold=("a.txt",),
    must_contain=("12 hours||twelve hours",), stale=("8 hours",), amending=("a.txt",),
    evidence=(Evidence("a.txt", "lasts 12 hours"),),
)  # fmt: skip
TEXT = "A session\nlasts 12\n hours."


def faults(folder: Path, question: Question, **settings: int) -> list[str]:
    return [finding.fault for finding in check(loaded(folder, {"a.txt": TEXT}, **settings), [question], passes)]


def test_a_sound_question_has_no_finding(tmp_path: Path) -> None:
    """A quote that is wrapped otherwise in the text counts as found."""
    assert faults(tmp_path, GOOD) == []


def test_documents_that_are_not_there_are_found(tmp_path: Path) -> None:
    """Gold, amending and evidence ids are each held against the corpus."""
    question = Question("q", "c", "?", "r", gold=("b",), amending=("c",), evidence=(Evidence("d", "x"),))
    found = check(loaded(tmp_path, {"a.txt": TEXT}), [question], passes)
    assert [finding.detail for finding in found] == ["b", "c", "d"]
    assert found[0] == Finding("q", "gold document is not in the corpus", "b")


def test_a_quote_that_is_not_in_the_text_is_found(tmp_path: Path) -> None:
    """A paraphrase is no quote."""
    question = Question("q", "c", "?", "r", evidence=(Evidence("a.txt", "lasts twelve hours"),))
    assert faults(tmp_path, question) == ["quote is not in its document"]


def test_a_quote_that_no_chunk_holds_is_found(tmp_path: Path) -> None:
    """Chunks of four tokens cut the quote, so no passage could show it."""
    question = Question("q", "c", "?", "r", evidence=(Evidence("a.txt", "A session lasts 12 hours"),))
    assert faults(tmp_path, question, chunk_tokens=4, chunk_overlap=0) == ["quote is in no single chunk"]


def test_a_pre_check_that_cannot_tell_is_found(tmp_path: Path) -> None:
    """A reference that fails, a stale value that passes and a question that passes its own pre-check."""
    question = Question("q", "c", "Is it 8 hours?", "12 hours", must_contain=("8 hours",), stale=("8 hours",))
    assert faults(tmp_path, question) == [
        "reference fails its own must_contain",
        "the question itself passes must_contain",
        "stale value passes must_contain",
    ]


def test_a_corpus_in_numbers(tmp_path: Path) -> None:
    """Two documents of one and three tokens, both undated, one empty file."""
    figures = stats(loaded(tmp_path, {"a.txt": "hello", "b.txt": "hello world hello", "c.txt": ""}))
    assert (figures.documents, figures.chunks, figures.undated, figures.tokens) == (2, 2, 2, 4)
    assert (figures.document_tokens_p50, figures.document_tokens_p90, figures.document_tokens_max) == (1, 3, 3)
    assert figures.skipped == {"empty": 1}
