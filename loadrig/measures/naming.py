"""Documents that an answer names, by id or by number (`minutes no. 3`): those that are there, and those that are not.

Rules for ids: a word is a known id where it is one, with or without an ending (`.md`) or a passage's number (`#3`);
case makes no difference. A word is taken for an id that does not exist when it is built like a known one
(as many figures, letters and marks in the same places) and either is marked as an id, or has all its letters from the
known ids' words, or has three figures. A mark is square brackets, backquotes, or `document`, `source`, `id` before it.
An id of letters alone, as hardened corpora have, is told from a word by its mark only, and the word before it then
needs a quotation mark or a colon between. So ids invented in a shape of their own are missed.

Rules for numbers: see `loadrig.corpus.numbered`. A number is there when the corpus or the key's text mentions it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from loadrig.corpus.facts import Facts, Known
from loadrig.corpus.numbered import numbers_in

_WORD = re.compile(r"[^\W_](?:[\w./-]*[^\W_])?")
_RUN = re.compile(r"\d+|[^\W\d_]+")
_ENDING = re.compile(r"\.[a-z]{1,5}$")
_BEFORE = r"(?:\[(?:[\w./#-]+[,;]\s*){0,12}|`|\b(?:documents?|sources?|ids?|dokument(?:en?|s)?|quellen?)"
_MARK = re.compile(_BEFORE + r"\s*[:=]?\s*[\"'“„«`(:=\[]\s*)$", re.IGNORECASE)
_FAINT_MARK = re.compile(_BEFORE + r"\s*)$", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_REACH, _FIGURES = 200, 3
KEPT = 64  # texts: several measures look at one answer in a row, and it takes long
_PLAIN_WORDS = 100_000


@dataclass(frozen=True, slots=True)
class Named:
    """A document named from `start` to `end` of an answer; `document` None: there is none of that name."""

    start: int
    end: int
    name: str
    document: Facts | None


@lru_cache(maxsize=KEPT)
def ids_named(answer: str, known: Known) -> Sequence[Named]:
    """Document ids in an answer, in order, those that do not exist too."""
    build = _build(known)
    if build.plain.issuperset(_WORD.findall(answer)):
        return []
    found = []
    for word in _WORD.finditer(answer):
        if word[0] in build.plain:
            continue
        name = word[0].casefold()
        document = build.names.get(name) or build.names.get(_ENDING.sub("", name))
        if document is None and (_shape(name) not in build.shapes or _DATE.fullmatch(name)):
            if len(build.plain) < _PLAIN_WORDS:
                build.plain.add(word[0])
            continue  # nearly every word: what stands before it is not looked at, which takes long
        before, plain = answer[max(0, word.start() - _REACH) : word.start()], name.isalpha()
        marked = (_MARK if plain else _FAINT_MARK).search(before) is not None
        if marked or (not plain if document is not None else _is_known_in_parts(name, build)):
            found.append(Named(word.start(), word.end(), word[0], document))
    return found


@lru_cache(maxsize=KEPT)
def numbers_named(answer: str, key: str, known: Known) -> Sequence[Named]:
    """What an answer names by number: documents that bear it, and what neither the corpus nor the key mentions."""
    return list(_numbers(answer, _keyed(key, known), known))


@lru_cache(maxsize=1024)
def _keyed(key: str, known: Known) -> frozenset[str]:
    return frozenset(one.name for one in numbers_in(key, known.nouns))


def _numbers(answer: str, keyed: frozenset[str], known: Known) -> Iterator[Named]:
    bearers = _build(known).bearers
    for one in numbers_in(answer, known.nouns):
        bearing = bearers.get(one.name, ())
        if len(bearing) == 1:
            yield Named(one.start, one.end, one.name, bearing[0])
        elif one.name not in known.numbers and one.name not in keyed:
            yield Named(one.start, one.end, one.name, None)


@dataclass(frozen=True, slots=True)
class _Build:
    """How the ids of a corpus look, and which documents bear which number. `plain`: words met so far that are no ids
    and not built like one."""

    plain: set[str]
    names: dict[str, Facts]
    shapes: frozenset[str]
    words: frozenset[str]
    bearers: dict[str, tuple[Facts, ...]]


@lru_cache(maxsize=8)
def _build(known: Known) -> _Build:
    bearers: dict[str, tuple[Facts, ...]] = {}
    for document in known.documents:
        if document.number:
            bearers[document.number] = (*bearers.get(document.number, ()), document)
    whole = known.by_id
    bare = {_ENDING.sub("", name): document for name, document in whole.items()}
    return _Build(
        plain=set(),
        names={**bare, **whole},
        shapes=frozenset(_shape(name) for name in (*bare, *whole)),
        words=frozenset(run for name in whole for run in _RUN.findall(name) if not run.isdigit()),
        bearers=bearers,
    )


def _is_known_in_parts(name: str, build: _Build) -> bool:
    """Whether a word with figures and letters has all its letters from the known ids' words, or has three figures."""
    runs = _RUN.findall(name)
    letters = {run for run in runs if not run.isdigit()}
    figures = len(runs) - sum(run in letters for run in runs)
    return figures > 0 and bool(letters) and (letters <= build.words or figures >= _FIGURES)


def _shape(name: str) -> str:
    """`99-a-9999` of `01-minutes-2034`; of letters alone as many of them, since nothing else tells it from a word."""
    if name.isalpha():
        return "a" * len(name)
    return _RUN.sub(lambda run: "9" * len(run[0]) if run[0].isdigit() else "a", name)
