"""What the rules look at, prepared once: texts, key, ledger, and where each of them stands on disk.

Rules: a corpus without a ledger has an empty one here and says in `no_ledger` why, so that a rule need not ask. A
slice counts as without: the ledger speaks of the whole. `true_dates` are the ledger's, else the manifest's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadrig import corpus as corpora
from loadrig.corpus import manifest
from loadrig.corpus.ledger import NAME as LEDGER
from loadrig.corpus.ledger import Ledger, read_ledger
from loadrig.corpus.manifest import Entry
from loadrig.corpus.rules.keyline import KeyLine, read_key
from loadrig.corpus.rules.outcome import Place
from loadrig.corpus.rules.places import Steps, lines_of
from loadrig.corpus.wording import plain_language
from loadrig.measures.recall import squeezed
from loadrig.words.corpus import Corpus
from loadrig.words.settings import CorpusSettings

# Whether an answer holds what `must_contain` demands: handed in, so that it is the very check that answers meet.
PreCheck = Callable[[str, Iterable[str]], bool]
EMPTY = Ledger(canary="", documents=(), facts=())


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A corpus with its key and ledger. Texts have single blanks between words; `folded` are in one case too."""

    folder: Path
    key_path: str
    corpus: Corpus
    key: tuple[KeyLine, ...]
    left_out: int
    ledger: Ledger
    no_ledger: str | None
    entries: Mapping[str, tuple[int, Entry]]
    ledger_lines: Mapping[Steps, int]
    texts: Mapping[str, str]
    folded: Mapping[str, str]
    chunks: Mapping[str, tuple[str, ...]]
    passes: PreCheck

    @property
    def language(self) -> str:
        """`en` where no ledger says otherwise."""
        return plain_language(self.ledger.language)

    @property
    def true_dates(self) -> dict[str, str]:
        """ISO dates of the documents that have one."""
        dates = {document.id: document.date for document in self.corpus.documents if document.date}
        return dates | {document.id: document.date for document in self.ledger.documents}

    @property
    def own(self) -> tuple[str, ...]:
        """The ledger's documents that are there, in its order."""
        return tuple(document.id for document in self.ledger.documents if document.id in self.texts)

    def hits(self, text: str, alternatives: Iterable[str]) -> bool:
        """Whether one of the phrases stands in the text as whole words."""
        return self.passes(text, ("||".join(alternatives),))

    def at_question(self, line: KeyLine) -> Place:
        return Place(self.key_path, line.line)

    def at_ledger(self, *steps: str | int) -> Place:
        """The line of a ledger's value, of an entry that of what it is known by: `at_ledger("facts", 2)`, its id."""
        known_by = ((*steps, "id"), (*steps, "value"), steps)
        line = next((self.ledger_lines[one] for one in known_by if one in self.ledger_lines), None)
        return Place(str(self.folder / LEDGER), line)

    def at_manifest(self, document: str) -> Place:
        """The document's line there; without a manifest its file."""
        if document in self.entries:
            return Place(str(self.folder / manifest.NAME), self.entries[document][0])
        return Place(str(self.folder / document))

    def at_text(self, document: str, phrase: str = "") -> Place:
        """The line in which a phrase begins, wrapped or not; the first one when it is not there."""
        name = self.entries[document][1].file if document in self.entries else document
        text = next(one.text for one in self.corpus.documents if one.id == document)
        return Place(str(self.folder / name), _line_of(text, phrase))


def prepare(folder: str, key_path: str, passes: PreCheck, *, slice_name: str | None = None) -> Subject:
    """Reads everything. Raises `InputError` when something cannot be read at all."""
    corpus = corpora.load(CorpusSettings(path=folder, slice=slice_name))
    root = Path(folder)
    key, left_out = read_key(Path(key_path), outside=corpus.outside)
    ledger = read_ledger(root)
    no_ledger = f"there is no {LEDGER}" if ledger is None else None
    if ledger is not None and corpus.outside:
        no_ledger = f"{LEDGER} speaks of the whole corpus, not of a slice"
    listed = manifest.read_manifest(root / manifest.NAME) if (root / manifest.NAME).is_file() else []
    texts = {document.id: squeezed(document.text) for document in corpus.documents}
    chunks: defaultdict[str, list[str]] = defaultdict(list)
    for chunk in corpus.chunks:
        chunks[chunk.document].append(squeezed(chunk.text))
    return Subject(
        folder=root,
        key_path=key_path,
        corpus=corpus,
        key=key,
        left_out=left_out,
        ledger=EMPTY if no_ledger or ledger is None else ledger,
        no_ledger=no_ledger,
        entries={entry.id: (line, entry) for line, entry in listed},
        ledger_lines={} if no_ledger else lines_of((root / LEDGER).read_text("utf-8")),
        texts=texts,
        folded={document: text.casefold() for document, text in texts.items()},
        chunks={document: tuple(cut) for document, cut in chunks.items()},
        passes=passes,
    )


def _line_of(text: str, phrase: str) -> int:
    """Line (from 1) of a phrase's first word, where white space may differ; else of the text's first word."""
    flat = squeezed(text.casefold())
    before = flat[: max(0, flat.find(squeezed(phrase.casefold())))].count(" ")
    for number, line in enumerate(text.split("\n"), start=1):
        before -= len(line.split())
        if before < 0:
            return number
    return 1
