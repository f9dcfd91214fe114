"""Who chooses stages while a run lasts, by what came of those before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from loadrig.log import RunFolder
from loadrig.words.corpus import Question
from loadrig.words.trial import Stage, Trial

Planned = tuple[Stage, tuple[Trial, ...]]


class Steering(Protocol):
    """Chooses stages. The run so far is there for the asking, between two stages."""

    def foreseen(self, questions: Sequence[Question]) -> tuple[Planned, ...]:
        """The stages that are run at most, or as many and as large ones, for the estimate."""
        ...

    def stages(self, questions: Sequence[Question], so_far: Callable[[], RunFolder]) -> Iterator[Planned]:
        """One stage after the other; asked for the next when all of the last is on file."""
        ...

    def told(self) -> Mapping[str, Any]:
        """What the manifest says of it, at any time."""
        ...
