"""`loadrig corpus needles`: a corpus as haystack, with probes planted and the questions that they answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from loadrig import corpus as corpora
from loadrig.corpus.manifest import Entry
from loadrig.corpus.needles.whole import NAMES, Made, Wish, made
from loadrig.corpus.writing import DOCS, CorpusWriter, check_free, cleared, write_lines
from loadrig.tokens import estimator
from loadrig.words.settings import CorpusSettings


@dataclass(frozen=True, slots=True)
class Call:
    """Where the haystack comes from and what is written."""

    corpus: str
    out: Path
    questions_out: Path
    force: bool = False


def run(call: Call, *, tokens: int, each: int, kinds: Sequence[str] | None, seed: int) -> None:
    """Writes the folder and the question file, and says what was planted."""
    wish = Wish(tokens, each, tuple(kinds or NAMES), seed)
    source = corpora.load(CorpusSettings(path=call.corpus))
    check_free(call.questions_out, source=Path(call.corpus), force=call.force)
    found = made(source, wish, estimator())
    root = cleared(call.out, source=Path(call.corpus), force=call.force)
    with CorpusWriter(root, None, _readme(call, wish, source.name, found)) as writer:
        for document in found.documents:
            entry = Entry(document.id, f"{DOCS}/{document.id}.txt", document.title)
            writer.add(entry, document.text.encode())
    lines = write_lines(call.questions_out, found.questions)
    console = Console()
    for note in found.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    console.print(
        Text(
            f"{writer.documents:,} documents of {found.tokens:,} tokens in {call.out}, {lines:,} questions in "
            f"{call.questions_out}"
        ),
        soft_wrap=True,
    )


def _readme(call: Call, wish: Wish, name: str, found: Made) -> str:
    """What was planted and how, so that it can be made again."""
    kinds = "".join(f" --kind {kind}" for kind in wish.kinds) if wish.kinds != NAMES else ""
    counts = Counter(str(line["category"]) for line in found.questions)
    table = "\n".join(f"| {kind} | {count} |" for kind, count in counts.items())
    return f"""# Needles in {name}

{found.tokens:,} tokens of documents of `{name}`, with facts planted between their paragraphs, made by

    loadrig corpus needles {call.corpus} {call.out} --questions-out {call.questions_out} --tokens {wish.tokens} --each \
{wish.each}{kinds} --seed {wish.seed}

Ids number the documents in the order in which they lie; `depths` of a question says where what answers it stands. All
names and figures of the facts are invented and stand nowhere else.

| kind | questions |
|---|---|
{table}
"""
