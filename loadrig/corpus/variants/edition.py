"""A corpus with its ledger and its questions, read whole: what a variant is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loadrig.corpus import manifest
from loadrig.corpus.folder import inside
from loadrig.corpus.ledger import NAME as LEDGER_NAME
from loadrig.corpus.ledger import Ledger, read_ledger
from loadrig.corpus.manifest import Entry
from loadrig.corpus.reading import Unreadable, read_text
from loadrig.corpus.variants.asked import Line, read_lines
from loadrig.words.errors import InputError


@dataclass(frozen=True, slots=True)
class Paper:
    """A document: its line of the manifest and its text (LF line ends)."""

    entry: Entry
    text: str


@dataclass(frozen=True, slots=True)
class Edition:
    """Papers in the manifest's order, the ledger, and the questions' lines."""

    name: str
    papers: tuple[Paper, ...]
    ledger: Ledger
    questions: tuple[Line, ...]

    @property
    def dates(self) -> Mapping[str, str]:
        """True date (ISO) of each of the ledger's documents by id, in order of time."""
        return {dated.id: dated.date for dated in self.ledger.documents}


def read_edition(folder: str, questions: str) -> Edition:
    """Raises `InputError` where the folder has no manifest or ledger, or these do not fit together."""
    root = Path(folder).resolve()
    listed = root / manifest.NAME
    ledger = read_ledger(root)
    if ledger is None:
        remedy = "write one: docs/corpora.md describes it, corpora/huskbook has one"
        raise InputError(f"a variant is made from a {LEDGER_NAME}, and there is none", path=folder, remedy=remedy)
    if not listed.is_file():
        remedy = "list the documents in one, as docs/corpora.md describes"
        raise InputError(f"a variant is made from a {manifest.NAME}, and there is none", path=folder, remedy=remedy)
    papers = [_paper(root, entry, line) for line, entry in manifest.read_manifest(listed)]
    known = {paper.entry.id for paper in papers}
    for dated in ledger.documents:
        if dated.id not in known:
            problem = f"document {dated.id!r} is not in the manifest"
            raise InputError(problem, path=root / LEDGER_NAME, remedy="list it there, or take it out of `documents`")
    _check_states(ledger, root / LEDGER_NAME)
    return Edition(root.name, tuple(papers), ledger, read_lines(Path(questions)))


def _check_states(ledger: Ledger, path: Path) -> None:
    """Dates are ISO; every state is of one of the ledger's documents, of which there is one at least."""
    if not ledger.documents:
        raise InputError("`documents` is empty", path=path, remedy="list the project's papers with their dates")
    dated = {document.id for document in ledger.documents}
    states = [state for fact in ledger.facts for state in fact.states]
    for date in [one.date for one in ledger.documents] + [state.date for state in states]:
        if not manifest.is_iso(date):
            raise InputError(f"not an ISO date: {date!r}", path=path, remedy="write it as 2026-03-01")
    for fact in ledger.facts:
        for state in fact.states:
            if state.doc not in dated:
                problem = f"fact {fact.id!r}: document {state.doc!r} is not among the ledger's documents"
                raise InputError(problem, path=path, remedy="correct it; `loadrig corpus check` names all such")


def _paper(root: Path, entry: Entry, line: int) -> Paper:
    listed = root / manifest.NAME
    text = read_text(inside(root, entry.file, listed_in=listed, line=line))
    if isinstance(text, Unreadable):
        remedy = "make it a text, or take it out of the manifest"
        raise InputError(f"{entry.file}: {text.reason}", path=listed, line=line, remedy=remedy)
    return Paper(entry, text)
