"""Rules on the hardened variant: names, references and the newest document give nothing away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from loadrig.corpus.dating import MONTH_OF
from loadrig.corpus.ledger import State
from loadrig.corpus.oracles import mentions_of
from loadrig.corpus.rules.history import own_texts, superseded
from loadrig.corpus.rules.outcome import Finding, Note, Outcome
from loadrig.corpus.rules.subject import Subject
from loadrig.measures.recall import squeezed

_ALONE = r"(?<![a-z0-9])(?:{})(?![a-z0-9])"
_TELLING = {
    "a date": re.compile(_ALONE.format(r"(?:19|20)\d\d(?:[-_.]?\d\d){0,2}|" + "|".join(MONTH_OF)), re.IGNORECASE),
    "an ordinal": re.compile(
        _ALONE.format(
            r"(?:no|nr|v)?\d{1,3}(?:st|nd|rd|th)?|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|"
            r"eleventh|twelfth|last|final|new|old"
        ),
        re.IGNORECASE,
    ),
}
_BY_NUMBER = re.compile(
    r"\b(?:minutes|meeting|paper|document|protokolle?s?|sitzung|dokument)\s+(?:(?:nos?|nr|number|nummer)\.?\s*|#\s*)?"
    r"\d{1,3}\b(?![:.]?\d|\s+(?:january|february|march|april|may|june|july|august|september|october|november|"
    r"december)\b)",
    re.IGNORECASE,
)


def opaque_names(subject: Subject) -> Iterator[Finding]:
    """No file name or id tells a date or a place in an order, and they do not sort by time."""
    for doc in subject.own:
        file = subject.entries[doc][1].file if doc in subject.entries else doc
        for name in dict.fromkeys((doc, PurePosixPath(file).stem)):
            for what, pattern in _TELLING.items():
                if found := pattern.search(name):
                    problem = f"the name {name!r} tells {what}: {found.group()!r}"
                    yield Finding(subject.at_manifest(doc), problem, "give it a name that tells nothing")
    names = [subject.entries[doc][1].file if doc in subject.entries else doc for doc in subject.own]
    for what, order in (("file names", names), ("ids", list(subject.own))):
        if len(order) > 2 and order in (sorted(order), sorted(order, reverse=True)):
            place = subject.at_manifest(subject.own[0])
            yield Finding(place, f"the {what} sort by time", "draw other names")


def references_by_date(subject: Subject) -> Iterator[Finding]:
    """Documents refer to one another by date: a number would tell their order."""
    for doc in subject.own:
        text = subject.texts[doc]
        for found in _BY_NUMBER.finditer(text):
            problem = f"a reference by number: {found.group()!r}"
            yield Finding(subject.at_text(doc, found.group()), problem, "refer to the document by its date")


def requoted(subject: Subject) -> Iterator[Outcome]:
    """Every value that no longer holds stands, word for word, in a document later than its own.

    Spared is one whose words would make each later document speak of a topic that it is silent about.
    """
    for number, fact in enumerate(subject.ledger.facts):
        for at, state in enumerate(fact.states):
            if state not in superseded(fact) or _is_requoted(subject, state):
                continue
            later = _after(subject, state.doc)
            place = subject.at_ledger("facts", number, "states", at)
            spoken = [topic for topic in subject.ledger.topics if subject.hits(state.quote, topic.words)]
            problem = f"fact {fact.id}: no later document requotes {state.quote!r}"
            if spoken and all(any(doc not in topic.docs for topic in spoken) for doc in later):
                yield Note(f"{problem}, as each is silent about {', '.join(topic.id for topic in spoken)}", place)
            else:
                yield Finding(place, problem, "quote it, with its source, in an appendix of a later document")


def last_mention_misleads(subject: Subject) -> Iterator[Finding]:
    """Of every requoted fact the last mention says what no longer holds, for one of them in the newest document."""
    texts, newest = own_texts(subject), subject.own[-1:]
    misled = []
    for number, fact in enumerate(subject.ledger.facts):
        if not any(_is_requoted(subject, state) for state in superseded(fact)):
            continue
        found = mentions_of(fact, texts)
        if found and found[-1].state.value == fact.states[-1].value:
            problem = (
                f"fact {fact.id}: the last mention, in {found[-1].doc}, is right although an old state is requoted"
            )
            remedy = "requote the old state after the last mention of the new one"
            yield Finding(subject.at_ledger("facts", number), problem, remedy)
        elif found:
            misled.append(found[-1].doc)
    if newest and newest[0] not in misled:
        problem = "no superseded value is requoted in the newest document"
        yield Finding(subject.at_text(newest[0]), problem, "requote one there, with its source")


def _is_requoted(subject: Subject, state: State) -> bool:
    """Whether its quote stands in a later document."""
    return any(squeezed(state.quote) in subject.texts[doc] for doc in _after(subject, state.doc))


def _after(subject: Subject, doc: str) -> tuple[str, ...]:
    """The ledger's documents later than `doc`."""
    return subject.own[subject.own.index(doc) + 1 :] if doc in subject.own else ()
