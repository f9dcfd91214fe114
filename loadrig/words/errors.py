"""The one error tree.

What we, or the user's files, do wrong is an exception from this tree. What the target does wrong is data:
a `Failure` in a record (see `record.py`). Foreign exceptions are translated where they enter.

    LoadrigError
    ├── InputError      a file, a flag or a plan is wrong: path, line and remedy; exit code 2
    ├── FleetError      workers could not be started or were all lost
    ├── LogError        the run's folder does not take what is to be written (a full disk)
    ├── Interrupted     stopped by the user before there was a report to make; exit code 3
    ├── SearchFailed    a retriever raised, or the endpoint that it asks did not answer: fails the trial
    └── TurnFailed      control flow inside a trial: a turn ended without a usable reply
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadrig.words.record import Failure


class LoadrigError(Exception):
    """Root of everything loadrig raises on purpose."""


class InputError(LoadrigError):
    """Wrong input. `problem` says what is wrong, `remedy` what to do, `path` and `line` (1-based) where."""

    def __init__(self, problem: str, *, remedy: str, path: Path | str | None = None, line: int | None = None) -> None:
        self.problem = problem
        self.remedy = remedy
        self.path = path
        self.line = line
        super().__init__(problem, remedy, path, line)

    def __str__(self) -> str:
        place = "" if self.path is None else f"{self.path}: "
        if self.path is not None and self.line is not None:
            place = f"{self.path}:{self.line}: "
        return f"{place}{self.problem}\n  remedy: {self.remedy}"


class FleetError(LoadrigError):
    """Workers could not be started in time, or none is left to go on with."""


class LogError(LoadrigError):
    """Records could not be written; those before them are on file."""


class SearchFailed(LoadrigError):  # noqa: N818 - named for what happened, as `TurnFailed`
    """A search came to nothing; the message is the whole of it."""


class Interrupted(LoadrigError):  # noqa: N818 - nothing is wrong: the user wished it
    """The user stopped a run before it began, or twice; records on disk are kept."""


def described(error: BaseException) -> str:
    """Type, message and innermost place of an error in one line; of the first one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}{place}".split())


class TurnFailed(LoadrigError):  # noqa: N818 - control flow: named for what happened, caught by the worker
    """Raised by `Client.ask` when a turn gave no usable reply; the failure is already in the trial's turns."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.reason)
