"""A plan's change of documents, read before the run begins: what changes, the corpus as it is then, what tells the two
apart, and the keys that hold from then on. What is on file of it, and how a run is taken up that has seen it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from loadrig import questions as question_files
from loadrig.corpus.updating import read_update, updated
from loadrig.corpus.wordings import Wordings, wordings
from loadrig.log import KEYS_AFTER, WORDINGS, read_changes, write_json, write_lines
from loadrig.retrievers import needed
from loadrig.words.change import AFTER, Update
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError
from loadrig.words.record import Record
from loadrig.words.settings import Plan, QuestionSettings


@dataclass(frozen=True, slots=True)
class Change:
    """What a plan's [update] comes to. `keys`: of questions that are asked; `read_ns`: how long the documents took to
    read and to cut into passages, which is not part of what a run measures."""

    update: Update
    after: Corpus
    wordings: Wordings
    keys: tuple[Question, ...]
    read_ns: int


def planned(plan: Plan, corpus: Corpus, questions: Sequence[Question]) -> Change | None:
    """The change that the plan tells of; None: it tells of none. Raises `InputError`."""
    settings = plan.update
    if settings is None:
        return None
    begin_ns = time.perf_counter_ns()
    update = read_update(plan.corpus, settings.path, corpus, remove=settings.remove)
    read_ns = time.perf_counter_ns() - begin_ns
    after = updated(corpus, update)
    apart = wordings(corpus, after, questions, path=settings.path)
    return Change(update, after, apart, _keys(settings.questions, after, questions), read_ns)


def warnings(change: Change | None, corpus: Corpus) -> tuple[str, ...]:
    """What may not be meant: an update of which every text comes to the corpus."""
    own = {document.id for document in corpus.documents}
    if change is None or change.update.removed or any(one.id in own for one in change.update.documents):
        return ()
    count = len(change.update.documents)
    return (f"[update] replaces no document: its {count} texts come to the others, for none has the id of one",)


def write(folder: Path, change: Change) -> None:
    """Puts into a new run's folder what its reports judge by."""
    write_json(folder / WORDINGS, {"old": change.wordings.old, "new": change.wordings.new})
    if change.keys:
        write_lines(folder / KEYS_AFTER, change.keys)


def described(change: Change, plan: Plan, corpus: Corpus) -> Mapping[str, Any]:
    """The change for the manifest."""
    assert plan.update is not None, "who changes documents was told to"
    own = {document.id for document in corpus.documents}
    names = [document.id for document in change.update.documents]
    return {
        **asdict(plan.update),
        "sha256": change.after.sha256,
        "documents": len(change.after.documents),
        "tokens": change.after.tokens,
        "replaced": [name for name in names if name in own],
        "added": [name for name in names if name not in own],
        "removed": list(change.update.removed),
        "read_ns": change.read_ns,
    }


def check_same(folder: Path, manifest: Mapping[str, Any], change: Change | None) -> None:
    """Raises `InputError` when what changes is not what it was when the run was begun."""
    told = manifest.get("update")
    if (None if told is None else told["sha256"]) != (None if change is None else change.after.sha256):
        problem = "the documents that change differ from those this run was begun with"
        raise InputError(problem, path=folder, remedy="restore their texts, or begin a new run")


def quickest_first(index_ns: Mapping[str, int], plan: Plan) -> tuple[str, ...]:
    """The retrievers by how long each took to build with all that it searches through, which comes before it."""
    given = {one.name: one.options for one in plan.retriever}

    def took_ns(name: str) -> tuple[int, int]:
        parts = needed([name], given)
        return sum(index_ns.get(part, 0) for part in parts), len(parts)

    return tuple(sorted(index_ns, key=took_ns))


def is_made(folder: Path, records: Sequence[Record]) -> bool:
    """Whether documents have changed in a run: by what the driver wrote, and, if it was killed just then, by what a
    trial began with."""
    return read_changes(folder).made is not None or any(record.corpus_version == AFTER for record in records)


def _keys(path: str | None, after: Corpus, questions: Sequence[Question]) -> tuple[Question, ...]:
    if path is None:
        return ()
    asked = {question.id for question in questions}
    keys = tuple(one for one in question_files.load(QuestionSettings(path=path), after) if one.id in asked)
    if not keys:
        raise InputError("it has no key of a question that is asked", path=path, remedy="give its questions their ids")
    return keys
