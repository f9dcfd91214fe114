"""Answers with what is known of them: the asked trials, each with its context and every measure of its answer.

Whether all that a key rests on stood before the model is looked for only where an arm that shows documents is wrong,
in the trial's last prompt: its quotes, white space aside; of a key without quotes the gold documents, by their tags in
the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

from loadrig.analysis.accuracy import verdict
from loadrig.analysis.retrieval import last_prompt, texts_of
from loadrig.analysis.selection import CONTROL, asked, in_order
from loadrig.corpus.facts import Known, read_known
from loadrig.graders import automatic
from loadrig.log import RunFolder
from loadrig.measures import OF_ANSWER, answer_measure
from loadrig.measures.context import Context
from loadrig.measures.recall import evidence_share
from loadrig.words.corpus import Question
from loadrig.words.record import Record

_TAG = re.compile(r"<document\b[^>]*?\sid=(?:\"([^\"]*)\"|'([^']*)')")
_KEPT = 256  # prompts looked at; a question's trials follow one another in few distinct ones


@dataclass(frozen=True, slots=True)
class Looked:
    """A trial, the context of its answer, and by name every measure of answers, taken once: some read the answer word
    by word, and several figures are made of each."""

    record: Record
    context: Context
    values: Mapping[str, float | None]


def looked_at(run: RunFolder, prompts: Mapping[str, bytes]) -> list[Looked]:
    """Every asked trial whose question is on file, in order of stage, repetition and trial; `prompts`: the fragments
    of the run's prompts, by hash. Contexts and values that are alike are one object: a run has few."""
    known, shown, measures = read_known(run.path), _Shown(prompts), {name: answer_measure(name) for name in OF_ANSWER}
    contexts: dict[tuple[object, ...], Context] = {}
    values: dict[tuple[float | None, ...], Mapping[str, float | None]] = {}
    found = []
    for record in (record for record in in_order(run, asked(run)) if record.question in run.questions):
        own = _context(run, record, known, shown)
        context = contexts.setdefault(_told(own), own)
        taken = tuple(measure.value(record, context) for measure in measures.values())
        found.append(Looked(record, context, values.setdefault(taken, dict(zip(measures, taken, strict=True)))))
    return found


class _Shown:
    """What stood before a model, by the hashes of its prompt."""

    def __init__(self, prompts: Mapping[str, bytes]) -> None:
        self.texts = lru_cache(maxsize=_KEPT)(lambda fragments: texts_of(fragments, prompts))

    def had(self, question: Question, record: Record) -> bool | None:
        """Whether all that the key rests on was there; None when it names nothing, the prompt is not on file, or its
        documents have no ids to tell them by."""
        texts = self.texts(last_prompt(record))
        if not texts or not (question.evidence or question.gold):
            return None
        if question.evidence:
            return evidence_share(texts, question.evidence) == 1
        if any("<document>" in text for text in texts):
            return None
        return set(question.gold) <= set(_documents(texts))


def _documents(texts: list[str]) -> Iterator[str]:
    for text in texts:
        yield from (unescape(one or other) for one, other in _TAG.findall(text))


def _told(of: Context) -> tuple[object, ...]:
    """What tells contexts of one run apart."""
    return of.question.id, of.right, of.complete, of.against, of.stale, of.invented, of.had


def _context(run: RunFolder, record: Record, known: Known | None, shown: _Shown) -> Context:
    question = run.questions[record.question]
    right, marks = verdict(run, record), automatic.marks_of(run, record)
    assert marks is not None, "its question is on file"
    return Context(
        question=question,
        known=known,
        right=right,
        complete=marks.complete,
        against=marks.against,
        stale=marks.stale,
        invented=marks.invented,
        had=shown.had(question, record) if right is False and record.arm != CONTROL else None,
    )
