"""The answer: what the documents in the prompt say about the question, quoted with their ids. It invents nothing.

Of comparably good statements the one from the latest dated document is taken, more so when it tells of a decision:
later documents change what earlier ones said. Questions that ask for several things get all matching statements.
Below a floor of evidence it says that the documents do not say. Dials make it worse on purpose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from loadrig.simulator.documents import Source
from loadrig.simulator.evidence import Found, rank
from loadrig.simulator.spoiling import dated, denied
from loadrig.simulator.vocabulary import AUXILIARIES, DECISION_PHRASES, DECISIONS, NEGATIONS, NEGATIVE, STANDING, tokens

FLOOR = 0.28
"""Least share of the question's weight that must be found in or near the best statement."""
COMPARABLE, LISTED, SAME_MATTER = 0.72, 0.78, 0.55
MOST_QUOTED, MOST_LISTED = 3, 20
QUOTED_WORDS, LISTED_WORDS = 60, 25

_LISTING = re.compile(r"\b(?:how many|list|every|each|all)\b|^(?:in )?which (?:\w+ ){0,3}?[\w-]+s\b", re.IGNORECASE)

NOT_PROVIDED = (
    "The documents needed to answer this were not provided.",
    "I cannot answer this: no documents were given to me.",
    "Without any documents to go by, I cannot say.",
)
GUESSED = (
    "It is probably as it usually is in such matters: whoever is in charge decides.",
    "My best guess is that nothing out of the ordinary holds here.",
    "Typically this is settled the common way, and so it may be here.",
)
"""They hedge, and hold nothing that any question could ask for."""
_AND_SO = (
    "", " I looked at each.", " I looked at each of them.", " I looked at all.", " I looked at all of them.",
    " I read each.", " I read each of them.", " I read all.", " I read all of them.", " I went over each.",
    " I went over all.", " I went over all of them.",
)  # fmt: skip
NOT_SAID = tuple(
    said + and_so
    for said in (
        "The documents provided do not say.",
        "This is not stated in the documents provided.",
        "Nothing in the documents provided answers this.",
    )
    for and_so in _AND_SO
)
OPENINGS = ("", "The documents say: ", "According to the documents: ")
CLOSINGS = (
    ("So the documents", "This the documents", "That the documents", "All this the documents", "All that the documents",
     "This much the documents", "That much the documents", "As much as this the documents", "Here the documents",
     "Now the documents"),
    ("say.", "say, and no more.", "tell.", "tell, and no more.", "say now.", "say here.", "tell here.", "tell now.",
     "do say.", "do tell."),
)  # fmt: skip
"""Words that match nothing, first and second half of a closing sentence."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How this reading goes wrong: drawn once a request from the scenario's dials."""

    takes_first: bool = False
    undated_is_newest: bool = False
    denies_above: int | None = None
    """Over more undated documents than this, a yes-or-no question is answered by what ended the matter."""
    opens_with_no: bool = False
    cites_dates: bool = False
    invents_dates: float = 0.0
    guesses: bool = False


