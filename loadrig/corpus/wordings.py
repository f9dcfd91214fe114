"""What tells two versions of a corpus apart in a prompt: sequences of words that only one of them has.

    a version's own wording = its sequences of four words - those of the other version - those of the questions

Words are what white space parts, so line breaks and indentation tell nothing, and a passage that is cut anywhere is
known by any four words of what changed; one that holds none of them holds neither version. A text is judged as it was
sent, not by the name of the document that it stands under.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from loadrig.words.corpus import Corpus, Document, Question
from loadrig.words.errors import InputError

LENGTH = 4  # words: fewer are said by chance, more are cut in two too often


@dataclass(frozen=True)
class Wordings:
    """The sequences of words that only the old, and only the new version has; neighbours are joined to spans. Of
    documents that come there is no old one, of those that go no new one."""

    old: tuple[str, ...]
    new: tuple[str, ...]

    @cached_property
    def _old(self) -> frozenset[str]:
        return frozenset(one for span in self.old for one in _sequences(span))

    @cached_property
    def _new(self) -> frozenset[str]:
        return frozenset(one for span in self.new for one in _sequences(span))

    def held(self, text: str) -> tuple[bool, bool]:
        """Whether a text holds any of the old wording, and any of the new."""
        found = set(_sequences(text))
        return not self._old.isdisjoint(found), not self._new.isdisjoint(found)


def wordings(before: Corpus, after: Corpus, questions: Iterable[Question], *, path: str) -> Wordings:
    """What tells the versions apart. Raises `InputError` when nothing does; `path`: of what changes."""
    were, are = list(_changed(before, after)), list(_changed(after, before))
    apart = _all_sequences(were) ^ _all_sequences(are)
    changed = {document.id for document in were}
    for document in before.documents:  # taken from what changed, never gathered: most of a large corpus stays
        if document.id not in changed:
            apart.difference_update(_sequences(document.text))
    for question in questions:
        apart.difference_update(_sequences(question.question))
    old, new = tuple(_spans(were, apart)), tuple(_spans(are, apart))
    if not old and not new:
        problem = f"nothing of {LENGTH} words in a row tells the documents from what they were"
        raise InputError(problem, path=path, remedy="change more than white space, or more than a word or two")
    return Wordings(old, new)


def _changed(one: Corpus, other: Corpus) -> Iterator[Document]:
    """Documents of one version that are not so in the other."""
    texts = {document.id: document.text for document in other.documents}
    return (document for document in one.documents if texts.get(document.id) != document.text)


def _all_sequences(documents: Iterable[Document]) -> set[str]:
    return {one for document in documents for one in _sequences(document.text)}


def _spans(documents: Iterable[Document], apart: Collection[str]) -> Iterator[str]:
    """The longest runs of words whose sequences all tell the versions apart."""
    for document in documents:
        words = document.text.split()
        places = [place for place, one in enumerate(_sequences(document.text)) if one in apart]
        begins = [place for before, place in pairwise([-LENGTH, *places]) if place != before + 1]
        ends = [place for place, after in pairwise([*places, -1]) if after != place + 1]
        yield from (" ".join(words[begin : end + LENGTH]) for begin, end in zip(begins, ends, strict=True))


def _sequences(text: str) -> Iterator[str]:
    words = text.split()
    return (" ".join(words[place : place + LENGTH]) for place in range(len(words) - LENGTH + 1))
