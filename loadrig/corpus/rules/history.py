"""Rules on the ledger's facts: every state can be read in its document, and no document sums them up."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from loadrig.corpus.ledger import Fact, State
from loadrig.corpus.oracles import changing, mentions_of
from loadrig.corpus.rules.key import quote_fault
from loadrig.corpus.rules.outcome import Finding, Note, Outcome
from loadrig.corpus.rules.subject import Subject
from loadrig.measures.recall import squeezed


def states_stand(subject: Subject) -> Iterator[Finding]:
    """A state's quote stands in its document, inside one chunk, at its date; states are in order of time."""
    dates = {document.id: document.date for document in subject.ledger.documents}
    for number, fact in enumerate(subject.ledger.facts):
        for at, state in enumerate(fact.states):
            place = subject.at_ledger("facts", number, "states", at)
            if fault := quote_fault(subject, state.doc, state.quote):
                place_of_quote = subject.at_ledger("facts", number, "states", at, "quote")
                problem = f"fact {fact.id}: the quote {fault}: {state.quote!r}"
                yield Finding(place_of_quote, problem, "copy the deciding sentence word for word")
            if state.date != dates.get(state.doc, state.date):
                problem = f"fact {fact.id}: a state of {state.date}, but {state.doc} is of {dates[state.doc]}"
                yield Finding(place, problem, "give the state the date of its document")
            if at and state.date < fact.states[at - 1].date:
                problem = f"fact {fact.id}: the state of {state.date} stands after one of {fact.states[at - 1].date}"
                yield Finding(place, problem, "list states oldest first")


def states_say(subject: Subject) -> Iterator[Finding]:
    """Each phrase of a state stands in its document, one of them in the quote; no phrase speaks for two values."""
    for number, fact in enumerate(subject.ledger.facts):
        spoken: dict[str, str] = {}
        for at, state in enumerate(fact.states):
            place = subject.at_ledger("facts", number, "states", at)
            text = subject.folded.get(state.doc, "")
            absent = [phrase for phrase in state.says if squeezed(phrase.casefold()) not in text]
            if text and absent:
                problem = f"fact {fact.id}: {state.doc} does not say {absent[0]!r}"
                yield Finding(place, problem, "copy the phrase from the document, or take it out of says")
            if state.says and not any(phrase.casefold() in state.quote.casefold() for phrase in state.says):
                problem = f"fact {fact.id}: the quote holds none of the phrases that say {state.value!r}"
                yield Finding(place, problem, "add a phrase of the quote to says")
            for phrase in (*state.says, state.quote):
                other = spoken.setdefault(phrase.casefold(), state.value)
                if other != state.value:
                    problem = f"fact {fact.id}: {phrase!r} says both {other!r} and {state.value!r}"
                    yield Finding(place, problem, "choose phrases that speak of one value only")


def histories(subject: Subject) -> Iterator[Outcome]:
    """Each state differs from the one before, and the history has the shape that its pattern names."""
    for number, fact in enumerate(subject.ledger.facts):
        place = subject.at_ledger("facts", number)
        for earlier, later in itertools.pairwise(fact.states):
            if earlier.value == later.value:
                problem = f"fact {fact.id}: two states in a row are {later.value!r}"
                yield Finding(place, problem, "merge them, or say what changed")
        if not fact.states:
            yield Finding(place, f"fact {fact.id}: it has no state", "write its states, or remove the fact")
        elif fact.pattern not in _SHAPES:
            yield Note(f"fact {fact.id}: no shape is known for pattern {fact.pattern!r}", place)
        elif not _SHAPES[fact.pattern]([state.value for state in fact.states]):
            shape = ", ".join(repr(state.value) for state in fact.states)
            problem = f"fact {fact.id}: {shape} is not the shape of pattern {fact.pattern!r}"
            yield Finding(place, problem, "name another pattern, or correct the states")


