"""What is known of a use before any run, and the yes-or-no questions that follow from it.

    fits     the corpus leaves the window room to spare (`loadrig.context.budget_of`)
    small    it is so small that the whole of it is tried first (`loadrig.context.whole_first`)
    stable   it changes less often than daily
    busy     so many are asked a day that a cache of the whole corpus is cheaper than sending it anew each time
    pays     whether volume speaks for the whole corpus in every prompt. Of a small corpus it decides nothing: of few
             questions the premium is little money, of many the cache bears it. Of a larger one only a busy use pays; a
             volume that nobody told counts as none. Money that it would pass is a no anywhere.

Tokens are of the documents alone, by the local estimator, as everywhere that a ceiling is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loadrig import context
from loadrig.advice.kinds import Kinds

Changes = Literal["daily", "weekly", "monthly", "never"]
FAR = 3  # windows from which on a corpus is far larger than one


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """`uniform`: every caller may see all of it; `restricted`: documents with access labels. `per_day`: questions;
    None: not told. `crossover_per_day`: from how many a day on a cache is cheaper than none; None: unknown.
    `affordable`: whether the whole corpus in every prompt keeps the money it may cost; None: not told. `premium`: its
    prompt tokens in those of retrieval; `dearer`: its cost a question, at the volume told, in that of retrieval."""

    tokens: int
    window: int
    uniform: bool
    changes: Changes
    kinds: Kinds
    documents: int = 0
    restricted: int = 0
    per_day: float | None = None
    crossover_per_day: float | None = None
    affordable: bool | None = None
    premium: float | None = None
    dearer: float | None = None
    interactive: bool = False

    @property
    def budget(self) -> int:
        return context.budget_of(self.window)

    @property
    def fits(self) -> bool:
        return self.tokens <= self.budget

    @property
    def small(self) -> bool:
        return self.fits and context.whole_first(self.tokens)

    @property
    def below_ceiling(self) -> bool:
        return self.fits and context.may_be_stuffed(self.tokens)

    @property
    def stable(self) -> bool:
        return self.changes != "daily"

    @property
    def busy(self) -> bool | None:
        if self.per_day is None or self.crossover_per_day is None:
            return None
        return self.per_day >= self.crossover_per_day

    @property
    def pays(self) -> bool:
        return self.affordable is not False and (self.small or self.busy is True)
