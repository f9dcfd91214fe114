"""Recall of documents, of evidence and of amending documents, by category of question.

A question's value is the mean over its asked trials, a category's the mean over its questions, so that a question
asked more often weighs no more. Questions without gold (or quotes, or amending documents) are left out and `n` says
how many are in. An arm that never retrieved anything has no document recall, nor has a trial to which a router gave the
whole set; their evidence share tells what they saw. Nor has a trial that failed and took its hits with it: what it
found is not known, which is not nothing. One that failed after a search of its own has the recall of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import pandas as pd

from loadrig.analysis.selection import ALL, arm_names, asked
from loadrig.analysis.sent import between_tags
from loadrig.log import RunFolder
from loadrig.measures.recall import evidence_share, recall
from loadrig.words.corpus import Question
from loadrig.words.record import Record

FIGURES = ("recall", "evidence", "amending")


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over `n` questions."""

    n: int
    mean: float


@dataclass(frozen=True, slots=True)
class CategoryRecall:
    """Of one category (`all`: every one). `recall`: gold documents found; `evidence`: quotes put before the model;
    `amending`: documents found that carry the current state. None: no question has any."""

    category: str
    recall: Mean | None
    evidence: Mean | None
    amending: Mean | None


@dataclass(frozen=True, slots=True)
class ArmRecall:
    """What an arm put before a model. `lost`: failed trials in no recall, for their hits were lost with them."""

    arm: str
    model: str
    categories: tuple[CategoryRecall, ...]
    lost: int = 0


def credited(record: Record) -> frozenset[str]:
    """Documents credited to a trial: retrieved passages, search hits and documents read; a listing shows none."""
    shown = {doc for turn in record.turns for call in turn.tool_calls for doc in call.docs}
    return frozenset(shown.union(hit.doc for hit in record.retrieved))


def recall_by_arm(run: RunFolder, prompts: Mapping[str, bytes]) -> tuple[ArmRecall, ...]:
    """Recall of every arm and model; `prompts`: the fragments of the run's prompts, by hash."""
    records = [record for record in asked(run) if record.question in run.questions]
    searching = {r.arm for r in records if r.retrieved or any(turn.tool_calls for turn in r.turns)}
    rows = _rows(run, records, searching, prompts)
    table = pd.DataFrame(rows, columns=["arm", "model", "question", "category", *FIGURES])
    table = table.astype(dict.fromkeys(FIGURES, "float64"))
    if table.empty:
        return ()
    each = table.groupby(["arm", "model", "question", "category"], sort=False, as_index=False)[list(FIGURES)].mean()
    lost = Counter((r.arm, r.model) for r in records if r.arm in searching and _lost(r))
    order = {arm: place for place, arm in enumerate(arm_names(run))}
    groups = sorted(each.groupby(["arm", "model"], sort=True), key=lambda group: order[str(group[0][0])])
    return tuple(
        ArmRecall(str(arm), str(model), _categories(part), lost[str(arm), str(model)]) for (arm, model), part in groups
    )


def _categories(part: pd.DataFrame) -> tuple[CategoryRecall, ...]:
    named = [(ALL, part), *((str(name), rows) for name, rows in part.groupby("category", sort=True))]
    return tuple(CategoryRecall(name, *(_mean(rows[figure]) for figure in FIGURES)) for name, rows in named)


def _mean(column: pd.Series[float]) -> Mean | None:
    known = column.dropna()
    return Mean(len(known), float(known.mean())) if len(known) else None


def _rows(
    run: RunFolder, records: Iterable[Record], searching: set[str], prompts: Mapping[str, bytes]
) -> Iterator[dict[str, Any]]:
    shares: dict[tuple[str, tuple[str, ...]], float | None] = {}
    for record in records:
        question, docs = run.questions[record.question], credited(record)
        searched = record.arm in searching and has_recall(record)
        fragments = last_prompt(record)
        key = (question.id, fragments)
        if key not in shares:
            shares[key] = _evidence(question, fragments, prompts)
        yield {
            "arm": record.arm, "model": record.model, "question": record.question, "category": record.category,
            "recall": recall(docs, question.gold) if searched else None,
            "evidence": shares[key],
            "amending": recall(docs, question.amending) if searched else None,
        }  # fmt: skip


def has_recall(record: Record) -> bool:
    """Whether a trial of an arm that searches counts in recall of documents."""
    return not _stuffed(record) and not _lost(record)


def _stuffed(record: Record) -> bool:
    """Whether a router put the whole set before the model without looking for anything: it has no recall, not none."""
    ways = (record.route or "").split(">")
    return ways[-1] == "full_context" and "rag" not in ways


def _lost(record: Record) -> bool:
    """Whether a trial failed before it was told what it had found."""
    return record.outcome == "failed" and not record.retrieved and not any(turn.tool_calls for turn in record.turns)


def last_prompt(record: Record) -> tuple[str, ...]:
    """Hashes of the fragments of a trial's last prompt, which holds all that went before it: conversations are
    append-only. None: it has no turn with one."""
    return next((turn.prompt for turn in reversed(record.turns) if turn.prompt), ())


def texts_of(fragments: tuple[str, ...], prompts: Mapping[str, bytes]) -> list[str]:
    """Every string of the request body that the fragments make up; none when one of them is not on file. A search
    result is one string, as the same text would stand between tags."""
    if not fragments or any(fragment not in prompts for fragment in fragments):
        return []
    return list(_texts(msgspec.json.decode(b"".join(prompts[fragment] for fragment in fragments))))


def _evidence(question: Question, fragments: tuple[str, ...], prompts: Mapping[str, bytes]) -> float | None:
    texts = texts_of(fragments, prompts)
    return evidence_share(texts, question.evidence) if texts else None


def _texts(value: object) -> Iterator[str]:
    """Every string of a request body, whatever its dialect."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and value.get("type") == "search_result":
        yield between_tags(value)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
