"""Reports: a run shown in one way a file. `FILES` maps a file of the run's folder to what writes it.

A new report is one file with `write(run, summary) -> Path` and one line here. Reports read the log alone and are
rebuilt at any time; they decide nothing: figures come from `loadrig.analysis`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import cast

from rich.console import Console

from loadrig.analysis.summary import Summary, summarize
from loadrig.graders.standing import graded
from loadrig.log import RunFolder, read_run
from loadrig.reports.screening import show as show_screening
from loadrig.reports.terminal import show
from loadrig.words.errors import LogError

FILES = {
    "summary.json": "loadrig.reports.figures:write",
    "report.html": "loadrig.reports.html.page:write",
    "report.md": "loadrig.reports.markdown:write",
    "answers.csv": "loadrig.reports.answers:write",
    "cost.csv": "loadrig.reports.costs:write",
    "histograms.hlog": "loadrig.reports.histograms:write",
}

Writer = Callable[[RunFolder, Summary], Path]


def write_all(
    folder: Path, console: Console | None = None, *, grader: str | None = None, files: Collection[str] = FILES
) -> Summary:
    """Reads the run in `folder`, writes those `files` of `FILES` beside its records, and returns the summary.

    Accuracy is by the grading that counts, or by that of the `grader` named. With a console it also prints the summary
    and where the files lie. Raises `InputError` when the folder is no run's, and for a grader whose marks it has not.
    """
    summary = write_files(graded(read_run(folder), grader), files)
    if console is not None:
        show(summary, console)
        if summary.screening is not None:
            show_screening(summary.screening, console)
        first, *more = sorted((name for name in FILES if name in files), key=lambda name: name != "report.html")
        console.print(f"Report: {folder / first}", *(f"Beside it: {', '.join(more)}" for _ in more[:1]), sep="\n",
                      markup=False)  # fmt: skip
    return summary


def write_files(run: RunFolder, files: Collection[str] = FILES) -> Summary:
    """Writes those files of `FILES` beside the records of a run that was read, and returns the summary they show.
    Raises `LogError` where the folder does not take one of them."""
    summary = summarize(run)
    for file, target in ((name, target) for name, target in FILES.items() if name in files):
        module, _, name = target.partition(":")
        try:
            cast("Writer", getattr(import_module(module), name))(run, summary)
        except OSError as error:
            raise LogError(f"{run.path / file} cannot be written: {error}") from error
    return summary
