"""Rules on words in common: paraphrases and their evidence, refusals and approvals, hops that one document would do."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator

from loadrig.corpus.keyfigures import overlap_of
from loadrig.corpus.ledger import Asked
from loadrig.corpus.rules.key import quote_fault
from loadrig.corpus.rules.keyline import KeyLine
from loadrig.corpus.rules.outcome import Finding, Note, Outcome, Unchecked
from loadrig.corpus.rules.subject import Subject
from loadrig.corpus.wording import STOP, content_words
from loadrig.measures.recall import squeezed

PARAPHRASE, MULTI_HOP = "paraphrase", "multi_hop"
MOST_OVERLAP = 0.10  # Jaccard index of a paraphrase and a quote: one word of ten
PARAGRAPH = 25  # words: shorter lines are heads and lists


def paraphrase_overlap(subject: Subject) -> Iterator[Outcome]:
    """A paraphrase shares next to no content word with any of its quotes. Broken only where a ledger promises it."""
    if subject.language not in STOP:
        yield Unchecked(f"no stop words are known in {subject.language!r}")
        return
    lines = [line for line in subject.key if line.question.category == PARAPHRASE and line.question.evidence]
    measured = [(overlap_of(line, subject.language), line) for line in lines]
    for share, line in measured:
        if share > MOST_OVERLAP and not subject.no_ledger:
            problem = (
                f"{line.question.id}: {share:.2f} of its content words are those of a quote: {_shared(subject, line)}"
            )
            yield Finding(subject.at_question(line), problem, f"reword it to {MOST_OVERLAP:.2f} or less")
    if measured:
        shares = [share for share, _ in measured]
        over = sum(share > MOST_OVERLAP for share in shares)
        yield Note(
            f"words of {len(shares)} paraphrases in common with their quotes: {statistics.fmean(shares):.3f} on "
            f"average, {max(shares):.2f} at most, {over} above {MOST_OVERLAP:.2f}"
        )


def multi_hop(subject: Subject) -> Iterator[Outcome]:
    """Two gold documents or more, quotes from two or more, and no one document's quotes meet the key."""
    for line in (line for line in subject.key if line.question.category == MULTI_HOP):
        question, place = line.question, subject.at_question(line)
        quoted: defaultdict[str, list[str]] = defaultdict(list)
        for item in question.evidence:
            quoted[item.doc].append(item.quote)
        if len(set(question.gold)) < 2:
            problem = f"{question.id}: several hops over {len(set(question.gold))} gold documents"
            yield Finding(place, problem, "name every document that a hop needs")
        if question.evidence and len(quoted) < 2:
            problem = f"{question.id}: all quotes of several hops are from {next(iter(quoted))}"
            yield Finding(place, problem, "quote each hop's document")
        for doc in question.gold if question.must_contain else ():
            if subject.passes(" ".join(quoted[doc]), question.must_contain):
                problem = f"{question.id}: the quotes of {doc} alone meet must_contain"
                yield Finding(place, problem, "demand something of the other document too")
            elif subject.passes(subject.texts.get(doc, ""), question.must_contain):
                yield Note(f"{question.id}: the whole text of {doc} holds all of must_contain", place)


def refusals_alike(subject: Subject) -> Iterator[Outcome]:
    """Both decisions stand as quoted, and no other paragraph is as like a refusal as the approval named beside it."""
    if subject.language not in STOP:
        yield Unchecked(f"no stop words are known in {subject.language!r}")
    words = {
        paragraph: content_words(paragraph, subject.language)
        for paragraph in _paragraphs(subject)
        if subject.language in STOP
    }
    for number, refusal in enumerate(subject.ledger.refusals):
        found = {}
        for side, asked in (("refused", refusal.refused), ("resembles", refusal.resembles)):
            if fault := quote_fault(subject, asked.doc, asked.quote):
                problem = f"refusal {refusal.id}: the quote {fault}: {asked.quote!r}"
                remedy = "copy the deciding sentence word for word"
                yield Finding(subject.at_ledger("refusals", number, side, "quote"), problem, remedy)
            found[side] = _paragraph_of(subject, asked)
        refused, approved = found["refused"], found["resembles"]
        if not words or refused not in words or approved not in words:
            continue
        like = {other: _jaccard(words[refused], words[other]) for other in words if other != refused}
        nearest = max(like, key=lambda other: like[other])
        if nearest != approved:
            shares = f"{like[nearest]:.2f} like another paragraph, {like[approved]:.2f} like its approval"
            problem = f"refusal {refusal.id}: {shares}"
            yield Finding(subject.at_ledger("refusals", number), problem, f"it resembles rather {nearest[:60]!r}")
        yield Note(
            f"refusal {refusal.id}: {like[approved]:.2f} of the words in common with the approval it resembles, "
            f"{statistics.median(like.values()):.2f} with the median paragraph"
        )


def project_named(subject: Subject) -> Iterator[Outcome]:
    """Every question holds an invented name, so that it stays one question beside other projects' papers."""
    names = [name.name for name in subject.ledger.names]
    if not names:
        yield Unchecked("the ledger lists no names")
        return
    for line in subject.key:
        if not subject.hits(line.question.question, names):
            yield Note(
                f"{line.question.id}: the question names nothing of the project's own", subject.at_question(line)
            )


def _shared(subject: Subject, line: KeyLine) -> str:
    asked = content_words(line.question.question, subject.language)
    quoted = content_words(" ".join(item.quote for item in line.question.evidence), subject.language)
    return ", ".join(sorted(asked & quoted))


def _paragraphs(subject: Subject) -> list[str]:
    documents = {document.id: document.text for document in subject.corpus.documents}
    lines = (line for doc in subject.own for line in documents[doc].split("\n"))
    return [squeezed(line) for line in lines if len(line.split()) > PARAGRAPH]


def _paragraph_of(subject: Subject, asked: Asked) -> str:
    """The paragraph with the deciding sentence: with its document's other paragraphs known by it."""
    text = next((one.text for one in subject.corpus.documents if one.id == asked.doc), "")
    return next((squeezed(line) for line in text.split("\n") if squeezed(asked.quote) in squeezed(line)), "")


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
