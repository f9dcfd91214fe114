"""What a corpus holds to check answers by: ids, true dates, dates and numbers in the texts. documents.jsonl of a run.

Rules: written when a run begins, a line a document, so that reports check answers without the corpus. A document's date
is the ledger's, which knows it where the manifest hides it, else the manifest's. `own`: one of the ledger's documents;
of a corpus without a ledger every one is. A run from before this file was written has no facts, and no figure that
needs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import msgspec

from loadrig.corpus.ledger import Ledger
from loadrig.corpus.mentions import dates_mentioned
from loadrig.corpus.numbered import number_of_id, numbering_nouns, numbers_in
from loadrig.words.corpus import Corpus, Document
from loadrig.words.errors import InputError

NAME = "documents.jsonl"
_DATE_IN_ID = re.compile(r"(?<!\d)(\d{4})[-_]?(\d\d)[-_]?(\d\d)(?!\d)")


@dataclass(frozen=True, slots=True)
class Facts:
    """One document. `date` is ISO; `dates` as in `loadrig.corpus.mentions`, those of id and title included; `numbers`
    as in `loadrig.corpus.numbered`; `number`: its own, by its heading, title or id. `outside`: the chosen slice leaves
    it out, and nothing but its id is known."""

    id: str
    date: str | None = None
    own: bool = True
    dates: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    number: str | None = None
    outside: bool = False


@dataclass(frozen=True, eq=False)
class Known:
    """The facts of all documents, to look things up in. Its sets are made when they are first asked for; it is compared
    and hashed by identity, so it can key a cache cheaply."""

    documents: tuple[Facts, ...]

    @cached_property
    def by_id(self) -> dict[str, Facts]:
        """Documents by folded id."""
        return {one.id.casefold(): one for one in self.documents}

    @cached_property
    def dates(self) -> frozenset[str]:
        """Every date that the corpus holds."""
        return frozenset(date for one in self.documents for date in dates_of(one))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every numbered thing that the corpus holds."""
        own = {one.number for one in self.documents if one.number}
        return frozenset(own.union(*(one.numbers for one in self.documents)))

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The nouns that the corpus numbers."""
        return frozenset(name.rpartition(" ")[0] for name in self.numbers)

    @cached_property
    def newest(self) -> tuple[Facts, ...]:
        """The latest of all dated documents, and the latest of the corpus' own: a claim may be about either."""
        dated = [(one.date, one) for one in self.documents if one.date]
        kinds = (dated, [(date, one) for date, one in dated if one.own])
        latest = {max(date for date, _ in kind) for kind in kinds if kind}
        return tuple(one for date, one in dated if date in latest)


def facts_of(corpus: Corpus, ledger: Ledger | None) -> tuple[Facts, ...]:
    """A row a document, in the order of the corpus, then those outside of its slice."""
    nouns = numbering_nouns((one.text for one in corpus.documents), (one.id for one in corpus.documents))
    true = {one.id: one.date for one in ledger.documents} if ledger else {}
    inside = (_facts(one, true, nouns) for one in corpus.documents)
    outside = (Facts(name, own=False, number=number_of_id(name), outside=True) for name in corpus.outside)
    return (*inside, *outside)


def of_both(before: Iterable[Facts], after: Iterable[Facts]) -> tuple[Facts, ...]:
    """The facts of a corpus whose documents changed: of each what either version holds."""
    later = {one.id: one for one in after}
    return (*(_joined(one, later.pop(one.id, one)) for one in before), *later.values())


def _joined(one: Facts, other: Facts) -> Facts:
    dates = tuple(sorted({*one.dates, *other.dates}))
    return replace(one, dates=dates, numbers=tuple(sorted({*one.numbers, *other.numbers})))


def read_known(folder: Path) -> Known | None:
    """The facts that a run's folder holds; None when it has none. Raises `InputError` when they are not ours."""
    path = folder / NAME
    if not path.is_file():
        return None
    decoder = msgspec.json.Decoder(Facts)
    try:
        return Known(tuple(decoder.decode(line) for line in path.read_bytes().splitlines()))
    except msgspec.DecodeError as error:
        remedy = "remove the file: the run's reports then do without checks of dates and ids"
        raise InputError(f"not facts of documents: {error}", path=path, remedy=remedy) from error


def dates_of(document: Facts) -> tuple[str, ...]:
    """The dates that a document bears or mentions."""
    return (document.date, *document.dates) if document.date else document.dates


def holds(held: Iterable[str], date: str) -> bool:
    """Whether dates hold a date: the same, a whole one that it is a part of, or one without a year that it completes.

    >>> holds(["2034-03-09"], "--03-09"), holds(["--03-09"], "2034-03-09"), holds(["2034-03"], "2034-03-09")
    (True, True, False)
    """
    held = held if isinstance(held, frozenset) else frozenset(held)
    if date in held:
        return True
    if date.startswith("--"):
        return any(one.endswith(date[1:]) for one in held if len(one) == len("2034-03-09"))
    if len(date) == len("2034-03"):
        return any(one.startswith(date) for one in held)
    return f"-{date[4:]}" in held


def _facts(document: Document, true: dict[str, str], nouns: frozenset[str]) -> Facts:
    head = document.text.lstrip().partition("\n")[0]
    texts = (document.title or "", document.text)
    dates = [reading for text in texts for found in dates_mentioned(text) for reading in found.readings]
    in_id = ["-".join(found) for found in _DATE_IN_ID.findall(document.id)]
    titles = [found.name for text in (document.title or "", head) for found in numbers_in(text, nouns)]
    return Facts(
        id=document.id,
        date=true.get(document.id, document.date),
        own=not true or document.id in true,
        dates=tuple(sorted({*dates, *in_id})),
        numbers=tuple(sorted({found.name for text in texts for found in numbers_in(text, nouns)})),
        number=number_of_id(document.id) or next(iter(titles), None),
    )
