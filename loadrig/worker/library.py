"""Corpus, questions and indexes of a run, built once by the driver and opened by every worker.

Two pickles in the run's private temporary folder: texts for the worker, indexes for its search process. They are
read only by processes this run started, and gone with it.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadrig import retrievers
from loadrig.retrievers import Retriever
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError, described

TEXTS, INDEXES = "texts.pickle", "indexes.pickle"


@dataclass(frozen=True, slots=True)
class Texts:
    """What a worker needs to build prompts."""

    corpus: Corpus
    questions: Mapping[str, Question]


def build_indexes(names: set[str], corpus: Corpus) -> tuple[dict[str, Retriever], dict[str, int]]:
    """The named retrievers over the corpus, and how long each took to build, in nanoseconds."""
    built: dict[str, Retriever] = {}
    took: dict[str, int] = {}
    for name in sorted(names):
        begin = time.perf_counter_ns()
        build = retrievers.load(name)
        try:
            built[name] = build(corpus)
        except Exception as error:  # a plan may name anybody's retriever
            raise InputError(
                f"retriever {name!r} cannot be built: {described(error)}", remedy="correct it, or name another"
            ) from error
        took[name] = time.perf_counter_ns() - begin
    return built, took


def save(folder: Path, texts: Texts, indexes: Mapping[str, Retriever]) -> None:
    """Writes both files into `folder`."""
    for name, value in ((TEXTS, texts), (INDEXES, dict(indexes))):
        (folder / name).write_bytes(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def open_texts(folder: Path) -> Texts:
    """The texts that `save` wrote into `folder`."""
    texts: Texts = _opened(folder / TEXTS)
    return texts


def open_indexes(folder: Path) -> dict[str, Retriever]:
    """The indexes that `save` wrote into `folder`, by retriever name."""
    indexes: dict[str, Retriever] = _opened(folder / INDEXES)
    return indexes


def _opened(path: Path) -> Any:
    return pickle.loads(path.read_bytes())  # noqa: S301 - written by this run, into its own folder
