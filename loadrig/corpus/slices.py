"""slices.json: named parts of a corpus, `{"s64k": {"docs": ["id", ...]}}`.

`"docs": "all"` is the whole corpus; other keys of a slice are ignored.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from loadrig.suggest import did_you_mean
from loadrig.words.errors import InputError

NAME = "slices.json"
_SHAPE = 'the file looks like {"small": {"docs": ["a", "b"]}}'


@dataclass(frozen=True, slots=True)
class Slice:
    """The ids of the documents that belong to it, or all."""

    docs: tuple[str, ...] | Literal["all"]


def read_slice(path: Path, name: str, ids: Collection[str]) -> frozenset[str]:
    """The ids of slice `name`. Raises `InputError`: no such file or slice, or an id that the corpus does not have."""
    if not path.is_file():
        remedy = "leave `slice` out, or add slices.json to the corpus"
        raise InputError(f"slice {name!r} asked for, but there is no {NAME}", path=path, remedy=remedy)
    try:
        slices = msgspec.json.decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"), type=dict[str, Slice])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not a file of slices: {error}", path=path, remedy=_SHAPE) from error
    if name not in slices:
        raise InputError(f"no slice {name!r}", path=path, remedy=did_you_mean(name, slices))
    docs = slices[name].docs
    if docs == "all":
        return frozenset(ids)
    if not docs:
        raise InputError(f"slice {name!r} has no documents", path=path, remedy=_SHAPE)
    unknown = [doc for doc in docs if doc not in ids]
    if unknown:
        raise InputError(
            f"slice {name!r} names a document that the corpus does not have: {unknown[0]!r}",
            path=path,
            remedy=did_you_mean(unknown[0], ids),
        )
    return frozenset(docs)
