"""Which statements of a prompt bear on a question: overlap of words, each weighed by its rarity in this very prompt.

score(statement) = sum of idf over question stems in the statement, those found only in its heading, its neighbours
or its document's title counting less, divided by a mild penalty for length. idf = ln(1 + N / n), N the statements of
the prompt and n those with the stem (Robertson's inverse document frequency in its simplest form).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from loadrig.simulator.documents import Source, Statement
from loadrig.simulator.vocabulary import stems

NEAR = 0.35
"""What a word counts that stands in the heading, the title or a neighbouring statement only."""
CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class Found:
    """A statement with its score and `coverage`, the share of the question's weight found in it or near it."""

    source: Source
    statement: Statement
    score: float
    coverage: float


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
    found = [_score(source, place, weights, total) for _, source, place in first[:CANDIDATES]]
    found.sort(key=lambda entry: (-entry.score, entry.source.order, entry.statement.place))
    return found


def _score(source: Source, place: int, weights: dict[str, float], total: float) -> Found:
    statements = source.parsed.statements
    statement = statements[place]
    near = statement.context | title_stems(source.title or "")
    for beside in (place - 1, place + 1):
        if 0 <= beside < len(statements):
            near |= statements[beside].stems
    inside = sum(weight for stem, weight in weights.items() if stem in statement.stems)
    around = sum(weight for stem, weight in weights.items() if stem in near and stem not in statement.stems)
    penalty = 1.0 + 0.25 * math.log(max(1.0, statement.words / 20.0))
    return Found(source, statement, (inside + NEAR * around) / penalty, (inside + around) / total)


@lru_cache(maxsize=8192)
def title_stems(title: str) -> frozenset[str]:
    """Stems of a document's title."""
    return stems(title)
