"""A study as the user wrote it: several runs of what one plan shares, and what only its user knows.

Validation happens once, in `loadrig.config`, from these same classes, as for a plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from loadrig.words.settings import STRICT, NotEmpty, Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRunSettings:
    """One run: its folder's name, what it is for, and what it changes in the study's plan; None or empty leaves the
    plan as it is. `plan`: another plan in its place."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    name: str
    about: str = ""
    plan: str | None = None
    corpus: str | None = None
    slice: str | None = None
    questions: str | None = None
    categories: tuple[str, ...] = ()
    limit: Annotated[int, Positive] | None = None
    arm: tuple[str, ...] = ()
    scenario: str | None = None
    base_url: str | None = None
    repetitions: Annotated[int, Positive] | None = None
    concurrency: tuple[Annotated[int, Positive], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSettings:
    """What no run can tell, and the criteria want: each model's context window in its own tokens, where the one that is
    published does not hold or is not listed; questions a month; the money (in the price table's currency) they may
    cost; whether somebody waits for the answer."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    windows: Mapping[str, Annotated[int, Positive]] = field(default_factory=dict)
    questions_per_month: Annotated[int, Positive] | None = None
    money_per_month: str | None = None
    users_wait: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """The whole study. The first run is the one that the others are held against."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    name: str
    plan: str
    run: Annotated[tuple[StudyRunSettings, ...], NotEmpty]
    title: str = ""
    known: KnownSettings = field(default_factory=KnownSettings)