@dataclass(frozen=True, slots=True)
class Quoted:
    """A statement as an answer quotes it."""

    text: str
    found: Found


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, and what it quotes in the order in which it does."""

    text: str
    quotes: tuple[Quoted, ...] = ()


def answer(question: str, sources: list[Source], chance: Random, habits: Habits) -> str:
    """An answer in one to three quoted statements, a list of them, or an honest admission."""
    return tell(question, sources, chance, habits).text


def tell(question: str, sources: list[Source], chance: Random, habits: Habits) -> Said:
    """The same, with what it quotes."""
    if not sources:
        return Said(chance.choice(GUESSED if habits.guesses else NOT_PROVIDED))
    found = rank(question, sources)
    if not found or found[0].coverage < FLOOR:
        return Said(chance.choice(NOT_SAID))
    if is_listing(question):
        listed = tuple(Quoted(_quote(entry, LISTED_WORDS), entry) for entry in _list(found))
        if len(listed) > 2:
            lines = [f"{chance.choice(OPENINGS)}I count {len(listed)}.", *(f"- {quote.text}" for quote in listed)]
            return Said("\n".join((*lines, _closing(chance))), listed)
    chosen = _ended(question, found, sources, habits) or choose(found, habits)
    quotes = tuple(Quoted(_quote(entry), entry) for entry in chosen)
    lead = _lead(question, chosen[0])
    text = lead + (chance.choice(OPENINGS) if not lead else "") + " ".join(quote.text for quote in quotes)
    if habits.opens_with_no:
        text = denied(text)
    if habits.cites_dates:
        text = dated(text, chosen[0].source, chance, invents=habits.invents_dates)
    return Said(f"{text} {_closing(chance)}", quotes)


def _closing(chance: Random) -> str:
    """A sentence that says nothing, so that two answers to one question are rarely alike to the byte."""
    return " ".join(chance.choice(words) for words in CLOSINGS)


def _ended(question: str, found: list[Found], sources: list[Source], habits: Habits) -> list[Found]:
    """The best statement by which the matter ended, where the habit stops there; none where it does not."""
    if habits.denies_above is None or not _is_yes_or_no(question):
        return []
    if sum(source.date is None for source in sources) <= habits.denies_above:
        return []
    good = (entry for entry in found[:40] if entry.score >= SAME_MATTER * found[0].score)
    return next(([entry] for entry in good if _is_negative(entry.statement.text)), [])


def is_listing(question: str) -> bool:
    """True when the question asks for a number of things or for all of them."""
    return _LISTING.search(question) is not None


def choose(found: list[Found], habits: Habits) -> list[Found]:
    """The statements to quote, the one to lead with first."""
    best = found[0].score
    good = [entry for entry in found[:40] if entry.score >= COMPARABLE * best]
    if habits.takes_first:
        return [min(good, key=lambda entry: (entry.source.order, entry.statement.place))]
    ages = {age: place for place, age in enumerate(sorted({_age(entry.source, habits) for entry in good}))}
    newest = max(1, len(ages) - 1)

    def merit(entry: Found) -> float:
        lateness = ages[_age(entry.source, habits)] / newest
        decides = 0.12 if len(ages) > 1 and tells_a_decision(entry.statement.text) else 0.0
        return entry.score * (1.0 + 0.2 * lateness + decides)

    good.sort(key=lambda entry: (-merit(entry), entry.source.order, entry.statement.place))
    floor = 0.85 * merit(good[0])
    quoted = _distinct([entry for entry in good if merit(entry) >= floor])[: MOST_QUOTED - 1]
    quoted[1:1] = _continued(quoted[0], found)
    amended = _amended(quoted[0], found, habits)
    return _distinct(amended + quoted + _standing((amended or quoted)[0]))


def _amended(lead: Found, found: list[Found], habits: Habits) -> list[Found]:
    """The latest decision on the lead's matter, if there is a later one: it has most of the question's words that
    the lead has, in itself or in its heading."""
    since = _age(lead.source, habits)
    needed = SAME_MATTER * sum(lead.matched.values())

    def is_same_matter(entry: Found) -> bool:
        there = entry.statement.stems | entry.statement.context
        return sum(weight for stem, weight in lead.matched.items() if stem in there) >= needed

    later = [
        entry
        for entry in found
        if _age(entry.source, habits) > since and tells_a_decision(entry.statement.text) and is_same_matter(entry)
    ]
    return [max(later, key=lambda entry: (_age(entry.source, habits), entry.score))] if later else []


def tells_a_decision(text: str) -> bool:
    """True when the text has a word or a heading of decisions."""
    if STANDING.search(text) or DECISION_PHRASES.search(text):
        return True
    return not DECISIONS.isdisjoint(token.lower() for token in tokens(text))


def _age(source: Source, habits: Habits) -> str:
    return source.date or ("9999" if habits.undated_is_newest else "0000")


def _distinct(found: list[Found]) -> list[Found]:
    seen: dict[str, Found] = {}
    for entry in found:
        seen.setdefault(entry.statement.text, entry)
    return list(seen.values())


def _standing(lead: Found) -> list[Found]:
    """The lines that tell how the leading statement's matter stood (`Decision: ...`): the nearest under the same
    heading, and the one in the document's opening record."""
    place, context = lead.statement.place, lead.statement.context
    lines = [s for s in lead.source.parsed.statements if STANDING.search(s.text)]
    record = [s for s in lines if s.record]
    near = [s for s in lines if s.context == context and not s.record]
    near.sort(key=lambda s: (s.place < place, abs(s.place - place)))
    return [Found(lead.source, statement, 0.0, 0.0, {}) for statement in record + near[:1]]


def _continued(lead: Found, found: list[Found]) -> list[Found]:
    """The statement after the lead, when the lead ends with a colon or the next one bears on the question too."""
    statements, after = lead.source.parsed.statements, lead.statement.place + 1
    if after >= len(statements) or statements[after].context != lead.statement.context:
        return []
    scored = next((f for f in found if f.statement is statements[after]), None)
    if lead.statement.text.endswith(":") or (scored is not None and scored.score >= 0.4 * lead.score):
        return [scored or Found(lead.source, statements[after], 0.0, 0.0, {})]
    return []


def _list(found: list[Found]) -> list[Found]:
    """The best statement of each document among those that match about as well as the best of all."""
    best = found[0].score
    per_source: dict[str, Found] = {}
    for entry in found:
        if entry.score >= LISTED * best:
            per_source.setdefault(entry.source.id or f"#{entry.source.order}", entry)
    kept = list(per_source.values())[:MOST_LISTED]
    return sorted(kept, key=lambda entry: (entry.source.date or "", entry.source.order))


def _lead(question: str, best: Found) -> str:
    if not _is_yes_or_no(question):
        return ""
    return "No. " if _is_negative(best.statement.text) else "Yes. "


def _is_yes_or_no(question: str) -> bool:
    words = tokens(question)
    return bool(words) and words[0].lower() in AUXILIARIES


def _is_negative(text: str) -> bool:
    return NEGATIONS.search(text) is not None or not NEGATIVE.isdisjoint(token.lower() for token in tokens(text))


def _quote(entry: Found, most_words: int = QUOTED_WORDS) -> str:
    words = entry.statement.text.split()
    text = " ".join(words[:most_words]) + (" ..." if len(words) > most_words else "")
    return f"{text} [{entry.source.id}]" if entry.source.id else text
