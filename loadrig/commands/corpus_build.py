"""`loadrig corpus harden|enlarge|rename|slice`: corpora made from a corpus, and parts of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from loadrig import corpus as corpora
from loadrig import questions as question_files
from loadrig.corpus import slicing
from loadrig.corpus.ledger import Ledger
from loadrig.corpus.variants import enlarge as enlarging
from loadrig.corpus.variants import harden as hardening
from loadrig.corpus.variants import rename as renaming
from loadrig.corpus.variants import telling
from loadrig.corpus.variants.edition import Edition, read_edition
from loadrig.corpus.writing import CorpusWriter, check_free, cleared, write_lines
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings, QuestionSettings


@dataclass(frozen=True, slots=True)
class Paths:
    """What a variant is made from and where it goes."""

    corpus: str
    out: Path
    questions: str
    questions_out: Path
    force: bool = False

    def read(self) -> Edition:
        """The source, checked: every gold document is there, every line is a question."""
        corpus = corpora.load(CorpusSettings(path=self.corpus))
        question_files.load(QuestionSettings(path=self.questions), corpus)
        check_free(self.questions_out, source=Path(self.questions), force=self.force)
        return read_edition(self.corpus, self.questions)

    def opened(self, ledger: Ledger, readme: str) -> CorpusWriter:
        """The new folder, empty, ready to be written to."""
        return CorpusWriter(cleared(self.out, source=Path(self.corpus), force=self.force), ledger, readme)


def harden(paths: Paths, seed: int) -> None:
    """Writes the hardened variant and says what was requoted."""
    edition = paths.read()
    made = hardening.harden(edition, seed)
    _write(paths, made.edition, telling.hardened(edition, made.requotes, seed))
    console = Console()
    newest = made.edition.ledger.documents[-1].id
    # Requotes have the source's ids; the newest document is the last in both ledgers.
    in_newest = len(made.requotes.into(edition.ledger.documents[-1].id))
    placed = len(made.requotes.placed)
    console.print(f"{placed} earlier states requoted, {in_newest} of them in the newest document {newest}")
    for state in made.requotes.left_out:
        console.print(Text(f"not requoted, as a document would then speak of a topic it is silent about: {state}"))
    _say_written(console, paths, len(made.edition.papers), len(made.edition.questions))


def rename(paths: Paths, seed: int) -> None:
    """Writes the renamed variant."""
    edition = paths.read()
    made = renaming.rename(edition, seed)
    _write(paths, made, telling.renamed(edition, made, seed))
    _say_written(Console(), paths, len(made.papers), len(made.questions))


def enlarge(paths: Paths, seed: int, *, documents: int, access: bool) -> None:
    """Writes the enlarged variant, paper by paper; originals are copied byte for byte."""
    edition = paths.read()
    more = documents - len(edition.papers)
    if more < 1:
        remedy = f"ask for more than the {len(edition.papers)} that the corpus has"
        raise InputError(f"--documents {documents}", remedy=remedy)
    world = enlarging.world(edition, seed, access=access)
    labels: dict[str, None] = {}
    readme = telling.enlarged(edition, documents, seed, access=access)
    with paths.opened(world.ledger, readme) as writer:
        for paper in edition.papers:
            writer.add(world.entry(paper), (Path(paths.corpus) / paper.entry.file).read_bytes())
        for paper in enlarging.distractors(world, more):
            writer.add(paper.entry, paper.text.encode())
            labels |= dict.fromkeys(paper.entry.access)
    lines = write_lines(paths.questions_out, enlarging.questions(world, list(labels)))
    _say_written(Console(), paths, writer.documents, lines)


def slice_of(path: str, name: str, questions: str, *, tokens: int, seed: int) -> None:
    """Puts a slice of at most so many tokens into slices.json and prints how many questions it answers."""
    if not name.strip():
        raise InputError("empty name of a slice", remedy="name it, such as s200k")
    corpus = corpora.load(CorpusSettings(path=path))
    selection = question_files.load(QuestionSettings(path=questions), corpus)
    documents = slicing.beginning(slicing.row_of(corpus.documents, selection, seed), tokens)
    if not documents:
        raise InputError(f"--tokens {tokens}", remedy="ask for more: not one document fits")
    slicing.write_slice(Path(path), name, documents, seed)
    part = corpora.load(CorpusSettings(path=path, slice=name))
    answered = question_files.select(QuestionSettings(path=questions), part)
    Console().print(
        Text(
            f"slice {name}: {len(documents):,} of {len(corpus.documents):,} documents, {part.tokens:,} tokens, "
            f"{len(answered.questions)} of {len(selection)} questions answerable"
        )
    )


def _write(paths: Paths, edition: Edition, readme: str) -> None:
    with paths.opened(edition.ledger, readme) as writer:
        for paper in edition.papers:
            writer.add(paper.entry, paper.text.encode())
    write_lines(paths.questions_out, edition.questions)


def _say_written(console: Console, paths: Paths, documents: int, questions: int) -> None:
    written = f"{documents:,} documents in {paths.out}, {questions:,} questions in {paths.questions_out}"
    console.print(Text(written), soft_wrap=True)