def final_values(subject: Subject) -> Iterator[Outcome]:
    """What gives a last state away stands in its deciding document and no other, and no document holds all of it."""
    facts = [(number, fact) for number, fact in enumerate(subject.ledger.facts) if fact.final and fact.states]
    held = {doc: [fact.id for _, fact in facts if _holds(text, fact)] for doc, text in subject.folded.items()}
    for number, fact in facts:
        place, deciding = subject.at_ledger("facts", number, "final"), fact.states[-1].doc
        if fact.id not in held.get(deciding, [fact.id]):
            problem = f"fact {fact.id}: {deciding} does not hold all of {', '.join(map(repr, fact.final))}"
            yield Finding(place, problem, "copy the phrases of final from the deciding document")
        for other in (doc for doc in subject.own if doc != deciding and fact.id in held[doc]):
            problem = f"fact {fact.id}: {other} also holds all of {', '.join(map(repr, fact.final))}"
            yield Finding(place, problem, f"reword {other}, or choose phrases that only {deciding} holds")
    final = {fact.id for fact in changing(fact for _, fact in facts)}
    fullest = max(held, key=lambda doc: len(final.intersection(held[doc])))
    if len(final) > 1 and final <= set(held[fullest]):
        problem = f"the document holds the final values of all {len(final)} changing facts"
        yield Finding(subject.at_text(fullest), problem, "spread the last decisions over several documents")
    if final:
        count = len(final.intersection(held[fullest]))
        yield Note(f"no document holds more than {count} of {len(final)} final values ({fullest})")


def last_mention_right(subject: Subject) -> Iterator[Finding]:
    """In texts without requoting, the last document to mention a state of a fact says which one holds."""
    texts = own_texts(subject)
    for number, fact in enumerate(subject.ledger.facts):
        place, found = subject.at_ledger("facts", number), mentions_of(fact, texts)
        if not found:
            problem = f"fact {fact.id}: no document mentions any of its states"
            yield Finding(place, problem, "choose phrases for says that stand in the texts")
        elif found[-1].state.value != fact.states[-1].value:
            last = found[-1]
            problem = (
                f"fact {fact.id}: the last mention, {last.phrase!r}, says {last.state.value!r}, "
                f"not {fact.states[-1].value!r}"
            )
            remedy = "reword the text after the decision, or make the phrases in says more exact"
            yield Finding(subject.at_text(last.doc, last.phrase), problem, remedy)


def superseded(fact: Fact) -> list[State]:
    """The states whose value no longer holds; a value that came back is not among them."""
    return [state for state in fact.states[:-1] if state.value != fact.states[-1].value]


def own_texts(subject: Subject) -> dict[str, str]:
    """The folded texts of the ledger's documents, in order of their true dates."""
    return {doc: subject.folded[doc] for doc in subject.own}


def _holds(text: str, fact: Fact) -> bool:
    return all(squeezed(phrase.casefold()) in text for phrase in fact.final)


def _kinds(values: Sequence[str]) -> list[str]:
    """`yes` or `no` of values such as `yes: search and requests`."""
    return [value.split(":")[0].strip().casefold() for value in values]


def _alternates(values: Sequence[str], *, end: str) -> bool:
    kinds = _kinds(values)
    return kinds[-1] == end and all(one in ("yes", "no") and one != two for one, two in itertools.pairwise(kinds))


_SHAPES: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "stable": lambda values: len(values) == 1,
    "amendment": lambda values: len(values) > 1 and len(set(values)) == len(values),
    "reversal": lambda values: len(values) > 2 and values[-1] in values[:-1],
    "narrowed": lambda values: len(values) > 2 and _alternates(values, end="yes") and values[-1] not in values[:-1],
    "reinstated": lambda values: len(values) > 2 and _alternates(values, end="yes"),
    "unbuilt": lambda values: len(values) > 1 and _alternates(values, end="no"),
    "abolished": lambda values: len(values) > 1 and _alternates(values, end="no"),
}
