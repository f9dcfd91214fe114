"""Rules on questions against the ledger that their keys rest on: references, current and superseded states, counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loadrig.corpus.dating import dates_in
from loadrig.corpus.ledger import Fact, State
from loadrig.corpus.rules.history import superseded
from loadrig.corpus.rules.keyline import Derived, KeyLine
from loadrig.corpus.rules.outcome import Finding, Outcome, Unchecked
from loadrig.corpus.rules.subject import Subject
from loadrig.corpus.wording import NUMBERS
from loadrig.measures.recall import squeezed
from loadrig.suggest import did_you_mean

SUPERSESSION = "supersession"


def references_exist(subject: Subject) -> Iterator[Finding]:
    """Facts, refusals and topics that a question names are in the ledger."""
    ledger = subject.ledger
    known = {
        "fact": {fact.id for fact in ledger.facts},
        "refusal": {refusal.id for refusal in ledger.refusals},
        "topic": {topic.id for topic in ledger.topics},
    }
    for line in subject.key:
        derived = line.derivation if isinstance(line.derivation, Derived) else None
        named = [("fact", fact) for fact in line.facts]
        named += [("refusal", line.refusal)] if line.refusal else []
        named += [("topic", derived.topic)] if derived else []
        for kind, name in named:
            if name not in known[kind]:
                problem = f"{line.question.id}: {kind} {name!r} is not in the ledger"
                yield Finding(subject.at_question(line), problem, did_you_mean(name, sorted(known[kind])))


def supersession_is_whole(subject: Subject) -> Iterator[Finding]:
    """A question on supersession names fact, subtype, stale values, amending documents; others give both or none."""
    for line in subject.key:
        question, place = line.question, subject.at_question(line)
        if question.category == SUPERSESSION:
            given = {"fact": line.facts, "stale": question.stale, "amending": question.amending}
            given["subtype"] = (line.subtype,) if line.subtype in ("existence", "value") else ()
            for name in (name for name, value in given.items() if not value):
                remedy = 'write "existence" or "value"' if name == "subtype" else f"write its {name}"
                yield Finding(place, f"{question.id}: a question on supersession without {name}", remedy)
        elif bool(question.stale) != bool(question.amending):
            problem = f"{question.id}: stale values without amending documents, or the other way round"
            yield Finding(place, problem, "give both or none")


def amending_is_last(subject: Subject) -> Iterator[Outcome]:
    """The amending documents are those that decided the last state of the facts asked about."""
    facts = _facts(subject)
    dated = 0
    for line in subject.key:
        history = [facts[name] for name in line.facts if name in facts and len(facts[name].states) > 1]
        if not history or not line.question.amending:
            continue
        last = {fact.states[-1].doc for fact in history}
        any_state = {state.doc for fact in history for state in fact.states}
        names_a_date = bool(dates_in(line.question.question))
        dated += names_a_date
        amending = set(line.question.amending)
        if not (amending <= any_state if names_a_date else amending == last):
            problem = (
                f"{line.question.id}: amending is {_list(amending)}, the ledger's last states are of {_list(last)}"
            )
            yield Finding(subject.at_question(line), problem, "name the documents that decided the last states")
    if dated:
        yield Unchecked(f"which state is meant, where a question names a date: {dated}")


def stale_is_earlier(subject: Subject) -> Iterator[Finding]:
    """Each stale value is an earlier state's, and each state that no longer holds has its stale value."""
    facts = _facts(subject)
    for line in subject.key:
        question, place = line.question, subject.at_question(line)
        history = [facts[name] for name in line.facts if name in facts]
        if not history or not question.stale or dates_in(question.question):
            continue
        phrases = {
            f"{fact.id} {state.value!r}": [squeezed(one.casefold()) for one in _said(state)]
            for fact in history
            for state in superseded(fact)
        }
        met: set[str] = set()
        for value in question.stale:
            flat = squeezed(value.casefold())
            of = {name for name, said in phrases.items() if any(flat in one or one in flat for one in said)}
            met |= of
            if not of:
                problem = f"{question.id}: the stale value {value!r} is no earlier state of {', '.join(line.facts)}"
                yield Finding(place, problem, "write words of a superseded state's quote")
        if question.category == SUPERSESSION:
            for name in (name for name in phrases if name not in met):
                yield Finding(place, f"{question.id}: no stale value for the superseded state {name}", "add one")


def _said(state: State) -> tuple[str, ...]:
    """What speaks of a state; a bare yes or no stands in any text."""
    return tuple(one for one in (state.quote, state.value, *state.says) if one not in ("yes", "no"))


