"""Rules on the documents themselves: what the ledger lists is there, dates agree, the canary stands at the top."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from loadrig.corpus.dating import dates_in
from loadrig.corpus.manifest import is_iso
from loadrig.corpus.rules.outcome import Finding, Note, Outcome, Place, Unchecked
from loadrig.corpus.rules.subject import Subject
from loadrig.suggest import did_you_mean
from loadrig.words.corpus import EVERYTHING, sees

TOP = 400  # characters: a head of a letter or of minutes


def ledger_documents(subject: Subject) -> Iterator[Finding]:
    """Every document that the ledger names is in the corpus."""
    for place, document in _named_in_ledger(subject):
        if document not in subject.texts:
            yield Finding(place, f"document {document!r} is not in the corpus", did_you_mean(document, subject.texts))


def dates_rise(subject: Subject) -> Iterator[Finding]:
    """The ledger's documents are dated, in order of time, and dated alike in the manifest."""
    documents = subject.ledger.documents
    for number, document in enumerate(documents):
        place = subject.at_ledger("documents", number)
        if not is_iso(document.date):
            yield Finding(place, f"{document.date!r} is no date", "write it as 2034-01-24")
        listed = subject.entries[document.id][1].date if document.id in subject.entries else None
        if listed and listed != document.date:
            problem = f"{document.id} is dated {listed} here and {document.date} in the ledger"
            yield Finding(subject.at_manifest(document.id), problem, "correct the one that is wrong")
    for number, (earlier, later) in enumerate(itertools.pairwise(documents), start=1):
        if later.date <= earlier.date:
            problem = f"{later.id} ({later.date}) stands after {earlier.id} ({earlier.date}) and is not later"
            yield Finding(subject.at_ledger("documents", number), problem, "list documents in order of time")


def date_in_text(subject: Subject) -> Iterator[Outcome]:
    """Where a text states dates near its top, its own is among them. Broken only where a ledger promises dates."""
    dates = subject.true_dates
    silent = unlike = 0
    for document in subject.corpus.documents:
        if document.id not in dates:
            continue
        stated = dates_in(document.text[:TOP])
        if not stated:
            silent += 1
        elif dates[document.id] not in [day for _, day in stated]:
            unlike += 1
            if not subject.no_ledger:
                at, day = stated[0]
                place = Place(subject.at_text(document.id).path, document.text.count("\n", 0, at) + 1)
                problem = f"the text is dated {day} near its top and {dates[document.id]} in the corpus' own list"
                yield Finding(place, problem, "correct the one that is wrong")
    if silent:
        yield Unchecked(f"{silent} of {len(dates)} dated texts state no whole date in their first {TOP} characters")
    if unlike and subject.no_ledger:
        yield Note(f"{unlike} of {len(dates)} dated texts state near their top only dates other than the manifest's")


def canary(subject: Subject) -> Iterator[Finding]:
    """The token that marks the corpus stands near the top of the oldest document."""
    if not subject.own:
        return
    base, token = subject.own[0], subject.ledger.canary
    if not token or token not in subject.texts[base][:TOP]:
        problem = f"the canary {token!r} does not stand in the first {TOP} characters"
        yield Finding(subject.at_text(base, token), problem, 'write a line "Canary: TOKEN" below the title')


def callers(subject: Subject) -> Iterator[Outcome]:
    """Every label of a caller opens a document; a caller who may not see a gold document is worth knowing of."""
    labels = {document.id: document.access for document in subject.corpus.documents}
    # Of documents outside the slice too: a caller may well see nothing of a part.
    listed = [entry.access for document, (_, entry) in subject.entries.items() if document in subject.corpus.outside]
    known = sorted({label for access in (*labels.values(), *listed) for label in access})
    for line in subject.key:
        for label in line.question.caller:
            if label not in known and label != EVERYTHING:
                problem = f"{line.question.id}: no document has the caller's label {label!r}"
                yield Finding(subject.at_question(line), problem, did_you_mean(label, known))
        hidden = [doc for doc in line.question.gold if not sees(line.question.caller, labels.get(doc, ()))]
        if hidden:
            text = f"{line.question.id}: its caller may not see gold document {', '.join(hidden)}"
            yield Note(text, subject.at_question(line))


def _named_in_ledger(subject: Subject) -> Iterator[tuple[Place, str]]:
    ledger = subject.ledger
    for number, document in enumerate(ledger.documents):
        yield subject.at_ledger("documents", number), document.id
    for number, fact in enumerate(ledger.facts):
        for at, state in enumerate(fact.states):
            yield subject.at_ledger("facts", number, "states", at, "doc"), state.doc
    for number, refusal in enumerate(ledger.refusals):
        yield subject.at_ledger("refusals", number, "refused", "doc"), refusal.refused.doc
        yield subject.at_ledger("refusals", number, "resembles", "doc"), refusal.resembles.doc
    for number, topic in enumerate(ledger.topics):
        for at, doc in enumerate(topic.docs):
            yield subject.at_ledger("topics", number, "docs", at), doc
