"""Appendices that requote what no longer holds, word for word, with its date and place.

Rules: a state that was replaced, and whose value did not come back, is requoted in a document later than the one that
replaced it, else at the end of that one; of each fact one stands behind its last mention, and of all at least one in
the newest document. Of documents that can take it, the one with the fewest does. Nothing false is added: what is added
is a heading, the quotation, and where and when it was written. A quotation goes only where it makes no document speak
of a topic of the ledger that it was silent about, since answers are counted from those; a state for which that leaves
no document is not requoted and is named in `left_out`.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from loadrig.corpus.ledger import Fact, Ledger, State, Topic
from loadrig.corpus.oracles import mentions_of
from loadrig.corpus.variants.dates import written
from loadrig.measures.recall import squeezed

_HEADINGS = (
    "Appendix: earlier wording, for reference",
    "Appendix: what was written before",
    "Appendix: former wording, with its source",
    "For the file: earlier wording",
    "Annex: wording of older papers",
    "Appendix, from the older papers",
)
_SENTENCES = (
    "{where}{comma} said: {quote}.",
    "{where}{comma} had it as follows: {quote}.",
    "The text of that time, from {where}: {quote}.",
    "{quote}: so it stood in {where}.",
    "This is what {where}{comma} said: {quote}.",
    "{quote}, in the words of {where}.",
    "From {where}: {quote}.",
    "In {where}{comma} one could read: {quote}.",
)
_SECTION = re.compile(r"^#{2,} (\d+)\.?(?: |$)", re.MULTILINE)
_PARAGRAPH = re.compile(r"^(\d+(?:\.\d+)+)\.? ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """How a document is spoken of (`the minutes`, or its title), its date (ISO), and the text that quotes stand in."""

    called: str
    date: str
    text: str


@dataclass(frozen=True, slots=True)
class Requote:
    """A state that no longer holds, and the document whose appendix requotes it."""

    fact: str
    state: State
    into: str


@dataclass(frozen=True, slots=True)
class Requotes:
    """What is requoted where, and which states (`fact: value`) found no document."""

    placed: tuple[Requote, ...]
    left_out: tuple[str, ...]

    def into(self, doc: str) -> list[Requote]:
        """Those of one document's appendix."""
        return [requote for requote in self.placed if requote.into == doc]


def place(ledger: Ledger, sources: Mapping[str, Source], seed: str) -> Requotes:
    """Chooses a document for each state that no longer holds; `sources` has each document of the ledger by its id."""
    order = [dated.id for dated in ledger.documents]
    placed: list[Requote] = []
    left_out: list[str] = []
    for fact in ledger.facts:
        for number, (state, following) in enumerate(_superseded(fact)):
            at = max(order.index(following.doc), 0 if number else order.index(_last_mention(fact, order, sources)))
            free = _free(state, order[at + 1 :], sources, ledger.topics) or _free(
                state, [order[at]], sources, ledger.topics
            )
            if not free:
                left_out.append(f"{fact.id}: {state.value}")
                continue
            taken = Counter(requote.into for requote in placed)
            fewest = min(taken[doc] for doc in free)
            chance = random.Random(f"{seed}:place:{fact.id}:{number}")
            placed.append(Requote(fact.id, state, chance.choice([doc for doc in free if taken[doc] == fewest])))
    newest = order[-1]
    if all(requote.into != newest for requote in placed):
        able = [at for at, one in enumerate(placed) if _free(one.state, [newest], sources, ledger.topics)]
        if able:
            at = random.Random(f"{seed}:newest").choice(able)
            placed[at] = replace(placed[at], into=newest)
    return Requotes(tuple(placed), tuple(left_out))


def appendix(requotes: Sequence[Requote], sources: Mapping[str, Source], topics: Sequence[Topic], seed: str) -> str:
    """The appendix of one document, from its heading to its last line. Wording and form differ by document."""
    chance = random.Random(f"{seed}:appendix:{requotes[0].into}")
    words = [word for topic in topics for word in topic.words]
    sentences = [sentence for sentence in _SENTENCES if not _mentions(sentence, words)]
    chance.shuffle(sentences)
    entries = [_entry(sentences[at % len(sentences)], one.state, sources) for at, one in enumerate(requotes)]
    chance.shuffle(entries)
    heading = chance.choice([heading for heading in _HEADINGS if not _mentions(heading, words)])
    listed = len(entries) > 1 and chance.random() < 0.5
    body = "\n".join(f"- {entry}" for entry in entries) if listed else "\n\n".join(entries)
    return f"## {heading}\n\n{body}\n"


def _superseded(fact: Fact) -> list[tuple[State, State]]:
    """States whose value does not hold in the end, each with the one that replaced it; the latest first."""
    pairs = [pair for pair in pairwise(fact.states) if pair[0].value != fact.states[-1].value]
    return pairs[::-1]


def _last_mention(fact: Fact, order: Sequence[str], sources: Mapping[str, Source]) -> str:
    """The document that is the last to speak of any state: behind it one requote has to stand to mislead."""
    mentions = mentions_of(fact, {doc: squeezed(sources[doc].text.casefold()) for doc in order})
    return mentions[-1].doc if mentions else fact.states[-1].doc


def _entry(sentence: str, state: State, sources: Mapping[str, Source]) -> str:
    where = _where(state, sources[state.doc])
    quote = squeezed(state.quote)
    mark = "'" if '"' in quote else '"'
    entry = sentence.format(where=where, quote=f"{mark}{quote}{mark}", comma="," if "," in where else "")
    return entry[0].upper() + entry[1:]


def _where(state: State, source: Source) -> str:
    """`the minutes of 7 February 2034, item 3`: the paragraph's number where it has one, else its section's."""
    at = source.text.find(state.quote)
    line = source.text[source.text.rfind("\n", 0, at) + 1 : at + 1]
    paragraph = _PARAGRAPH.match(line)
    sections = _SECTION.findall(source.text[: max(at, 0)])
    last_heading = source.text.rfind("\n#", 0, max(at, 0))
    numbered = bool(_SECTION.match(source.text[last_heading + 1 :]))
    place = f", paragraph {paragraph[1]}" if paragraph else f", item {sections[-1]}" if sections and numbered else ""
    return f"{source.called} of {written(source.date)}{place}"


def _free(state: State, docs: Sequence[str], sources: Mapping[str, Source], topics: Sequence[Topic]) -> list[str]:
    """The documents that can quote a state and speak of no topic that they were silent about."""
    added = f"{state.quote} {sources[state.doc].called}"
    new = [topic for topic in topics if _mentions(added, topic.words)]
    return [doc for doc in docs if all(doc in topic.docs for topic in new)]


def _mentions(text: str, words: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in words)