def gold_holds_states(subject: Subject) -> Iterator[Finding]:
    """Gold has the document of each fact's last state; on supersession also one, not amending, of each stale value."""
    facts = _facts(subject)
    for line in subject.key:
        question, place = line.question, subject.at_question(line)
        dated = bool(dates_in(question.question))
        for fact in (facts[name] for name in line.facts if name in facts and not dated):
            if fact.states and fact.states[-1].doc not in question.gold:
                problem = f"{question.id}: gold is without {fact.states[-1].doc}, which decided {fact.id}"
                yield Finding(place, problem, "add it to gold")
        outdated = [doc for doc in question.gold if doc not in question.amending and doc in subject.folded]
        for value in question.stale if question.category == SUPERSESSION else ():
            if not any(squeezed(value.casefold()) in subject.folded[doc] for doc in outdated):
                problem = f"{question.id}: the stale value {value!r} stands in no gold document but the amending"
                yield Finding(place, problem, "add the superseded document to gold")


def superseded_fails(subject: Subject) -> Iterator[Finding]:
    """An answer that quotes a state which no longer holds, and only that, does not meet the key."""
    facts = _facts(subject)
    for line in subject.key:
        if line.question.category != SUPERSESSION or dates_in(line.question.question):
            continue
        for fact in (facts[name] for name in line.facts if name in facts):
            for state in superseded(fact):
                if line.question.must_contain and subject.passes(state.quote, line.question.must_contain):
                    problem = f"{line.question.id}: the superseded {state.quote!r} passes must_contain"
                    yield Finding(subject.at_question(line), problem, "demand what only the last state says")


def topics(subject: Subject) -> Iterator[Finding]:
    """A topic's documents are exactly those of the ledger's in which one of its words stands."""
    for number, topic in enumerate(subject.ledger.topics):
        place = subject.at_ledger("topics", number)
        found = {doc for doc in subject.own if subject.hits(subject.texts[doc], topic.words)}
        for doc in sorted(found - set(topic.docs)):
            problem = f"topic {topic.id}: {doc} mentions it and is not listed"
            yield Finding(place, problem, "add it to docs, or choose narrower words")
        for doc in sorted(set(topic.docs).intersection(subject.own) - found):
            problem = f"topic {topic.id}: {doc} is listed and has none of its words"
            yield Finding(place, problem, "take it out of docs, or add the word it uses")


def derivations(subject: Subject) -> Iterator[Outcome]:
    """Answers about every document follow from a topic: the same documents, all of them gold, and the right count."""
    mentioning = {
        topic.id: [doc for doc in subject.own if subject.hits(subject.texts[doc], topic.words)]
        for topic in subject.ledger.topics
    }
    foreign = 0
    for line in subject.key:
        if isinstance(line.derivation, Derived) and line.derivation.topic in mentioning:
            yield from _derived(subject, line, line.derivation, mentioning[line.derivation.topic])
        elif line.derivation is not None and not isinstance(line.derivation, Derived):
            foreign += 1
    if foreign:
        yield Unchecked(f"answers whose derivation is in a language of its own: {foreign}")


def _derived(subject: Subject, line: KeyLine, derived: Derived, mentioning: list[str]) -> Iterator[Finding]:
    question, place = line.question, subject.at_question(line)
    docs = [doc for doc in subject.own if (doc in mentioning) == derived.mentioned]
    verb = "mention" if derived.mentioned else "do not mention"
    if set(derived.docs) != set(docs):
        problem = f"{question.id}: {_list(docs)} {verb} {derived.topic}, the derivation says {_list(derived.docs)}"
        yield Finding(place, problem, "correct docs and the answer")
    if set(question.gold) != set(subject.own):
        problem = f"{question.id}: an answer about every document with {len(question.gold)} gold documents"
        yield Finding(place, problem, f"make all {len(subject.own)} documents gold")
    count = [str(len(docs)), *(words[len(docs)] for words in NUMBERS.values() if len(docs) < len(words))]
    if line.subtype == "count" and not subject.hits(question.reference, count):
        problem = f"{question.id}: {len(docs)} documents {verb} {derived.topic}, the reference does not say so"
        yield Finding(place, problem, "correct the reference")


def _facts(subject: Subject) -> Mapping[str, Fact]:
    return {fact.id: fact for fact in subject.ledger.facts}


def _list(documents: Iterator[str] | set[str] | list[str] | tuple[str, ...]) -> str:
    return ", ".join(sorted(documents)) or "none"
