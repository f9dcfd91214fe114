"""Question lines as they stand in a file: changed field by field, keys that loadrig does not know kept as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from loadrig.corpus.jsonl import read_rows
from loadrig.words.errors import InputError

Line = Mapping[str, Any]  # foreign JSON: whatever an author writes into a question's line

_SHAPE = 'a line looks like {"id": "q1", "category": "simple_fact", "question": "...", "reference": "..."}'
_TEXTS = ("question", "reference")
_LISTS = ("must_contain", "must_not_contain", "stale")
_DOCUMENTS = ("gold", "amending")


def read_lines(path: Path) -> tuple[Line, ...]:
    """All lines of a question file. Raises `InputError` with the line."""
    lines: list[Line] = []
    for number, line in read_rows(path, dict[str, Any], remedy=_SHAPE):
        for key in ("id", "category", *_TEXTS):
            if not isinstance(line.get(key), str):
                raise InputError(f"missing field `{key}`", path=path, line=number, remedy=_SHAPE)
        lines.append(line)
    return tuple(lines)


def reworded(line: Line, change: Callable[[str], str]) -> Line:
    """The line with `change` applied to what is written in words: question, reference, phrases of the key, quotes."""
    new = dict(line)
    new |= {key: change(line[key]) for key in _TEXTS if key in line}
    new |= {key: [change(text) for text in line[key]] for key in _LISTS if key in line}
    if "evidence" in line:
        new["evidence"] = [{**item, "quote": change(item["quote"])} for item in line["evidence"]]
    return new


def readdressed(line: Line, ids: Mapping[str, str]) -> Line:
    """The line with other document ids, wherever it names documents; ids that the map does not have stay."""

    def of(docs: list[str]) -> list[str]:
        return [ids.get(doc, doc) for doc in docs]

    new = dict(line)
    new |= {key: of(line[key]) for key in _DOCUMENTS if key in line}
    if "evidence" in line:
        new["evidence"] = [{**item, "doc": ids.get(item["doc"], item["doc"])} for item in line["evidence"]]
    derivation = line.get("derivation")
    if isinstance(derivation, Mapping) and "docs" in derivation:
        new["derivation"] = {**derivation, "docs": of(derivation["docs"])}
    return new


def everywhere(value: Any, change: Callable[[str], str]) -> Any:
    """Any JSON value with `change` applied to every string in it but the keys of objects."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: everywhere(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [everywhere(item, change) for item in value]
    return value
