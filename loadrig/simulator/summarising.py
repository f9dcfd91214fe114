"""A model told to summarise gives the weightiest statements of what stands before the wish, within the words allowed.

Extractive: it says nothing that the texts do not say. Each text gets an equal share of the words. A statement weighs by
how often its words come in its text, more when it stands near the beginning, tells of a decision or holds a figure; the
statements chosen keep their order. Where the wish wants ids in square brackets, each gets that of its text, unless it
carries one already.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from loadrig.simulator.documents import Source, Statement
from loadrig.simulator.reader import tells_a_decision
from loadrig.simulator.request import Message, user_texts

_WISH = re.compile(r"\s*summari[sz]e\b[^?]*?\bat most (?P<words>\d{1,5}) words\b", re.IGNORECASE)
_BRACKETS = re.compile(r"\bsquare brackets\b", re.IGNORECASE)
NOTHING = "There is nothing to summarise."
BEGINNING, EARLY, DECIDES, FIGURE = 3, 1.3, 1.2, 1.15


def most_words(messages: tuple[Message, ...]) -> int | None:
    """How long a summary may be that the last user text wishes for; None when it wishes for none."""
    texts = user_texts(messages)
    wish = _WISH.match(texts[-1]) if texts else None
    return None if wish is None else int(wish["words"])


def summary(sources: list[Source], wish: str, words: int) -> str:
    """The summary of the texts, each on lines of its own."""
    share = words // max(1, len(sources))
    with_ids = _BRACKETS.search(wish) is not None
    told = [line for source in sources for line in _lines(source, share, with_ids=with_ids)]
    return "\n".join(told) or NOTHING


def _lines(source: Source, words: int, *, with_ids: bool) -> list[str]:
    kept = []
    for statement in sorted(_chosen(source, words), key=lambda one: one.place):
        is_marked = statement.text.rstrip(" .").endswith("]")
        kept.append(f"{statement.text} [{source.id}]" if with_ids and source.id and not is_marked else statement.text)
    return kept


def _chosen(source: Source, words: int) -> list[Statement]:
    """The weightiest statements that the words have room for; none where there is room for none."""
    statements = source.parsed.statements
    counts = Counter(stem for statement in statements for stem in statement.stems)
    ranked = sorted(statements, key=lambda one: (-_weight(one, counts), one.place))
    chosen: list[Statement] = []
    left = words
    for statement in ranked:
        length = len(statement.text.split())
        if length <= left:
            chosen.append(statement)
            left -= length
    return chosen


def _weight(statement: Statement, counts: Counter[str]) -> float:
    mean = sum(math.log(1 + counts[stem]) for stem in statement.stems) / math.sqrt(4 + len(statement.stems))
    early = EARLY if statement.place < BEGINNING else 1.0
    decides = DECIDES if tells_a_decision(statement.text) else 1.0
    return mean * early * decides * (FIGURE if any(c.isdigit() for c in statement.text) else 1.0)
