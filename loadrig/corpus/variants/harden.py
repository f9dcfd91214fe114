"""The hardened variant: the same facts, and nothing outside the texts that tells the order of the papers.

Ids and file names are opaque and sort into another order than time; the manifest has no dates, its titles no numbers;
papers cite one another by date; what no longer holds is requoted in appendices of later papers. So neither the newest
document that mentions something nor the last in a listing has the answer, but the date of what is said has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from loadrig.corpus.ledger import Asked, Fact, Ledger, Name, State
from loadrig.corpus.variants.appendix import Requotes, Source, appendix, place
from loadrig.corpus.variants.asked import Line, readdressed, reworded
from loadrig.corpus.variants.dates import without_dates
from loadrig.corpus.variants.edition import Edition, Paper
from loadrig.corpus.variants.opaque import opaque_ids
from loadrig.corpus.variants.references import References, numbered_kind, numbering
from loadrig.words.errors import InputError


@dataclass(frozen=True, slots=True)
class Hardened:
    """The variant, and what was requoted where."""

    edition: Edition
    requotes: Requotes


def harden(edition: Edition, seed: int) -> Hardened:
    """Raises `InputError` where the corpus cannot be hardened: not an original one, or not in English."""
    ledger = edition.ledger
    if ledger.variant != "original" or ledger.language != "en":
        problem = f"cannot harden a corpus that is {ledger.variant} in {ledger.language!r}"
        raise InputError(problem, path=edition.name, remedy="name an original corpus in English")
    _documents_only(edition)
    dates = edition.dates
    references = numbering([paper.entry for paper in edition.papers], dates)
    dated = _dated(ledger, references)
    papers = {paper.entry.id: replace(paper, text=references.dated(paper.text)) for paper in edition.papers}
    _no_number_left(papers, references)
    sources = {doc: _source(paper, dates[doc], ledger.names) for doc, paper in papers.items()}
    requotes = place(dated, sources, str(seed))
    ids = opaque_ids(list(dates), f"{seed}:ids")
    new = [
        _hardened(papers[doc], ids[doc], _appendix_of(doc, requotes, sources, dated, seed))
        for doc in sorted(ids, key=ids.__getitem__)
    ]
    questions = [_question(line, references, ids) for line in edition.questions]
    return Hardened(Edition(edition.name, tuple(new), _moved(dated, ids), tuple(questions)), requotes)


def _documents_only(edition: Edition) -> None:
    """Every paper has its true date in the ledger."""
    for paper in edition.papers:
        if paper.entry.id not in edition.dates:
            problem = f"document {paper.entry.id!r} is not among the ledger's documents"
            raise InputError(problem, path=edition.name, remedy="give it a date there")


def _no_number_left(papers: Mapping[str, Paper], references: References) -> None:
    for doc, paper in papers.items():
        for citation in references.left(paper.text):
            problem = f"document {doc!r} cites {citation!r}, a number that no title has"
            raise InputError(problem, remedy="correct the number, or the title in the manifest")


def _source(paper: Paper, date: str, names: Sequence[Name]) -> Source:
    """Numbered papers are called by their kind, `Harbour: requirements` by what follows a name, others by title."""
    title = without_dates(paper.entry.title or "")
    of, colon, what = title.partition(": ")
    if kind := numbered_kind(paper.entry.title or ""):
        called = f"the {kind}"
    elif colon and what[0].islower() and any(name.name in of for name in names):
        called = f"the {what}"
    else:
        called = f"the paper '{title}'" if title else "the paper"
    return Source(called, date, paper.text)


def _appendix_of(doc: str, requotes: Requotes, sources: Mapping[str, Source], ledger: Ledger, seed: int) -> str:
    here = requotes.into(doc)
    return appendix(here, sources, ledger.topics, str(seed)) if here else ""


def _hardened(paper: Paper, new_id: str, added: str) -> Paper:
    entry = paper.entry
    title = without_dates(entry.title) if entry.title else None
    suffix = entry.file.rpartition(".")[2]
    text = f"{paper.text.rstrip()}\n\n{added}" if added else paper.text
    return Paper(replace(entry, id=new_id, file=f"docs/{new_id}.{suffix}", title=title or None, date=None), text)


def _question(line: Line, references: References, ids: Mapping[str, str]) -> Line:
    return readdressed(reworded(line, references.dated), ids)


def _dated(ledger: Ledger, references: References) -> Ledger:
    """The ledger with citations by date in all that is said word for word."""

    def state(one: State) -> State:
        return replace(one, quote=references.dated(one.quote), says=tuple(map(references.dated, one.says)))

    def fact(one: Fact) -> Fact:
        final = tuple(map(references.dated, one.final))
        return replace(one, states=tuple(map(state, one.states)), final=final)

    def asked(one: Asked) -> Asked:
        return replace(one, quote=references.dated(one.quote))

    refusals = [replace(one, refused=asked(one.refused), resembles=asked(one.resembles)) for one in ledger.refusals]
    return replace(ledger, facts=tuple(map(fact, ledger.facts)), refusals=tuple(refusals), variant="hardened")


def _moved(ledger: Ledger, ids: Mapping[str, str]) -> Ledger:
    """The ledger with new document ids."""

    def fact(one: Fact) -> Fact:
        return replace(one, states=tuple(replace(state, doc=ids[state.doc]) for state in one.states))

    def asked(one: Asked) -> Asked:
        return replace(one, doc=ids[one.doc])

    return replace(
        ledger,
        documents=tuple(replace(dated, id=ids[dated.id]) for dated in ledger.documents),
        facts=tuple(map(fact, ledger.facts)),
        refusals=tuple(
            replace(one, refused=asked(one.refused), resembles=asked(one.resembles)) for one in ledger.refusals
        ),
        topics=tuple(replace(topic, docs=tuple(ids[doc] for doc in topic.docs)) for topic in ledger.topics),
    )
