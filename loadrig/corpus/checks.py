"""Looks for faults of a corpus and its questions before any run, and describes a corpus in numbers.

`check` asks every rule of the table (`loadrig.corpus.rules.table`) and keeps all they say: findings, notes, and what
could not be looked at and why. It cannot tell whether a reference is true: that takes a reader.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from loadrig.corpus.oracles import Score, scores
from loadrig.corpus.rules.history import own_texts
from loadrig.corpus.rules.outcome import Finding, Note, Outcome, Unchecked
from loadrig.corpus.rules.rests import SUPERSESSION
from loadrig.corpus.rules.subject import Subject
from loadrig.corpus.rules.table import RULES
from loadrig.words.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Report:
    """What the rules said, by rule, in the order of the table."""

    said: tuple[tuple[str, Outcome], ...]

    @property
    def findings(self) -> list[tuple[str, Finding]]:
        return [(rule, outcome) for rule, outcome in self.said if isinstance(outcome, Finding)]

    @property
    def notes(self) -> list[tuple[str, Note]]:
        return [(rule, outcome) for rule, outcome in self.said if isinstance(outcome, Note)]

    @property
    def unchecked(self) -> list[tuple[str, Unchecked]]:
        return [(rule, outcome) for rule, outcome in self.said if isinstance(outcome, Unchecked)]


@dataclass(frozen=True, slots=True)
class Stats:
    """A corpus in numbers; tokens are estimates. Quantiles are nearest-rank over documents."""

    documents: int
    chunks: int
    tokens: int
    document_tokens_p50: int
    document_tokens_p90: int
    document_tokens_max: int
    first_date: str | None
    last_date: str | None
    undated: int
    statuses: Mapping[str, int]
    access_labels: Mapping[str, int]
    skipped: Mapping[str, int]


def check(subject: Subject) -> Report:
    """Everything that every rule has to say."""
    said: list[tuple[str, Outcome]] = []
    for rule in RULES:
        reason = rule.obstacle(subject)
        outcomes = rule.judge(subject) if reason is None else [Unchecked(reason)]
        said.extend((rule.name, outcome) for outcome in outcomes)
    return Report(tuple(said))


def oracle_scores(subject: Subject) -> tuple[Score, ...]:
    """How the readers without understanding do on the ledger's facts and the questions on supersession."""
    asked = [line.facts for line in subject.key if line.question.category == SUPERSESSION]
    return scores(subject.ledger.facts, own_texts(subject), asked)


def stats(corpus: Corpus) -> Stats:
    """Figures of a corpus as loaded; a corpus has at least one document."""
    sizes = sorted(document.tokens for document in corpus.documents)
    dates = sorted(document.date for document in corpus.documents if document.date)
    return Stats(
        documents=len(corpus.documents),
        chunks=len(corpus.chunks),
        tokens=corpus.tokens,
        document_tokens_p50=statistics.median_low(sizes),
        document_tokens_p90=sizes[math.ceil(0.9 * len(sizes)) - 1],
        document_tokens_max=sizes[-1],
        first_date=dates[0] if dates else None,
        last_date=dates[-1] if dates else None,
        undated=len(sizes) - len(dates),
        statuses=Counter(document.status or "none" for document in corpus.documents),
        access_labels=Counter(label for document in corpus.documents for label in document.access),
        skipped=Counter(file.reason for file in corpus.skipped),
    )
