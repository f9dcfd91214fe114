"""Looks for faults of a corpus and its questions before any run, and describes a corpus in numbers.

`check` holds the key against the texts: documents exist, quotes stand in them and inside one chunk (else no passage
can show them), the reference passes its own pre-check, and neither a superseded value nor the question itself does
(else the pre-check cannot tell). The pre-check is handed in, so that it is the very one that answers are held to. It
cannot tell whether a reference is true: that takes a reader.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from loadrig.measures.recall import squeezed
from loadrig.words.corpus import Corpus, Question

# Whether an answer holds what `must_contain` demands.
PreCheck = Callable[[str, Iterable[str]], bool]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of one question. `fault` is a fixed phrase to count by, `detail` what it concerns."""

    question: str
    fault: str
    detail: str


@dataclass(frozen=True, slots=True)
class Stats:
    """A corpus in numbers; tokens are estimates. Quantiles are nearest-rank over documents."""

    documents: int
    chunks: int
    tokens: int
    document_tokens_p50: int
    document_tokens_p90: int
    document_tokens_max: int
    first_date: str | None
    last_date: str | None
    undated: int
    statuses: Mapping[str, int]
    access_labels: Mapping[str, int]
    skipped: Mapping[str, int]


def check(corpus: Corpus, questions: Iterable[Question], passes: PreCheck) -> tuple[Finding, ...]:
    """All findings, question by question in the order given; an empty tuple when there are none."""
    texts = {document.id: squeezed(document.text) for document in corpus.documents}
    chunks: defaultdict[str, list[str]] = defaultdict(list)
    for chunk in corpus.chunks:
        chunks[chunk.document].append(squeezed(chunk.text))
    return tuple(
        Finding(question.id, fault, detail)
        for question in questions
        for fault, detail in (
            *_documents(question, texts),
            *_quotes(question, texts, chunks),
            *_pre_check(question, passes),
        )
    )


def stats(corpus: Corpus) -> Stats:
    """Figures of a corpus as loaded; a corpus has at least one document."""
    sizes = sorted(document.tokens for document in corpus.documents)
    dates = sorted(document.date for document in corpus.documents if document.date)
    return Stats(
        documents=len(corpus.documents),
        chunks=len(corpus.chunks),
        tokens=corpus.tokens,
        document_tokens_p50=statistics.median_low(sizes),
        document_tokens_p90=sizes[math.ceil(0.9 * len(sizes)) - 1],
        document_tokens_max=sizes[-1],
        first_date=dates[0] if dates else None,
        last_date=dates[-1] if dates else None,
        undated=len(sizes) - len(dates),
        statuses=Counter(document.status or "none" for document in corpus.documents),
        access_labels=Counter(label for document in corpus.documents for label in document.access),
        skipped=Counter(file.reason for file in corpus.skipped),
    )


_Found = Iterator[tuple[str, str]]


def _documents(question: Question, texts: Mapping[str, str]) -> _Found:
    named = {
        "gold": question.gold,
        "amending": question.amending,
        "evidence": tuple(item.doc for item in question.evidence),
    }
    for field, documents in named.items():
        for document in dict.fromkeys(documents):
            if document not in texts:
                yield f"{field} document is not in the corpus", document


def _quotes(question: Question, texts: Mapping[str, str], chunks: Mapping[str, list[str]]) -> _Found:
    for item in question.evidence:
        quote = squeezed(item.quote)
        if item.doc not in texts:
            continue
        if not quote or quote not in texts[item.doc]:
            yield "quote is not in its document", f"{item.doc}: {item.quote}"
        elif not any(quote in chunk for chunk in chunks[item.doc]):
            yield "quote is in no single chunk", f"{item.doc}: {item.quote}"


def _pre_check(question: Question, passes: PreCheck) -> _Found:
    if not question.must_contain:
        return
    if not passes(question.reference, question.must_contain):
        yield "reference fails its own must_contain", question.reference
    if passes(question.question, question.must_contain):
        yield "the question itself passes must_contain", question.question
    for value in question.stale:
        if passes(value, question.must_contain):
            yield "stale value passes must_contain", value
