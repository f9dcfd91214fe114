"""Documents that change in mid-run: read from a folder of their own, and the corpus as it is once they have.

Rules: a text takes the place of the document with its id, or comes to the corpus. What the folder does not say of a
document that it replaces (title, date, status, access) stays as it was: a new text never opens a closed document. One
whose text is the same is no change. Both versions are whole values; nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loadrig.corpus.loading import load, order_of, sha256_of
from loadrig.suggest import did_you_mean
from loadrig.words.change import Update
from loadrig.words.corpus import Corpus, Document
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings


def read_update(settings: CorpusSettings, path: str, corpus: Corpus, *, remove: Sequence[str] = ()) -> Update:
    """What the folder `path` changes in the corpus that `settings` made. Raises `InputError`."""
    own = {document.id: document for document in corpus.documents}
    for name in remove:
        if name not in own:
            raise InputError(f"{name!r} is to be removed and is not there", path=path, remedy=did_you_mean(name, own))
    found = load(replace(settings, path=path, slice=None))
    for document in found.documents:
        if document.id in corpus.outside or document.id in remove:
            why = "is to be removed" if document.id in remove else "lies outside of the chosen slice"
            raise InputError(f"{document.id!r} is to change and {why}", path=path, remedy="take it out of the folder")
    changed = tuple(_kept(one, own.get(one.id)) for one in found.documents if _differs(one, own.get(one.id)))
    if not changed and not remove:
        problem = f"none of its {len(found.documents)} texts differs from the corpus"
        raise InputError(problem, path=path, remedy="name a folder of texts that change documents, by their ids")
    ids = {one.id for one in changed}
    return Update(changed, tuple(chunk for chunk in found.chunks if chunk.document in ids), tuple(remove))


def updated(corpus: Corpus, update: Update) -> Corpus:
    """The corpus once its documents have changed, in the order in which a corpus is loaded."""
    gone = {*update.removed, *(document.id for document in update.documents)}
    documents = sorted([*(one for one in corpus.documents if one.id not in gone), *update.documents], key=order_of)
    place = {document.id: number for number, document in enumerate(documents)}
    chunks = [*(one for one in corpus.chunks if one.document not in gone), *update.chunks]
    return replace(
        corpus,
        documents=tuple(documents),
        chunks=tuple(sorted(chunks, key=lambda chunk: (place[chunk.document], chunk.number))),
        sha256=sha256_of(documents),
    )


def _differs(document: Document, own: Document | None) -> bool:
    return own is None or own.text != document.text


def _kept(document: Document, own: Document | None) -> Document:
    if own is None:
        return document
    return replace(
        document,
        title=document.title or own.title,
        date=document.date or own.date,
        status=document.status or own.status,
        access=document.access or own.access,
    )
