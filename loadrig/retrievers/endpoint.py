"""Models for retrieval behind HTTP: embeddings as OpenAI's `/v1/embeddings` takes and gives them, relevance as most
rerank servers do (`{"model", "query", "documents"}` for `{"results": [{"index", "relevance_score"}]}`).

The address is the whole one. What the endpoint answers is checked in full: as many results as texts, each index once,
numbers that are finite. Anything else is an `InputError`, so that a half answer never becomes a ranking. No retries: a
build that is begun again goes on where it stood, and a query that fails fails its trial.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
import numpy as np
import numpy.typing as npt

from loadrig.outside import Caller
from loadrig.words.errors import InputError

TIMEOUT_S = 60.0
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`key` is the name of the environment variable that holds the key: the key itself stands in no plan."""

    url: str
    model: str | None
    key: str | None


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Embeddings(msgspec.Struct):
    data: list[_Embedding]


class _Result(msgspec.Struct):
    index: int
    relevance_score: float


class _Results(msgspec.Struct):
    results: list[_Result]


def embeddings(endpoint: Endpoint, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """One row a text, in the order of the texts, as they came. Raises `InputError`."""
    answer = _told(endpoint, {"input": [sendable(text) for text in texts]}, _Embeddings)
    rows = {one.index: one.embedding for one in answer.data}
    lengths = {len(row) for row in rows.values()}
    if len(answer.data) != len(texts) or rows.keys() != set(range(len(texts))) or len(lengths) != 1 or 0 in lengths:
        problem = f"{endpoint.url} gave {len(answer.data)} vectors of lengths {sorted(lengths)} for {len(texts)} texts"
        raise InputError(problem, remedy="check that the address is an embeddings endpoint and the model one for that")
    with np.errstate(over="ignore"):  # becomes infinite, which is looked for
        vectors = np.array([rows[at] for at in range(len(texts))], dtype=np.float32)
    if not np.isfinite(vectors).all():
        raise InputError(f"{endpoint.url} gave a vector with a number that is none", remedy="check the model")
    return vectors


def relevance(endpoint: Endpoint, query: str, passages: Sequence[str]) -> list[float]:
    """One score a passage, in the order of the passages. Raises `InputError`."""
    asked = {"query": sendable(query), "documents": [sendable(one) for one in passages], "top_n": len(passages)}
    answer = _told(endpoint, asked, _Results)
    scores = {one.index: one.relevance_score for one in answer.results}
    if len(answer.results) != len(passages) or scores.keys() != set(range(len(passages))):
        problem = f"{endpoint.url} gave {len(answer.results)} scores for {len(passages)} passages"
        raise InputError(problem, remedy="check that the address is a rerank endpoint that answers about each passage")
    return [scores[at] for at in range(len(passages))]


def sendable(text: str) -> str:
    """The text as UTF-8 has it: half a character, which a model's tool call may hold, becomes a question mark."""
    return text.encode("utf-8", errors="replace").decode()


def check_address(url: str) -> None:
    """Raises `ValueError` for an address that would put a password into every manifest."""
    if "@" in urlsplit(url).netloc:
        raise ValueError("a password in the address: name an environment variable that holds a key with `key` instead")


def _told(endpoint: Endpoint, asked: dict[str, Any], kind: type[_T]) -> _T:
    body = asked if endpoint.model is None else {"model": endpoint.model, **asked}
    answer = _caller(os.getpid()).post_json(endpoint.url, msgspec.json.encode(body), _headers(endpoint))
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        problem = f"{endpoint.url} answered with something else than was asked for: {error}"
        raise InputError(problem, remedy="check that the address is the whole one of the endpoint meant") from error


def _headers(endpoint: Endpoint) -> list[tuple[str, str]]:
    plain = [("content-type", "application/json")]
    if endpoint.key is None:
        return plain
    if not (key := os.environ.get(endpoint.key)):
        raise InputError(f"no key for {endpoint.url}", remedy=f"set the environment variable {endpoint.key}")
    return [*plain, ("authorization", f"Bearer {key}")]


@cache
def _caller(_pid: int) -> Caller:
    """One of each process: its connections stay open from query to query, and are not those of a parent."""
    caller = Caller(timeout_s=TIMEOUT_S)
    atexit.register(caller.close)
    return caller
