"""What kind of reading a question asks for: one passage, several, the whole set, or what the set does not hold.

    lookup      answered from one passage, amended or not
    multi_hop   several facts together, or one that leads to another
    whole_set   a property of the collection: a count, a list, a comparison of all
    absence     what the collection, or which of its documents, does not say
    unsure      nothing told

Rules: a category that loadrig's own question sets have says the kind; of any other the gold documents do (over half of
the collection: whole_set; two or more: multi_hop; one: lookup), and where there is no gold the wording, by the rules of
the router (`loadrig.arms.routing`). `guessed` counts how many hang on wording.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from loadrig.arms.routing import by_rules
from loadrig.words.corpus import Question

Kind = Literal["lookup", "multi_hop", "whole_set", "absence", "unsure"]
BY_CATEGORY: dict[str, Kind] = {
    "simple_fact": "lookup",
    "paraphrase": "lookup",
    "supersession": "lookup",
    "negative_trap": "lookup",
    "lookup": "lookup",
    "multi_hop": "multi_hop",
    "aggregation": "whole_set",
    "whole_set": "whole_set",
    "absence": "absence",
}
_ABSENCE = re.compile(
    r"\b(?:never|lacks?|lacking|without|nowhere|omits?|missing|nothing at all|none of|no mention|"
    r"(?:do|does|did|have|has|is|are)(?: not|n't))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Kinds:
    """How many questions there are of each kind, and how many of them were told by their wording alone."""

    lookup: int = 0
    multi_hop: int = 0
    whole_set: int = 0
    absence: int = 0
    unsure: int = 0
    guessed: int = 0

    @property
    def n(self) -> int:
        return self.told + self.unsure

    @property
    def told(self) -> int:
        """Those whose kind is known."""
        return self.lookup + self.multi_hop + self.whole

    @property
    def whole(self) -> int:
        """Those that no k passages can answer: of the whole set, and of what is absent from it."""
        return self.whole_set + self.absence

    def share(self, count: int) -> float:
        """Of all questions; of none 0."""
        return count / self.n if self.n else 0.0

    @property
    def single_hop(self) -> bool:
        """Whether they are mostly lookups: more than half of those told. Where none is, nothing speaks against it."""
        return not self.told or 2 * self.lookup > self.told

    def __str__(self) -> str:
        """`20 lookup, 3 multi_hop`: those there are."""
        found = ((kind, getattr(self, kind)) for kind in get_args(Kind))
        return ", ".join(f"{count} {kind}" for kind, count in found if count) or "none"


def kinds_of(questions: Iterable[Question], documents: int) -> Kinds:
    """The kinds of these questions over so many documents."""
    told = [kind_of(question, documents) for question in questions]
    counts = Counter(kind for kind, _ in told)
    return Kinds(**{kind: counts[kind] for kind in get_args(Kind)}, guessed=sum(guess for _, guess in told))


def kind_of(question: Question, documents: int) -> tuple[Kind, bool]:
    """The kind, and whether its wording alone told it."""
    text = question.question
    kind = BY_CATEGORY.get(question.category)
    guessed = kind is None and not question.gold
    if kind is None:
        kind = _by_gold(question, documents) if question.gold else by_rules(text)
    if kind == "whole_set" and _ABSENCE.search(text):
        kind = "absence"
    return kind, guessed


def _by_gold(question: Question, documents: int) -> Kind:
    gold = len(question.gold)
    if gold < 2:
        return "lookup"
    return "whole_set" if 2 * gold > documents else "multi_hop"
