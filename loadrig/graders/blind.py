"""Which answers a grader gets, under which codes, in which order: blind to arm and model.

One row for each distinct answer to a question: the same words, by whichever arm, are graded once and for all. Taken are
answered trials, of each question in each arm and model the first asked, or all repetitions. A code is six consonants
made from the seed, the question and the answer, so that it tells nothing, no spreadsheet takes it for a number or a
date, and a code never comes to stand for another answer. What an answer itself gives away, such as a refusal for want
of documents, cannot be hidden.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from loadrig.analysis.selection import asked, grouped, in_order
from loadrig.log import RunFolder
from loadrig.words.corpus import Question
from loadrig.words.record import Record
from loadrig.words.score import Key

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
LENGTH = 6


@dataclass(frozen=True, slots=True)
class Row:
    """One answer to grade, and the trials that gave it."""

    code: str
    question: Question
    answer: str
    trials: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The rows in the order to be graded. `trials` were chosen, of which `unanswered` have nothing to grade."""

    rows: tuple[Row, ...]
    trials: int
    unanswered: int
    seed: int
    all_repetitions: bool


def choose(run: RunFolder, *, seed: int, all_repetitions: bool) -> Choice:
    """The rows of a run, shuffled; the same for the same seed."""
    records = chosen(run, all_repetitions=all_repetitions)
    answered = with_answer(run, records)
    by_answer = grouped(((record.question, record.answer), (record.trial, record.try_no)) for record in answered)
    rows = _coded(run, seed, sorted(by_answer.items()))
    random.Random(f"{seed}/order").shuffle(rows)
    return Choice(tuple(rows), len(records), len(records) - len(answered), seed, all_repetitions)


def chosen(run: RunFolder, *, all_repetitions: bool) -> list[Record]:
    """The asked trials to grade, with or without an answer, in order."""
    records = in_order(run, asked(run))
    return records if all_repetitions else list(first_asked(records))


def with_answer(run: RunFolder, records: Iterable[Record]) -> list[Record]:
    """Those that have something to grade: an answer, to a question that is on file."""
    return [record for record in records if record.outcome == "answered" and record.question in run.questions]


def first_asked(records: Iterable[Record]) -> Iterator[Record]:
    """Of each arm, model and question the first of the records."""
    seen: set[tuple[str, str, str]] = set()
    for record in records:
        cell = (record.arm, record.model, record.question)
        if cell not in seen:
            seen.add(cell)
            yield record


def _coded(run: RunFolder, seed: int, answers: Sequence[tuple[tuple[str, str], list[Key]]]) -> list[Row]:
    taken: set[str] = set()
    rows = []
    for (question, answer), trials in answers:
        number = 0
        while (code := code_of(f"{seed}/{question}/{number}/{answer}")) in taken:
            number += 1
        taken.add(code)
        rows.append(Row(code, run.questions[question], answer, tuple(trials)))
    return rows


def code_of(text: str) -> str:
    """Six consonants made from a text."""
    value = int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
    letters = []
    for _ in range(LENGTH):
        value, digit = divmod(value, len(LETTERS))
        letters.append(LETTERS[digit])
    return "".join(letters)
