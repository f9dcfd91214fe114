"""The renamed variant: every invented name replaced by another, in papers, questions, keys, ledger and ids alike.

What a reader scores on it and on the original should be the same; where it is not, the score hung on the names. A new
name has as many tokens as the old one where that can be had, so that passages are cut at the same places.
"""

from __future__ import annotations

import random
from dataclasses import replace

import msgspec

from loadrig.corpus.ledger import Ledger
from loadrig.corpus.manifest import Entry
from loadrig.corpus.variants.asked import Line, everywhere
from loadrig.corpus.variants.edition import Edition, Paper
from loadrig.corpus.variants.naming import Names, all_words, changing_words, invented, ordinary_words, with_cases
from loadrig.tokens import estimator
from loadrig.words.errors import InputError


def rename(edition: Edition, seed: int) -> Edition:
    """Raises `InputError` when the ledger lists no name."""
    if not edition.ledger.names:
        raise InputError("the ledger has no names", path=edition.name, remedy="list the invented names in `names`")
    names = new_names(edition, seed)
    papers = tuple(_renamed(paper, names) for paper in edition.papers)
    questions = tuple(_everywhere(line, names) for line in edition.questions)
    ledger = msgspec.convert(everywhere(msgspec.to_builtins(edition.ledger), names.of), Ledger)
    listed = tuple(replace(name, name=names.of(name.name)) for name in edition.ledger.names)
    ledger = replace(ledger, names=listed, variant=edition.ledger.variant, language=edition.ledger.language)
    return Edition(names.of(edition.name), papers, ledger, questions)


def new_names(edition: Edition, seed: int) -> Names:
    """An invented word for each word of a name that changes."""
    texts = [paper.text.replace(edition.ledger.canary, "") for paper in edition.papers]
    texts += [line["question"] for line in edition.questions]
    ordinary = ordinary_words(texts)
    chance, taken = random.Random(f"{seed}:rename"), all_words(texts)
    count = estimator().count

    def size(word: str) -> int:
        return count(f" {word}")

    words: dict[str, str] = {}
    for changing in changing_words(edition.ledger.names, ordinary).values():
        for word in changing:
            if word not in words:
                words[word] = invented(word, taken, chance, size=size)
    return Names(with_cases(words, ordinary))


def _renamed(paper: Paper, names: Names) -> Paper:
    entry = msgspec.convert(everywhere(msgspec.to_builtins(paper.entry), names.of), Entry)
    return Paper(entry, names.of(paper.text))


def _everywhere(line: Line, names: Names) -> Line:
    return {**everywhere(line, names.of), "category": line["category"]}
