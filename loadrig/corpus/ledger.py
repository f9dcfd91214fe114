"""ledger.json: what is true in a corpus, as data. Checks, variants and keys are derived from it, never from the prose.

Rules: a *fact* has states, oldest first; each state names the document that decided it, that document's date and the
sentence that says it, word for word. The last state holds. A *refusal* is a request that was turned down, beside the
approved one it reads like. A *topic* is something that documents speak of or are silent about: a document mentions it
when one of `words` stands in its text as whole words. `documents` are the corpus' own papers with their true dates, in
order of time, also where the manifest hides dates; in an enlarged corpus they are the few that the questions are about.
`names` are the invented names, longest forms included, with their kind: what a renamed or neighbouring project changes.

Optional for a corpus of one's own: without the file, checks that need it say that they could not run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from loadrig.words.errors import InputError

NAME = "ledger.json"
Shape = Literal["value", "existence"]
Variant = Literal["original", "hardened", "enlarged", "translated"]
NameKind = Literal["project", "organisation", "person", "place", "supplier", "other"]


@dataclass(frozen=True, slots=True)
class Dated:
    """One of the corpus' own documents and its true date (ISO)."""

    id: str
    date: str


@dataclass(frozen=True, slots=True)
class State:
    """What held from `date` on. `says`: short phrases by which the text is known to speak of this state."""

    value: str
    doc: str
    date: str
    quote: str
    says: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that has a state. `pattern` names the shape of its history (amendment, reversal, narrowed, ...).

    `final`: phrases that together give the last state away; no document but the deciding one holds them.
    """

    id: str
    about: str
    shape: Shape
    pattern: str
    states: tuple[State, ...]
    final: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, the document that decided it, and the paragraph's key sentence, word for word."""

    asked: str
    doc: str
    quote: str
    request: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused request and the approved one that it reads like."""

    id: str
    refused: Asked
    resembles: Asked


@dataclass(frozen=True, slots=True)
class Topic:
    """Something documents mention or do not: `docs` are those in which one of `words` stands."""

    id: str
    about: str
    words: tuple[str, ...]
    docs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """An invented name as it is written in the texts."""

    name: str
    kind: NameKind


@dataclass(frozen=True, slots=True)
class Ledger:
    """The file, whole. `language` is a BCP 47 tag, `canary` the token that marks the corpus."""

    canary: str
    documents: tuple[Dated, ...]
    facts: tuple[Fact, ...]
    refusals: tuple[Refusal, ...] = ()
    topics: tuple[Topic, ...] = ()
    names: tuple[Name, ...] = ()
    variant: Variant = "original"
    language: str = "en"


def read_ledger(folder: Path) -> Ledger | None:
    """The ledger of a corpus folder, or None when it has none. Raises `InputError` when it is not one."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Ledger)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        remedy = "compare it with the one of corpora/huskbook; docs/corpora.md describes the fields"
        raise InputError(f"not a ledger: {error}", path=path, remedy=remedy) from error
