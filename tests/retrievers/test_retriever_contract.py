"""What every retriever of the table keeps to; a new line in the table is tested from that moment on."""

# ruff: noqa: RUF001 - letters of other scripts are the point

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from texts import loaded, rows

from loadrig import retrievers
from loadrig.retrievers import Retriever
from loadrig.words.corpus import Corpus

TEXTS = {
    "pump.txt": "насос pump one", "cafe.txt": "le cafe\u0301 noir", "coffee.txt": "un café", "kana.txt": "給水ポンプ室",
    "code.txt": "valve RX-0040", "long.txt": "zebra " + "filler word here " * 300 + "zebra zebra zebra",
    "plain1.txt": "nothing at all", "plain2.txt": "nothing else",
}  # fmt: skip

pytestmark = pytest.mark.parametrize("name", list(retrievers.RETRIEVERS))


def build(name: str, texts: Corpus) -> Retriever:
    return retrievers.load(name)(texts)


def docs(retriever: Retriever, query: str, k: int = 10, caller: tuple[str, ...] = ()) -> list[str]:
    return [hit.doc for hit in retriever.search(query, k, caller, unit="document")]


def test_more_than_there_is_gives_what_there_is(name: str, tmp_path: Path) -> None:
    """k = 1,000 gives the two texts with the word; k = 0 or less gives none."""
    retriever = build(name, loaded(tmp_path, TEXTS))
    assert sorted(docs(retriever, "nothing", 1000)) == ["plain1.txt", "plain2.txt"]
    assert docs(retriever, "nothing", 0) == docs(retriever, "nothing", -1) == []


@pytest.mark.parametrize("query", ["xyzzy", "", "?!", "\ud800"])
def test_no_known_word_gives_no_hit(name: str, query: str, tmp_path: Path) -> None:
    """No text comes back at score 0."""
    assert docs(build(name, loaded(tmp_path, TEXTS)), query) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("насос", ["pump.txt"]), ("НАСОС", ["pump.txt"]), ("ポンプ", ["kana.txt"]), ("水", ["kana.txt"]),
        ("café", ["cafe.txt", "coffee.txt"]), ("cafe\u0301", ["cafe.txt", "coffee.txt"]),
        ("RX-0040", ["code.txt"]), ("rx 0040", ["code.txt"]), ("0040", ["code.txt"]),
    ],
)  # fmt: skip
def test_words_of_any_script_find_their_text(name: str, query: str, expected: list[str], tmp_path: Path) -> None:
    """Cyrillic, kana inside a longer run, accents composed or not, part numbers: each finds its text and no other."""
    assert sorted(docs(build(name, loaded(tmp_path, TEXTS)), query)) == expected


def test_a_document_counts_once_and_by_its_best_chunk(name: str, tmp_path: Path) -> None:
    """`zebra` is in the first and the last chunk of a text: two hits by chunk, one by document, the larger score."""
    retriever = build(name, loaded(tmp_path, TEXTS))
    chunks = retriever.search("zebra", 10, (), unit="chunk")
    assert sorted(hit.chunk or "" for hit in chunks) == ["long.txt#0", "long.txt#2"]
    (document,) = retriever.search("zebra", 10, (), unit="document")
    assert (document.doc, document.chunk, document.score) == ("long.txt", None, chunks[0].score)


def test_equal_scores_keep_the_order_of_the_corpus(name: str, tmp_path: Path) -> None:
    """Forty short texts and forty longer ones in turn: the short ones by id, then the others by id."""
    texts = {f"{at:02}.txt": "same word" + " more" * (at % 2) for at in range(80)}
    texts |= {f"other{at}.txt": "none of it" for at in range(90)}
    retriever = build(name, loaded(tmp_path, texts))
    ordered = [f"{at:02}.txt" for at in (*range(0, 80, 2), *range(1, 80, 2))]
    assert docs(retriever, "same", 3) == ordered[:3]
    assert docs(retriever, "same", 100) == ordered


def test_a_caller_sees_only_what_his_labels_open_and_loses_no_place_to_the_rest(name: str, tmp_path: Path) -> None:
    """k = 2 with two closed texts in front still gives two hits: filtered before ranking. Open texts are for all."""
    access = {"red": ["staff"], "blue": ["board", "staff"], "green": ["board"], "open": []}
    files: dict[str, str] = {}
    lines: list[dict[str, object]] = []
    for place, (key, labels) in enumerate(access.items()):
        files[f"{key}.txt"] = "secret " + "padding " * place
        lines.append({"id": key, "file": f"{key}.txt", "access": labels})
    for at in range(9):
        files[f"x{at}.txt"] = "other things"
        lines.append({"id": f"x{at}", "file": f"x{at}.txt"})
    retriever = build(name, loaded(tmp_path, {**files, "manifest.jsonl": rows(*lines)}))
    assert docs(retriever, "secret", 2, ("*",)) == ["red", "blue"]
    assert docs(retriever, "secret", 2, ("board",)) == ["blue", "green"]
    assert docs(retriever, "secret", 9, ("staff",)) == ["red", "blue", "open"]
    assert docs(retriever, "secret", 9, ("guest",)) == docs(retriever, "secret", 9) == ["open"]


@pytest.mark.parametrize("texts", [{"a.txt": "!!!"}, {"a.txt": "!!!", "b.txt": "word", "c.txt": "x", "d.txt": "y"}])
def test_a_text_without_words_does_no_harm(name: str, texts: dict[str, str], tmp_path: Path) -> None:
    """Such a chunk is never found, also when there is no other."""
    assert docs(build(name, loaded(tmp_path, texts)), "word") == ["b.txt"] * (len(texts) > 1)


def test_a_pickled_retriever_answers_the_same_from_several_threads(name: str, tmp_path: Path) -> None:
    """Built once, sent to workers, asked in parallel: the same hits as here."""
    retriever = build(name, loaded(tmp_path, TEXTS))
    copy: Retriever = pickle.loads(pickle.dumps(retriever))
    queries = ["zebra", "café", "RX-0040", "nothing"] * 10
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda query: copy.search(query, 3, (), unit="chunk"), queries))
    assert answers == [retriever.search(query, 3, (), unit="chunk") for query in queries]
