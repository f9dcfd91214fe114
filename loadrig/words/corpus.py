"""Documents, chunks, questions and hits: what is asked, and over what. Plain values; nothing here reads a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """One text of a corpus.

    `id` is its path below the corpus folder (`a/b.md`) or the manifest's id. `date` is ISO (`2026-03-01`) or None.
    `access` are labels: a caller sees the document when one label is his too; an empty tuple means everyone sees it.
    `tokens` is the o200k_base estimate (see `loadrig.tokens`).
    """

    id: str
    text: str
    tokens: int
    title: str | None = None
    date: str | None = None
    status: str | None = None
    access: tuple[str, ...] = ()


EVERYTHING = "*"
"""A caller's label that opens every document. Who names no label sees those that are open to all: whoever forgets to
say who asks must not thereby show him everything."""


def sees(caller: tuple[str, ...], access: tuple[str, ...]) -> bool:
    """Whether a caller with these labels sees a document with those: it has none, or one of them is his too."""
    return not access or EVERYTHING in caller or not set(caller).isdisjoint(access)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A token window of a document. `id` is `document#number` (from 0); `text` is decoded from the window."""

    id: str
    document: str
    number: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was found but not read into the corpus, and why (`empty`, `not utf-8`, ...)."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents in chronological order (undated last, then by id) and their chunks in the same order.

    `sha256` covers ids, dates, texts and labels, so two runs can tell whether they read the same corpus.
    `estimator` names what counted the tokens: `o200k_base` or the byte-based fall-back. `outside` are the ids that
    the folder has and the chosen slice leaves out; files found = documents + skipped + outside.
    """

    name: str
    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    skipped: tuple[Skipped, ...]
    sha256: str
    estimator: str
    outside: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Estimated tokens of all documents."""
        return sum(document.tokens for document in self.documents)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim quote of a document that supports the reference answer (white space may differ)."""

    doc: str
    quote: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its key.

    `gold` are the document ids that must be present for it to be answerable; `stale` the superseded values;
    `amending` the documents that carry the current state. Each entry of `must_contain` must occur in an answer,
    `||` separating alternatives (case-insensitive, on word boundaries): a cheap pre-check, not the grade.
    `caller` are access labels (see `sees`). `at_s`: when it is asked in a replay, in seconds.
    `depths`: of a made probe, where in the whole corpus what answers it stands, 0 the top and 1 the end.
    """

    id: str
    category: str
    question: str
    reference: str
    gold: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    amending: tuple[str, ...] = ()
    caller: tuple[str, ...] = ()
    at_s: float | None = None
    depths: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """What a retriever returned: a chunk (or a whole document, then `chunk` is None) with its score."""

    doc: str
    chunk: str | None
    score: float
