"""What a measure of an answer may look at beside the record: the question's key, the corpus' facts, the marks.

Rules: None is "not known", and a measure that needs it then has no value. `right` is by the grading that counts; the
other marks are the automatic ones, always. `had` is whether all that the key rests on stood before the model: its
quotes, or, of a key without quotes, its gold documents.
"""

from __future__ import annotations

from dataclasses import dataclass

from loadrig.corpus.facts import Known
from loadrig.words.corpus import Question
from loadrig.words.record import Record


@dataclass(frozen=True, slots=True)
class Context:
    """`complete`: the answer holds what the key demands; `against`: it opens with the reference's opposite; `stale` and
    `invented` as `loadrig.graders.automatic` marks them."""

    question: Question
    known: Known | None = None
    right: bool | None = None
    complete: bool | None = None
    against: bool = False
    stale: bool | None = None
    invented: bool | None = None
    had: bool | None = None

    @property
    def key(self) -> str:
        """Question and reference: what they mention, an answer has not invented."""
        return f"{self.question.question}\n{self.question.reference}"


def answered(record: Record) -> bool:
    """Whether there is an answer to look at, whole or cut off."""
    return bool(record.answer.strip()) and (record.outcome == "answered" or record.reason == "cut_off")
