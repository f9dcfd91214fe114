"""Which statements of a prompt bear on a question: overlap of words, each weighed by its rarity in this very prompt.

score(statement) = sum of idf over question stems in the statement, those found only in its heading, its neighbours
or its document's title counting less, divided by a mild penalty for length; less when it adds next to nothing to the
question, more when it holds the kind of thing asked for. idf = ln(1 + N / n), N the statements of the prompt and n
those with the stem (Robertson's inverse document frequency in its simplest form).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from loadrig.simulator.documents import Source, Statement
from loadrig.simulator.vocabulary import MONTHS, stems, stems_of

NEAR = 0.35
"""What a word counts that stands in the heading, the title or a neighbouring statement only."""
CANDIDATES = 200
EMPTY, FITTING = 0.4, 0.15

_NUMBER = re.compile(
    r"\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|"
    r"hundred|thousand|half|quarter|twice|once|none)\b",
    re.IGNORECASE,
)
_DATE = re.compile(rf"\b\d{{4}}(?:-\d\d){{0,2}}\b|\b(?:{'|'.join(MONTHS)})\b|\b\d\d?:\d\d\b")
_PERSON = re.compile(r"\b[A-Z][\w'-]+ [A-Z][\w'-]+")
_TERM = re.compile(r"`[^`]+`|\"[^\"]+\"|\b\w*[._/]\w+|\b[a-z]+[A-Z]\w*|\b[A-Z]\w*[A-Z0-9]\w*|(?<=[a-z,] )[A-Z][\w-]+")
KINDS = (
    (
        re.compile(
            r"\bhow (?:many|much|long|large|big|often|old|far|high|few)\b|\b(?:price|percentage|size|rate|vote)\b", re.I
        ),
        _NUMBER,
    ),
    (re.compile(r"^when\b|\b(?:what|which|on what) (?:date|day|year|month|time)\b|\bsince when\b", re.I), _DATE),
    (re.compile(r"\bwho(?:se|m)?\b", re.I), _PERSON),
    (re.compile(r"\b(?:what|which|where)\b", re.I), _TERM),
)
"""(what the question looks like, what its answer holds), the first that fits."""


@dataclass(frozen=True, slots=True)
class Found:
    """A statement with its score and `coverage`, the share of the question's weight found in it or near it."""

    source: Source
    statement: Statement
    score: float
    coverage: float
    matched: dict[str, float]
    """The question's stems in the statement itself and their weights."""


def weigh(question: str, sources: list[Source]) -> dict[str, float]:
    """idf of each question stem over the statements of these sources; one that occurs nowhere weighs the most."""
    count = 1 + sum(len(source.parsed.statements) for source in sources)
    weights = {}
    for stem in stems(question):
        having = sum(len(source.parsed.postings.get(stem, ())) for source in sources)
        weights[stem] = math.log(1.0 + count / max(1, having))
    return weights


def rank(question: str, sources: list[Source]) -> list[Found]:
    """The statements that share a word with the question, best first; equals in prompt order."""
    weights = weigh(question, sources)
    wanted = kind_of(question)
    total = sum(weights.values())
    if not total:
        return []
    first: list[tuple[float, Source, int]] = []
    for source in sources:
        direct: dict[int, float] = {}
        for stem, weight in weights.items():
            for place in source.parsed.postings.get(stem, ()):
                direct[place] = direct.get(place, 0.0) + weight
        first += [(score, source, place) for place, score in direct.items()]
    first.sort(key=lambda entry: (-entry[0], entry[1].order, entry[2]))
    found = [_score(source, place, weights, wanted=wanted) for _, source, place in first[:CANDIDATES]]
    found.sort(key=lambda entry: (-entry.score, entry.source.order, entry.statement.place))
    return found


def _score(source: Source, place: int, weights: dict[str, float], *, wanted: re.Pattern[str] | None) -> Found:
    statements = source.parsed.statements
    statement = statements[place]
    near = statement.context | title_stems(source.title or "")
    for beside in (place - 1, place + 1):
        if 0 <= beside < len(statements):
            near |= statements[beside].stems
    matched = {stem: weight for stem, weight in weights.items() if stem in statement.stems}
    inside = sum(matched.values())
    around = sum(weight for stem, weight in weights.items() if stem in near and stem not in statement.stems)
    penalty = 1.0 + 0.25 * math.log(max(1.0, statement.words / 20.0))
    score = (inside + NEAR * around) / penalty
    if wanted is not None and _holds(wanted, statement.text, weights):
        score *= 1.0 + FITTING
    elif len(statement.stems - weights.keys()) < 3:
        score *= 1.0 - EMPTY
    return Found(source, statement, score, (inside + around) / sum(weights.values()), matched)


def kind_of(question: str) -> re.Pattern[str] | None:
    """The pattern of what the question asks for: a number, a date, a person, a name of a thing; None when unclear."""
    return next((kind for asks, kind in KINDS if asks.search(question)), None)


def _holds(wanted: re.Pattern[str], text: str, weights: dict[str, float]) -> bool:
    """True when the text has something of that kind which the question did not name already."""
    return any(not set(stems_of(match.group().strip("`'\""))) & weights.keys() for match in wanted.finditer(text))


@lru_cache(maxsize=8192)
def title_stems(title: str) -> frozenset[str]:
    """Stems of a document's title."""
    return stems(title)
