"""Puts a corpus together: files found, manifest, slice, texts, order, chunks, hash.

Rules: every text file found is a document, or named in `skipped` with the reason, or outside the chosen slice; found =
documents + skipped + outside. Without a manifest each text file is a document and its path its id; with one, only what
it lists. Order is by date, undated last, then by id. Everything wrong is an `InputError` before any request.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from loadrig.corpus import ledger, manifest, slices
from loadrig.corpus.chunking import check_sizes, chunks_of
from loadrig.corpus.folder import inside, text_files
from loadrig.corpus.manifest import Entry
from loadrig.corpus.reading import Unreadable, read_text
from loadrig.tokens import estimator
from loadrig.words.corpus import Chunk, Corpus, Document, Skipped
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings


def load(settings: CorpusSettings) -> Corpus:
    """Reads the folder `settings.path`. Raises `InputError` with path, line and remedy."""
    check_sizes(settings.chunk_tokens, settings.chunk_overlap)
    root = _root(settings.path)
    entries, skipped = _entries(root)
    outside: tuple[str, ...] = ()
    if settings.slice is not None:
        chosen = slices.read_slice(root / slices.NAME, settings.slice, {entry.id for entry in entries})
        outside = tuple(sorted(entry.id for entry in entries if entry.id not in chosen))
        entries = [entry for entry in entries if entry.id in chosen]
    texts, unread = _texts(root, entries)
    skipped = sorted(skipped + unread, key=lambda file: file.path)
    if not texts:
        raise InputError("no document in the corpus" + _reasons(skipped), path=root, remedy="add .txt or .md files")
    documents, chunks = _cut(texts, settings)
    return Corpus(
        name=root.name,
        documents=tuple(documents),
        chunks=tuple(chunks),
        skipped=tuple(skipped),
        sha256=sha256_of(documents),
        estimator=estimator().name,
        outside=outside,
    )


def other_files(root: Path) -> list[str]:
    """Names of the files below a corpus folder that are neither documents nor skipped ones: .pdf, images, ...

    Hidden files, the manifest, the slices and the ledger are left out.
    """
    root = _root(str(root))
    entries, skipped = _entries(root)
    known = {(root / name).resolve() for name in (*(entry.file for entry in entries), *(file.path for file in skipped))}
    known |= {root / manifest.NAME, root / slices.NAME, root / ledger.NAME}
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and path.resolve() not in known)
    names = (path.relative_to(root).as_posix() for path in found)
    return [name for name in names if not any(part.startswith(".") for part in Path(name).parts)]


@dataclass(frozen=True, slots=True)
class _Text:
    entry: Entry
    text: str


def order_of(one: Entry | Document) -> tuple[bool, str, str]:
    """The place of a document among others: by date, undated last, then by id."""
    return one.date is None, one.date or "", one.id


def _root(path: str) -> Path:
    root = Path(path)
    if not root.is_dir():
        problem = "the corpus is a file, not a folder" if root.exists() else "no such corpus folder"
        raise InputError(problem, path=path, remedy="name a folder that holds .txt or .md files")
    return root.resolve()


def _entries(root: Path) -> tuple[list[Entry], list[Skipped]]:
    """What is to be read, and which files found are not."""
    names, skipped = text_files(root)
    path = root / manifest.NAME
    if not path.is_file():
        return [Entry(id=name, file=name) for name in names], skipped
    rows = manifest.read_manifest(path)
    listed = {inside(root, entry.file, listed_in=path, line=line) for line, entry in rows}
    rest = [Skipped(name, "not in the manifest") for name in names if root / name not in listed]
    return [entry for _, entry in rows], rest + [file for file in skipped if root / file.path not in listed]


def _texts(root: Path, entries: Iterable[Entry]) -> tuple[list[_Text], list[Skipped]]:
    texts: list[_Text] = []
    unread: list[Skipped] = []
    for entry in entries:
        text = read_text(root / entry.file)
        if isinstance(text, Unreadable):
            unread.append(Skipped(entry.file, text.reason))
        else:
            texts.append(_Text(entry, text))
    return sorted(texts, key=lambda text: order_of(text.entry)), unread


def _cut(texts: Iterable[_Text], settings: CorpusSettings) -> tuple[list[Document], list[Chunk]]:
    documents: list[Document] = []
    chunks: list[Chunk] = []
    size, overlap = settings.chunk_tokens, settings.chunk_overlap
    for text in texts:
        entry = text.entry
        tokens, cut = chunks_of(entry.id, text.text, estimator(), size=size, overlap=overlap)
        chunks.extend(cut)
        documents.append(
            Document(entry.id, text.text, tokens, entry.title, entry.date, entry.status, entry.access),
        )
    return documents, chunks


def _reasons(skipped: Iterable[Skipped]) -> str:
    counts = Counter(file.reason for file in skipped)
    return "; skipped: " + ", ".join(f"{n} {reason}" for reason, n in counts.items()) if counts else ""


def sha256_of(documents: Iterable[Document]) -> str:
    """What a corpus' documents are known by: their ids, dates and texts, and their labels where they have some."""
    digest = hashlib.sha256()
    for document in documents:
        labels = (sorted(document.access),) if document.access else ()
        digest.update(msgspec.json.encode((document.id, document.date, document.text, *labels)) + b"\n")
    return digest.hexdigest()
