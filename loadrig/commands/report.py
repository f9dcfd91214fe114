"""`loadrig report RUN...`: the reports of a run made again from its records, or several runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from loadrig.analysis.beside import against, allowed, merged
from loadrig.analysis.summary import summarize
from loadrig.graders.standing import graded
from loadrig.log import read_run
from loadrig.reports import FILES, write_all
from loadrig.reports.beside.whole import NAMES, Run, write
from loadrig.words.errors import InputError, LogError


def report(
    folders: Sequence[Path], console: Console, *, grader: str | None, formats: Sequence[str], out: Path | None
) -> None:
    """Of one folder its files, of several a folder of its own, `out` or one beside the first. `formats` are endings of
    files, none: all. Raises `InputError` for what is no run, and for runs that are not shown together."""
    if len(folders) == 1:
        if out is not None:
            raise InputError("--out with one run", remedy="a run's reports lie beside its records; leave --out away")
        write_all(folders[0], console, grader=grader, files=_named(FILES, formats))
        return
    files = _named(NAMES, formats)
    place = out or folders[0].resolve().parent / f"side-by-side-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    beside(folders, place, grader=grader, files=files)
    console.print(*(f"Report: {place / name}" for name in files), sep="\n", markup=False)


def beside(folders: Sequence[Path], out: Path, *, grader: str | None, files: Sequence[str] = NAMES) -> None:
    """Reads one run after the other, so that the first and one more are in memory at a time."""
    first = graded(read_run(folders[0]), grader)
    runs, found = [Run(folders[0], summarize(first))], []
    for folder in folders[1:]:
        other = graded(read_run(folder), grader)
        allowed(first, other)
        found.append(against(first, other))
        runs.append(Run(folder, summarize(other)))
    try:
        write(out, runs, merged(found), files)
    except OSError as error:
        raise LogError(f"{out} cannot be written: {error}") from error


def _named(names: Sequence[str] | dict[str, str], formats: Sequence[str]) -> list[str]:
    """The files with these endings."""
    endings = list(dict.fromkeys(name.rpartition(".")[2] for name in names))
    if unknown := [ending for ending in formats if ending not in endings]:
        raise InputError(f"--format {unknown[0]}", remedy=f"one of: {', '.join(endings)}")
    return [name for name in names if not formats or name.rpartition(".")[2] in formats]
