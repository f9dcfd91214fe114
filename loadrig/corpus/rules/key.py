"""Rules on a question file that hold for any corpus: ids, quotes, and a pre-check that can tell right from wrong."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.corpus.rules.keyline import KeyLine
from loadrig.corpus.rules.outcome import Finding, Note, Outcome, Unchecked
from loadrig.corpus.rules.subject import Subject
from loadrig.corpus.wording import REFUSALS
from loadrig.measures.recall import squeezed
from loadrig.suggest import did_you_mean

_SHARPEN = "demand in must_contain what only a right answer says"


def question_ids(subject: Subject) -> Iterator[Outcome]:
    """Ids occur once; no question is without id, category, words or, where any has one, reference."""
    first: dict[str, int] = {}
    wanted = ["id", "category", "question"]
    if any(line.question.reference.strip() for line in subject.key):
        wanted.append("reference")
    else:
        yield Note("no question has a reference answer: recall is shown, answers cannot be graded")
    for line in subject.key:
        question, place = line.question, subject.at_question(line)
        for name in wanted:
            if not getattr(question, name).strip():
                yield Finding(place, f"empty {name}", f"write the {name}, or remove the line")
        if question.id in first:
            problem = f"question id {question.id!r} occurs twice, first in line {first[question.id]}"
            yield Finding(place, problem, "give each question its own id")
        first.setdefault(question.id, line.line)


def question_documents(subject: Subject) -> Iterator[Finding]:
    """Gold, amending and evidence documents are in the corpus."""
    for line in subject.key:
        named = {
            "gold": line.question.gold,
            "amending": line.question.amending,
            "evidence": tuple(item.doc for item in line.question.evidence),
        }
        for field, documents in named.items():
            for document in dict.fromkeys(documents):
                if document not in subject.texts:
                    problem = f"{line.question.id}: {field} document {document!r} is not in the corpus"
                    yield Finding(subject.at_question(line), problem, did_you_mean(document, subject.texts))


def gold_is_whole(subject: Subject) -> Iterator[Outcome]:
    """Documents that amend or are quoted are gold, as the question cannot be answered without them."""
    without = 0
    for line in subject.key:
        question = line.question
        without += not question.gold
        for field, documents in (("amending", question.amending), ("evidence", [i.doc for i in question.evidence])):
            for document in dict.fromkeys(documents):
                if question.gold and document not in question.gold:
                    problem = f"{question.id}: {field} document {document!r} is not gold"
                    yield Finding(subject.at_question(line), problem, "add it to gold, or take it out here")
    if without:
        yield Unchecked(f"questions without gold documents: {without}")


def quotes(subject: Subject) -> Iterator[Outcome]:
    """Every quote stands word for word in its document and inside one chunk, else no passage can show it."""
    without = 0
    for line in subject.key:
        without += not (line.question.evidence or line.derivation)
        for item in line.question.evidence:
            fault = quote_fault(subject, item.doc, item.quote)
            if fault:
                problem = f"{line.question.id}: the quote {fault}: {item.quote!r}"
                yield Finding(subject.at_question(line), problem, "copy it word for word, or shorten it")
    if without:
        yield Unchecked(f"questions without evidence: {without}")


def quote_fault(subject: Subject, document: str, quote: str) -> str | None:
    """What is wrong with a quote; None when it stands, or when the document itself is missing."""
    flat = squeezed(quote)
    if document not in subject.texts:
        return None
    if not flat or flat not in subject.texts[document]:
        return f"is not in {document}"
    if not any(flat in chunk for chunk in subject.chunks[document]):
        return f"is in no single chunk of {document}"
    return None


def references_pass(subject: Subject) -> Iterator[Outcome]:
    """The reference answer holds what is demanded of every answer, and something is demanded."""
    for line in subject.key:
        if not subject.passes(line.question.reference, line.question.must_contain):
            missing = [one for one in line.question.must_contain if not subject.passes(line.question.reference, (one,))]
            problem = f"{line.question.id}: the reference lacks {missing[0]!r} of its own must_contain"
            yield Finding(subject.at_question(line), problem, "add the reference's wording as an alternative")
    without = len(subject.key) - len(_demanding(subject))
    if without:
        yield Unchecked(f"questions without must_contain, which any answer passes: {without}")


def echoes_fail(subject: Subject) -> Iterator[Finding]:
    """Repeating the question meets no key."""
    for line in _demanding(subject):
        if subject.passes(line.question.question, line.question.must_contain):
            problem = f"{line.question.id}: the question itself passes must_contain"
            yield Finding(subject.at_question(line), problem, _SHARPEN)


def refusals_fail(subject: Subject) -> Iterator[Outcome]:
    """Declining to answer meets no key, alone or after the question was repeated. The sentences: `REFUSALS`."""
    if subject.language not in REFUSALS:
        yield Unchecked(f"no stock refusals are known in {subject.language!r}")
    for line in _demanding(subject):
        question = line.question
        for refusal in REFUSALS.get(subject.language, ()):
            for answer in (refusal, f"{question.question} {refusal}"):
                if subject.passes(answer, question.must_contain):
                    problem = f"{question.id}: must_contain is met by declining: {answer!r}"
                    yield Finding(subject.at_question(line), problem, _SHARPEN)
                    break
            else:
                continue
            break


def stale_fails(subject: Subject) -> Iterator[Finding]:
    """No superseded value meets the key, alone or after the question was repeated."""
    for line in _demanding(subject):
        question = line.question
        for value in question.stale:
            if subject.passes(f"{question.question} {value}.", question.must_contain):
                problem = f"{question.id}: the stale value {value!r} passes must_contain"
                yield Finding(subject.at_question(line), problem, _SHARPEN)


def stale_stands(subject: Subject) -> Iterator[Outcome]:
    """Every superseded value stands in a document, or nothing could mislead to it. Broken only with a ledger."""
    values = [(line, value) for line in subject.key for value in line.question.stale]
    absent = [(line, value) for line, value in values if not _stands(subject, value)]
    for line, value in absent if not subject.no_ledger else ():
        problem = f"{line.question.id}: the stale value {value!r} stands in no document"
        yield Finding(subject.at_question(line), problem, "write it as the superseded document does")
    if absent and subject.no_ledger:
        line, value = absent[0]
        text = f"{len(absent)} of {len(values)} stale values stand in no document word for word, such as {value!r}"
        yield Note(text, subject.at_question(line))


def must_not_contain(subject: Subject) -> Iterator[Outcome]:
    """What an answer must not hold is not in the reference, nor in all that one could say to meet must_contain."""
    for line in subject.key:
        question, place = line.question, subject.at_question(line)
        for banned in question.must_not_contain:
            if subject.passes(question.reference, (banned,)):
                yield Finding(place, f"{question.id}: the reference holds {banned!r} of must_not_contain", _CLASH)
            for entry in question.must_contain:
                if all(subject.passes(one, (banned,)) for one in entry.split("||") if one.strip()):
                    problem = f"{question.id}: must_contain {entry!r} cannot be met without {banned!r}"
                    yield Finding(place, problem, _CLASH)
            if subject.passes(question.question, (banned,)):
                yield Note(f"{question.id}: an answer that repeats the question holds {banned!r}", place)


_CLASH = "take it out of must_not_contain, or make it longer"


def duplicates(subject: Subject) -> Iterator[Finding]:
    """No two questions have the same words."""
    first: dict[str, KeyLine] = {}
    for line in subject.key:
        words = " ".join("".join(sign if sign.isalnum() else " " for sign in line.question.question.casefold()).split())
        if words in first:
            problem = f"{line.question.id} asks in the same words as {first[words].question.id}"
            yield Finding(subject.at_question(line), problem, "ask something else, or remove the line")
        first.setdefault(words, line)


def _stands(subject: Subject, value: str) -> bool:
    flat = squeezed(value.casefold())
    return bool(flat) and any(flat in text for text in subject.folded.values())


def _demanding(subject: Subject) -> list[KeyLine]:
    return [line for line in subject.key if line.question.must_contain]
