"""`bm25`, the default retriever: BM25 over chunks by bm25s, with Lucene's idf, which is above 0 for every word.

score(chunk) = sum over the query's words (repeated ones count again) of idf * tf / (tf + k1 * (1 - b + b * l / L)),
idf = ln(1 + (N - n + 0.5) / (n + 0.5)), l the chunk's words, L their mean, k1 = 1.5, b = 0.75.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009; idf as Apache Lucene's BM25Similarity.

On top comes the bonus for part numbers written exactly as asked (see `part_numbers`). Statistics are those of the whole
corpus, also for a caller who sees less of it. bm25s does the arithmetic on word numbers; its own top-k is not used. It
is fed numbers, not words, from one array: lists of words take gigabytes at half a million chunks.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Annotated

import bm25s

from loadrig.retrievers.material import Material
from loadrig.retrievers.part_numbers import PartNumbers, part_numbers_of
from loadrig.retrievers.ranking import Ranking, ranking_of
from loadrig.retrievers.words import Language, Wording, words_of
from loadrig.words.arm import Unit
from loadrig.words.corpus import Corpus, Hit
from loadrig.words.settings import NotNegative, Share

STOP_WORD = -1


@dataclass(frozen=True, slots=True)
class Bm25:
    """`k1`: how soon a repeated word counts no more; `b`: how much a long chunk is held back. `stem`, `stop_words`:
    words by their Snowball stems, and without bm25s's stop words, of `language`."""

    k1: Annotated[float, NotNegative] = 1.5
    b: Annotated[float, Share] = 0.75
    stem: bool = False
    stop_words: bool = False
    language: Language = "english"

    def __post_init__(self) -> None:
        if self.language != "english" and not (self.stem or self.stop_words):
            raise ValueError("language is that of stems and stop words: it wants stem or stop_words = true")

    def build(self, material: Material) -> Bm25Index:
        """Indexes every chunk: about 3 s for 3 million tokens."""
        corpus, wording = material.corpus, Wording(self.language, self.stem, self.stop_words)
        numbers = _Numbers(wording)
        index = bm25s.BM25(k1=self.k1, b=self.b, method="lucene", backend="numpy", csc_backend="scipy")
        with TemporaryFile() as file:
            rows = _Rows.of(corpus, numbers, file)
            if numbers.forms:
                index.scores = index.build_index_from_ids(range(len(numbers.forms)), rows, show_progress=False)
        index.nonoccurrence_array = None

        def idf(word: str) -> float:
            at = numbers.get(word, STOP_WORD)
            chunks_with = 0 if at == STOP_WORD else int(index.scores["indptr"][at + 1] - index.scores["indptr"][at])
            return math.log(1 + (len(rows) - chunks_with + 0.5) / (chunks_with + 0.5)) if chunks_with else 0.0

        part_numbers = part_numbers_of((chunk.text for chunk in corpus.chunks), idf)
        return Bm25Index(index, numbers.forms, wording, part_numbers, ranking_of(corpus))


def build(corpus: Corpus) -> Bm25Index:
    """The default retriever, for who has a corpus and no plan."""
    return Bm25().build(Material(corpus))


@dataclass(frozen=True, slots=True, eq=False)
class Bm25Index:
    """A built index. `numbers` gives each word, in the form of `wording`, its row in `index`."""

    index: bm25s.BM25
    numbers: dict[str, int]
    wording: Wording
    part_numbers: PartNumbers
    ranking: Ranking

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        known = [self.numbers[word] for word in self.wording.words(query) if word in self.numbers]
        if not known:
            return ()
        scores = self.index.get_scores_from_ids(known)
        self.part_numbers.add_bonus(query, scores)
        return self.ranking.best(scores, k, caller, unit=unit)


class _Numbers(dict[str, int]):
    """The number of a word as it is written; a new form gets the next one. Each word is brought into form once."""

    def __init__(self, wording: Wording) -> None:
        super().__init__()
        self.forms: dict[str, int] = {}
        self.wording = wording

    def __missing__(self, word: str) -> int:
        form = self.wording.form(word)
        number = STOP_WORD if form is None else self.forms.setdefault(form, len(self.forms))
        self[word] = number
        return number


@dataclass(frozen=True, slots=True)
class _Rows:
    """The word numbers of all chunks, one behind the other in a file, and how many each has: a sequence to be gone
    through again and again, of which memory holds one chunk at a time, for bm25s keeps it to the end of its work."""

    file: IO[bytes]
    lengths: array[int]

    @staticmethod
    def of(corpus: Corpus, numbers: _Numbers, file: IO[bytes]) -> _Rows:
        lengths = array("i")
        for chunk in corpus.chunks:
            found = map(numbers.__getitem__, words_of(chunk.text))
            row = array("i", filter(STOP_WORD.__ne__, found) if numbers.wording.stop_words else found)
            row.tofile(file)
            lengths.append(len(row))
        return _Rows(file, lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[array[int]]:
        self.file.seek(0)
        for length in self.lengths:
            row = array("i")
            row.fromfile(self.file, length)
            yield row
