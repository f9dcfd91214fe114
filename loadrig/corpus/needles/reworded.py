"""Facts that are asked for in other words: fact and question share no content word, only a meaning.

A reader that matches words cannot find them. Each pair is our own, and names words by which somebody else might fit
too: where one of them stands in a corpus, the pair is not asked of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from loadrig.corpus.needles.fresh import Fresh
from loadrig.corpus.needles.planted import Asked, Needle, Planted, sentence


@dataclass(frozen=True, slots=True)
class Pair:
    """`said` of a name, `asked` in other words; `told` are beginnings of words that may stand nowhere in the corpus."""

    said: str
    asked: str
    told: tuple[str, ...]


PAIRS = (
    Pair("{name} mends violins and cellos in a shed by the canal.", "Who earns a living as a luthier?",
         ("violin", "cello", "luthier")),
    Pair("On clear nights {name} draws the rings of Saturn with one eye at the telescope.",
         "Which person is an amateur astronomer?", ("saturn", "telescope", "astronom")),
    Pair("{name} tends forty hives behind the orchard.", "Who is a beekeeper?", ("hive", "beekeep", "apiar")),
    Pair("A glass of milk makes {name} ill within the hour.", "Which person cannot digest lactose?",
         ("milk", "lactose", "dairy")),
    Pair("{name} puts iron shoes on the horses of the whole valley.", "Who works as a farrier?",
         ("horse", "farrier", "blacksmith")),
    Pair("{name} has stood twice on the summit of Kilimanjaro.", "Who climbed the highest mountain of Africa?",
         ("kilimanjaro", "africa")),
    Pair("{name} grew up in sight of the Acropolis.", "Who spent childhood in the Greek capital?",
         ("acropolis", "greek", "greece", "athens")),
    Pair("{name} lost the use of both eyes at the age of six.", "Which person is blind?", ("blind", "braille")),
    Pair("{name} swore the oath of Hippocrates last spring.", "Who recently became a physician?",
         ("hippocrat", "physician", "doctor")),
    Pair("{name} takes neither meat nor eggs nor honey, and nothing else from an animal.", "Who lives as a vegan?",
         ("vegan", "meat", "honey")),
    Pair("{name} has loaves and rolls in the window from four in the morning.", "Who runs a bakery?",
         ("baker", "bakes", "loaves", "bread")),
    Pair("Of the eighty-eight keys {name} misses none, at any wedding.", "Which person plays the piano?",
         ("pian", "eighty-eight")),
)  # fmt: skip


def usable(texts: Iterable[str]) -> list[Pair]:
    """The pairs of which no word is told in the texts."""
    left = {pair: re.compile(rf"\b(?:{'|'.join(map(re.escape, pair.told))})", re.IGNORECASE) for pair in PAIRS}
    for text in texts:
        left = {pair: told for pair, told in left.items() if told.search(text) is None}
    return list(left)


def low_overlap(fresh: Fresh, number: int, pair: Pair) -> Planted:
    """A fact about somebody, asked for in other words."""
    given, family = fresh.names(2)
    needle = Needle(pair.said.format(name=f"{given} {family}"), fresh.in_band(number))
    one = Asked("low_overlap", pair.asked, f"{given} {family}.", (family,), (sentence(0, needle),))
    return Planted((needle,), (one,), (given, family))
