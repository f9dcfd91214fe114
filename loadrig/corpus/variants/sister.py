"""A sister project: another organisation that bought something of the same kind, and its papers.

Rules: project, organisation and most people and places have other names; suppliers and a few people and places are the
same, so that these names alone lead nowhere; names that a question relies on to say which project it means are never
shared. Figures and dates are the sister's own, sometimes equal. Its papers say early and again and again whose they
are. Nothing in them is about the original's project; a few say its name in passing, in a sentence that states nothing
about it. Every choice hangs on the seed and the sister's number, so papers can be made one at a time.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from loadrig.corpus.ledger import Name, NameKind
from loadrig.corpus.variants.amounts import Amounts
from loadrig.corpus.variants.naming import Names, changing_words, invented, with_cases

SHARED: dict[NameKind, float] = {"supplier": 0.8, "person": 0.12, "place": 0.25, "other": 0.5}
OWN: tuple[NameKind, ...] = ("project", "organisation")
WORDS_BETWEEN = 70  # at most this many words without the project's name, so that no passage is without
_LABEL = re.compile(r"^(?P<label>(?:- )?(?:\*\*[^*]+\*\*\s*|\d+(?:\.\d+)+ )?)(?P<rest>.*)$", re.DOTALL)
_DECISION = re.compile(r"\b(?P<word>Decision|Decided|Agreed|So, decision)(?P<after>: )")
_OPENINGS = ("On {project}: ", "{project}: ", "As to {project}: ", "({project}.) ", "For {project}: ")
_PASSING = (
    "A colleague who came to us from {name} some years ago sat in on this and said nothing.",
    "Somebody had left a leaflet about {name} on the table; it was put aside.",
    "The post for {name} had once more been delivered to the wrong house, and was sent on.",
    "A visitor who works on {name} listened for a while and left before the vote.",
    "Whether to ask the people of {name} was raised, and it was thought better not to trouble them.",
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What sisters are made from: the ledger's names, words of names that may not be shared, ordinary words."""

    names: tuple[Name, ...]
    held: frozenset[str]
    ordinary: frozenset[str]
    year: int
    seed: int

    @property
    def project(self) -> str:
        """The project's name."""
        return next(name.name for name in self.names if name.kind == "project")


@dataclass(frozen=True, slots=True)
class Sister:
    """One sister project. `slug` is its name as ids and access labels have it."""

    project: str
    slug: str
    names: Names
    amounts: Amounts

    def of(self, text: str) -> str:
        """An original's text as this project's: names, figures, dates."""
        return self.names.of(self.amounts.of(text))


def sister(number: int, origin: Origin, taken: set[str]) -> Sister:
    """The sister of this number; its new names are added to `taken` in small letters, so that no other has them."""
    chance = random.Random(f"{origin.seed}:sister:{number}")
    words: dict[str, str] = {}
    shared: set[str] = set()
    for name, changing in _widest_first(origin):
        if any(word in words for word in changing) or not _is_shared(name.kind, changing, origin, chance):
            for word in changing:
                if word not in words and word not in shared:
                    words[word] = invented(word, taken, chance)
        else:
            shared.update(changing)
    names = Names(with_cases(words, origin.ordinary))
    project = names.of(origin.project)
    days = 7 * chance.choice((-1, 1)) * chance.randint(8, 330)
    amounts = Amounts(f"{origin.seed}:{number}", days, origin.year, chance.randint(1, 12))
    return Sister(project, slug(project), names, amounts)


def slug(name: str) -> str:
    """A name as an access label or a part of an id.

    >>> slug("Velmora North")
    'velmora-north'
    """
    return "-".join(re.findall(r"\w+", name.casefold()))


def branded(text: str, project: str) -> str:
    """The text with the project's name put before what has gone too long without it."""
    chance = random.Random(f"{project}:{len(text)}")
    lines: list[str] = []
    since = WORDS_BETWEEN  # so that the first paragraph has it
    for line in text.split("\n"):
        words = len(line.split())
        if project in line:
            since = words // 2
        elif words > 8 and not line.startswith("#") and since + words > WORDS_BETWEEN:
            lines.append(_with_name(line, project, chance))
            since = words
            continue
        else:
            since += words
        lines.append(line)
    return "\n".join(lines)


def in_passing(text: str, name: str, chance: random.Random) -> str:
    """The text with one more sentence at the end of a paragraph, which has the name and states nothing about it."""
    paragraphs = text.split("\n\n")
    long = [at for at, paragraph in enumerate(paragraphs) if len(paragraph.split()) > 12 and paragraph[0] not in "#-|"]
    if long:
        paragraphs[chance.choice(long)] += " " + chance.choice(_PASSING).format(name=name)
    return "\n\n".join(paragraphs)


def _widest_first(origin: Origin) -> list[tuple[Name, list[str]]]:
    """Names with the words they change, those of several words first: they decide whether their words are shared."""
    changing = changing_words(origin.names, origin.ordinary)
    by_name = {name.name: name for name in origin.names}
    pairs = [(by_name[name], words) for name, words in changing.items()]
    return sorted(pairs, key=lambda pair: (pair[0].kind not in OWN, -len(pair[0].name.split())))


def _is_shared(kind: NameKind, words: list[str], origin: Origin, chance: random.Random) -> bool:
    return chance.random() < SHARED.get(kind, 0.0) and origin.held.isdisjoint(words)


def _with_name(line: str, project: str, chance: random.Random) -> str:
    if _DECISION.search(line):
        return _DECISION.sub(rf"\g<word> on {project}\g<after>", line, count=1)
    found = _LABEL.match(line)
    assert found is not None, "the pattern matches any text"
    return found["label"] + chance.choice(_OPENINGS).format(project=project) + found["rest"]
