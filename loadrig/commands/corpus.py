"""`loadrig corpus stats|check`: a corpus in numbers, and its questions held against its texts."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadrig import corpus as corpora
from loadrig import questions as question_files
from loadrig.commands.firing import DONE, FAILED
from loadrig.corpus import checks
from loadrig.graders.precheck import passes
from loadrig.words.settings import CorpusSettings, QuestionSettings


def stats(path: str, slice_name: str | None) -> None:
    """Prints the figures of a corpus and the files that were skipped."""
    corpus = corpora.load(CorpusSettings(path=path, slice=slice_name))
    console = Console()
    table = Table("figure", "value", title=corpus.name)
    for name, value in asdict(checks.stats(corpus)).items():
        shown = ", ".join(f"{key}: {count}" for key, count in value.items()) if isinstance(value, dict) else str(value)
        table.add_row(name.replace("_", " "), Text(shown))
    console.print(table)
    for file in corpus.skipped:
        console.print(Text(f"skipped {file.path}: {file.reason}"))


def check(path: str, questions: str, slice_name: str | None) -> int:
    """Prints each finding on a line; 1 when there is one."""
    corpus = corpora.load(CorpusSettings(path=path, slice=slice_name))
    asked = question_files.select(QuestionSettings(path=questions), corpus)
    findings = checks.check(corpus, asked.questions, passes)
    console = Console()
    for finding in findings:
        console.print(Text(f"{finding.question}: {finding.fault}: {finding.detail}"))
    left_out = f", {len(asked.left_out)} left out of this slice" if asked.left_out else ""
    console.print(f"{len(asked.questions)} questions{left_out}, {len(findings)} findings")
    return FAILED if findings else DONE
