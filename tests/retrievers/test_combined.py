"""Retrievers that search through others: the sums are those of their formulas, by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from model_server import Model, serving
from texts import loaded, rows

from loadrig.retrievers import Material, load, needed
from loadrig.retrievers.hybrid import Hybrid
from loadrig.retrievers.recency import Recency, newness
from loadrig.retrievers.rerank import Rerank
from loadrig.words.arm import Unit
from loadrig.words.corpus import Corpus, Hit
from loadrig.words.errors import InputError

EMPTY = Corpus("none", (), (), (), "", "none")


@dataclass(frozen=True)
class Fixed:
    """Finds these documents, whatever is asked, each with one chunk."""

    scores: Mapping[str, float]

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        found = (Hit(doc, f"{doc}#0" if unit == "chunk" else None, score) for doc, score in self.scores.items())
        return tuple(found)[:k]


def test_ranks_are_fused_by_the_sum_of_their_reciprocals() -> None:
    """b is second and first: 1/62 + 1/61, before a and c, which one finds first and second; d is third in one alone."""
    parts = {"x": Fixed({"a": 9.0, "b": 8.0}), "y": Fixed({"b": 0.3, "c": 0.2, "d": 0.1})}
    hits = Hybrid(of=("x", "y")).build(Material(EMPTY, parts)).search("q", 9, (), unit="document")
    expected = [("b", 1 / 62 + 1 / 61), ("a", 1 / 61), ("c", 1 / 62), ("d", 1 / 63)]
    assert [(hit.doc, pytest.approx(hit.score)) for hit in hits] == expected


def test_equal_sums_go_by_the_retriever_named_first() -> None:
    """Each finds another one first: the order of the names decides."""
    parts = {"x": Fixed({"z": 1.0}), "y": Fixed({"a": 1.0})}
    for of, first in ((("x", "y"), "z"), (("y", "x"), "a")):
        assert Hybrid(of=of).build(Material(EMPTY, parts)).search("q", 1, (), unit="chunk")[0].doc == first


def test_only_the_best_of_each_are_fused() -> None:
    """Depth 1: what is second nowhere counts."""
    parts = {"x": Fixed({"a": 2.0, "b": 1.0}), "y": Fixed({"c": 2.0, "b": 1.0})}
    index = Hybrid(of=("x", "y"), depth=1).build(Material(EMPTY, parts))
    assert [hit.doc for hit in index.search("q", 1, (), unit="document")] == ["a"]


def test_the_constant_is_that_of_the_option() -> None:
    """Without one the reciprocals are those of the ranks: b is second and first, 1/2 + 1; a is first in one."""
    parts = {"x": Fixed({"a": 2.0, "b": 1.0}), "y": Fixed({"b": 1.0})}
    hits = Hybrid(of=("x", "y"), constant=0).build(Material(EMPTY, parts)).search("q", 9, (), unit="document")
    assert [(hit.doc, hit.score) for hit in hits] == [("b", 1.5), ("a", 1.0)]


def dated(folder: Path, dates: Mapping[str, str | None]) -> Corpus:
    files = {f"{name}.txt": f"text {name}" for name in dates}
    lines = ({"id": name, "file": f"{name}.txt", **({"date": date} if date else {})} for name, date in dates.items())
    return loaded(folder, {**files, "manifest.jsonl": rows(*lines)})


DATES = {"old": "2020-01-01", "mid": "2026-02-01", "twin": "2026-02-01", "new": "2026-03-01", "none": None}


def test_newness_is_the_share_of_the_others_that_are_older(tmp_path: Path) -> None:
    """Of four dated: the oldest 0, two of one day (1 + 1/2) / 3, the newest 1; however long between them."""
    assert newness(dated(tmp_path, DATES)) == {"old": 0.0, "mid": 0.5, "twin": 0.5, "new": 1.0}
    assert newness(dated(tmp_path / "one", {"only": "2026-01-01", "none": None})) == {"only": 0.5}


def test_scores_are_weighed_by_date(tmp_path: Path) -> None:
    """Weight 0.2: the oldest times 0.8, the newest times 1.2, the middle and the undated as they were."""
    part = Fixed({"old": 10.0, "none": 9.0, "mid": 8.5, "new": 8.0})
    index = Recency(of="x", weight=0.2).build(Material(dated(tmp_path, DATES), {"x": part}))
    hits = index.search("q", 9, (), unit="document")
    expected = [("new", 9.6), ("none", 9.0), ("mid", 8.5), ("old", 8.0)]
    assert [(hit.doc, pytest.approx(hit.score)) for hit in hits] == expected


@pytest.mark.parametrize(("depth", "first"), [(1, "old"), (2, "mid"), (3, "new")])
def test_as_many_as_the_depth_says_are_weighed_by_date(depth: int, first: str, tmp_path: Path) -> None:
    """One is asked for: the newest, with 9.8 * 1.5, is third in the other, the middle one, with 9.9, second."""
    part = Fixed({"old": 10.0, "mid": 9.9, "new": 9.8})
    index = Recency(of="x", weight=0.5, depth=depth).build(Material(dated(tmp_path, DATES), {"x": part}))
    assert [hit.doc for hit in index.search("q", 1, (), unit="document")] == [first]


@pytest.mark.parametrize(("depth", "first"), [(1, "a.txt"), (2, "b.txt"), (3, "c.txt")])
def test_as_many_as_the_depth_says_are_looked_at_again(depth: int, first: str, tmp_path: Path) -> None:
    """One is asked for: the best, with both words side by side, is third in the other; the second has them apart."""
    part = Fixed({"a.txt": 3.0, "b.txt": 2.0, "c.txt": 1.0})
    corpus = loaded(tmp_path, {"a.txt": "red", "b.txt": "red and a lamp", "c.txt": "red lamp"})
    index = Rerank(of="x", depth=depth).build(Material(corpus, {"x": part}))
    assert [hit.doc for hit in index.search("red lamp", 1, (), unit="chunk")] == [first]


def test_without_a_model_words_beside_each_other_count(tmp_path: Path) -> None:
    """`red` stands in three of three texts, ln 2, `pump` in two, ln 2.5. Side by side, in either order: (1 + 1) / 2;
    both apart: (1 + 0) / 2; `red` alone: its share of the weight, halved. Asked twice, a word counts once."""
    texts = {"a.txt": "a pump, not red", "b.txt": "pump red", "c.txt": "red"}
    part = Fixed({"a.txt": 3.0, "c.txt": 2.0, "b.txt": 1.0})
    corpus = loaded(tmp_path, texts)
    hits = Rerank(of="x").build(Material(corpus, {"x": part})).search("red pump red", 3, (), unit="chunk")
    only_red = math.log(2) / (math.log(2) + math.log(2.5)) / 2
    expected = [("b.txt", 1.0), ("a.txt", 0.5), ("c.txt", only_red)]
    assert [(hit.doc, pytest.approx(hit.score)) for hit in hits] == expected


def test_a_rerank_endpoint_decides_the_order(tmp_path: Path) -> None:
    """Its relevance is the score: the passage that bm25 found last is the first; query and texts go out as they are."""
    files = {"a.txt": "lamp lamp lamp", "b.txt": "a lamp of brass", "c.txt": "no word of it"}
    with serving(Model(relevance=lambda query, passage: float("brass" in passage))) as model:
        corpus = loaded(tmp_path, files)
        kind = Rerank(url=model.url, model="r")
        index = kind.build(Material(corpus, {"bm25": load("bm25")(corpus)}))
        hits = index.search("which lamp?", 5, (), unit="document")
    assert [(hit.doc, hit.chunk, hit.score) for hit in hits] == [("b.txt", None, 1.0), ("a.txt", None, 0.0)]
    assert model.asked == [
        {"model": "r", "query": "which lamp?", "documents": ["lamp lamp lamp", "a lamp of brass"], "top_n": 2}
    ]


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        (b'{"results": [{"index": 0, "relevance_score": 1}]}', "gave 1 scores for 2 passages"),
        (b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]}', "gave 2 scores"),
        (b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]}', "gave 2 scores"),
        (b"[]", "something else than was asked for"),
    ],
)
def test_relevance_that_is_not_whole_is_an_error(instead: bytes, said: str, tmp_path: Path) -> None:
    """One short, one twice, one of another passage, another thing: never half a ranking."""
    with serving(Model(instead=instead)) as model:
        corpus = loaded(tmp_path, {"a.txt": "lamp one", "b.txt": "lamp two"})
        index = Rerank(url=model.url).build(Material(corpus, {"bm25": load("bm25")(corpus)}))
        with pytest.raises(InputError, match=said):
            index.search("lamp", 2, (), unit="chunk")


def test_parts_are_built_before_what_searches_through_them() -> None:
    """A retriever over one over one: in the order in which they can be built, each once."""
    given = {"top": Recency(of="both"), "both": Hybrid(of=("bm25", "mine")), "mine": Rerank(of="bm25")}
    assert list(needed(["top", "mine"], given)) == ["bm25", "mine", "both", "top"]


def test_a_retriever_that_searches_through_itself_is_refused() -> None:
    """The error names the ring."""
    given = {"a": Recency(of="b"), "b": Rerank(of="a")}
    with pytest.raises(InputError, match="searches through itself: a -> b -> a"):
        needed(["a"], given)
