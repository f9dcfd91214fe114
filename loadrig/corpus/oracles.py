"""Readers without understanding: which state of a fact one would name who only counts or places its mentions.

Rules: a document mentions a state where one of its phrases (`says` and `quote`) stands as whole words, case and white
space aside; of phrases that overlap the longest counts. Documents are read in order of their true dates. *First
mention* and *last mention* name the state mentioned first and last, *most frequent* the value mentioned most often (of
several the one met first). One is right about a fact when the value named is that of its last state, and about a
question when it is right about each fact that the question rests on. A corpus that all of them pass tests no reading.

Facts of a single state are left out: there is nothing to be mistaken about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadrig.corpus.ledger import Fact, State


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase of a state in a document, `at` characters into its text."""

    doc: str
    at: int
    state: State
    phrase: str


@dataclass(frozen=True, slots=True)
class Score:
    """How many facts and questions an oracle has right, of how many."""

    oracle: str
    facts_right: int
    facts: int
    questions_right: int
    questions: int


def first_mention(mentions: Sequence[Mention]) -> str | None:
    """The value mentioned first; None without a mention."""
    return mentions[0].state.value if mentions else None


def last_mention(mentions: Sequence[Mention]) -> str | None:
    """The value mentioned last."""
    return mentions[-1].state.value if mentions else None


def most_frequent(mentions: Sequence[Mention]) -> str | None:
    """The value mentioned most often, of several the one met first."""
    counts = Counter(mention.state.value for mention in mentions)
    return counts.most_common(1)[0][0] if counts else None


ORACLES: Mapping[str, Callable[[Sequence[Mention]], str | None]] = {
    "first mention": first_mention,
    "last mention": last_mention,
    "most frequent": most_frequent,
}


def mentions_of(fact: Fact, texts: Mapping[str, str]) -> list[Mention]:
    """Every mention, in reading order. `texts` are the documents by id, oldest first, case folded, single blanks."""
    phrases = {
        folded: (state, phrase)
        for state in fact.states
        for phrase in (*state.says, state.quote)
        if (folded := " ".join(phrase.casefold().split()))
    }
    longest_first = sorted(phrases, key=len, reverse=True)
    return [mention for doc, text in texts.items() for mention in _in_text(doc, text, longest_first, phrases)]


def changing(facts: Iterable[Fact]) -> list[Fact]:
    """Those with more than one state."""
    return [fact for fact in facts if len(fact.states) > 1]


def scores(facts: Iterable[Fact], texts: Mapping[str, str], questions: Iterable[Iterable[str]]) -> tuple[Score, ...]:
    """One score an oracle; `questions` are the fact ids that each rests on, those without a changing fact left out."""
    history = changing(facts)
    found = {fact.id: mentions_of(fact, texts) for fact in history}
    asked = [ids for rests_on in questions if (ids := [fact for fact in rests_on if fact in found])]
    return tuple(_score(name, history, found, asked) for name in ORACLES)


def _score(
    name: str, history: Sequence[Fact], found: Mapping[str, Sequence[Mention]], asked: Sequence[Sequence[str]]
) -> Score:
    right = {fact.id for fact in history if ORACLES[name](found[fact.id]) == fact.states[-1].value}
    passed = sum(right.issuperset(facts) for facts in asked)
    return Score(name, len(right), len(history), passed, len(asked))


def _in_text(
    doc: str, text: str, longest_first: Iterable[str], phrases: Mapping[str, tuple[State, str]]
) -> list[Mention]:
    taken: list[tuple[int, int]] = []
    mentions: list[Mention] = []
    for folded in longest_first:
        for match in re.finditer(rf"(?<!\w){re.escape(folded)}(?!\w)", text):
            begin, end = match.span()
            if all(end <= other_begin or other_end <= begin for other_begin, other_end in taken):
                taken.append((begin, end))
                mentions.append(Mention(doc, begin, *phrases[folded]))
    return sorted(mentions, key=lambda mention: mention.at)
