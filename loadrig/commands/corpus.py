"""`loadrig corpus stats|check`: a corpus in numbers, and its questions held against its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from rich.table import Table
from rich.text import Text

from loadrig import corpus as corpora
from loadrig.commands.firing import DONE, console_of
from loadrig.corpus import checks
from loadrig.corpus.keyfigures import key_figures
from loadrig.corpus.loading import other_files
from loadrig.corpus.rules.subject import Subject, prepare
from loadrig.corpus.rules.table import RULES
from loadrig.graders.precheck import passes
from loadrig.words.settings import CorpusSettings

BROKEN = 2  # the exit code of wrong input


def stats(path: str, slice_name: str | None, *, questions: str | None = None) -> None:
    """Prints the figures of a corpus, of its questions where given, and the files that were not read."""
    subject = prepare(path, questions, passes, slice_name=slice_name) if questions else None
    corpus = subject.corpus if subject else corpora.load(CorpusSettings(path=path, slice=slice_name))
    figures = checks.stats(corpus)
    console = console_of()
    table = Table("figure", "value", title=Text(corpus.name))
    for field in fields(figures):
        table.add_row(field.name.replace("_", " "), Text(_shown(getattr(figures, field.name))))
    others = Counter(Path(name).suffix.lower() or "no suffix" for name in other_files(Path(path)))
    table.add_row("other files, not read", Text(_shown(others)))
    console.print(table)
    for file in corpus.skipped:
        console.print(Text(f"skipped {file.path}: {file.reason}"))
    if subject:
        console.print(_by_category(subject))


def _by_category(subject: Subject) -> Table:
    table = Table("category", "questions", "gold documents", "gold chunks", "overlap p50", "max", "subtypes")
    for row in key_figures(subject.key, subject.corpus, subject.language):
        shares = ["-" if share is None else f"{share:.2f}" for share in (row.overlap_p50, row.overlap_max)]
        means = ["-" if mean is None else f"{mean:.1f}" for mean in (row.gold_documents_mean, row.gold_chunks_mean)]
        table.add_row(Text(row.category), str(row.questions), *means, *shares, Text(_shown(row.subtypes)))
    return table


def _shown(value: object) -> str:
    """A figure; of counts by name each with its own, `-` when there are none."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {count}" for name, count in value.items()) or "-"
    return "-" if value is None else str(value)


def check(path: str, questions: str, slice_name: str | None) -> int:
    """Prints each finding as `file:line: problem; remedy`, then notes, oracles, and what could not be checked.

    Two when there is a finding.
    """
    subject = prepare(path, questions, passes, slice_name=slice_name)
    report = checks.check(subject)
    console = console_of()
    for _, finding in report.findings:
        console.print(Text(str(finding)), soft_wrap=True)
    for rule, note in report.notes:
        console.print(Text(f"note ({rule}): {note}"), soft_wrap=True)
    if not subject.no_ledger:
        console.print(_oracles(subject))
    for reason, rules in _by_reason(report).items():
        console.print(Text(f"not checked: {', '.join(rules)}: {reason}"), soft_wrap=True)
    left_out = f", {subject.left_out} left out of this slice" if subject.left_out else ""
    console.print(f"{len(subject.key)} questions{left_out}, {len(RULES)} rules, {len(report.findings)} findings")
    return BROKEN if report.findings else DONE


def _by_reason(report: checks.Report) -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {}
    for rule, unchecked in report.unchecked:
        rules.setdefault(unchecked.reason, []).append(rule)
    return rules


def _oracles(subject: Subject) -> Table:
    table = Table("reader without understanding", "facts right", "questions right", title="Oracles")
    for score in checks.oracle_scores(subject):
        facts = f"{score.facts_right} of {score.facts}"
        table.add_row(score.oracle, facts, f"{score.questions_right} of {score.questions}")
    return table
