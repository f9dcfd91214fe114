"""What every retriever of the table keeps to; a new line in the table is tested from that moment on. Those that go by
words alone keep to more."""

# ruff: noqa: RUF001 - letters of other scripts are the point

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from texts import loaded, rows, write

from loadrig import retrievers
from loadrig.retrievers import Retriever
from loadrig.retrievers.fingerprint import fingerprint
from loadrig.retrievers.vectors import VARIABLE
from loadrig.words.arm import Unit
from loadrig.words.corpus import Corpus
from loadrig.words.errors import InputError

TEXTS = {
    "pump.txt": "насос pump one", "cafe.txt": "le cafe\u0301 noir", "coffee.txt": "un café", "kana.txt": "給水ポンプ室",
    "code.txt": "valve RX-0040", "long.txt": "zebra " + "filler word here " * 300 + "zebra zebra zebra",
    "plain1.txt": "nothing at all", "plain2.txt": "nothing else",
}  # fmt: skip
BY_MEANING = {"dense", "hybrid"}

every = pytest.mark.parametrize("name", list(retrievers.RETRIEVERS))
lexical = pytest.mark.parametrize("name", [name for name in retrievers.RETRIEVERS if name not in BY_MEANING])


@pytest.fixture(scope="module", autouse=True)
def _one_cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Vectors of these tests are kept for these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


def build(name: str, texts: Corpus) -> Retriever:
    try:
        return retrievers.load(name)(texts)
    except InputError as error:
        if "is not installed" in str(error):
            pytest.skip(str(error))
        raise


def docs(
    retriever: Retriever, query: str, k: int = 10, caller: tuple[str, ...] = (), *, unit: Unit = "document"
) -> list[str]:
    return [hit.doc for hit in retriever.search(query, k, caller, unit=unit)]


def closed(folder: Path) -> Corpus:
    """Four texts with the word, three of them closed to some, and nine others."""
    access = {"red": ["staff"], "blue": ["board", "staff"], "green": ["board"], "open": []}
    files: dict[str, str] = {}
    lines: list[dict[str, object]] = []
    for place, (key, labels) in enumerate(access.items()):
        files[f"{key}.txt"] = "secret " + "padding " * place
        lines.append({"id": key, "file": f"{key}.txt", "access": labels})
    for at in range(9):
        files[f"x{at}.txt"] = "other things"
        lines.append({"id": f"x{at}", "file": f"x{at}.txt"})
    return loaded(folder, {**files, "manifest.jsonl": rows(*lines)})


@every
def test_hits_come_best_first_once_each_and_no_more_than_asked(name: str, tmp_path: Path) -> None:
    """By chunk and by document, for any k; a hit names a chunk when chunks were asked for, and only then."""
    retriever = build(name, loaded(tmp_path, TEXTS))
    for unit in ("chunk", "document"):
        for k in (1, 3, 1000):
            hits = retriever.search("nothing else", k, (), unit=unit)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            assert len({(hit.doc, hit.chunk) for hit in hits}) == len(hits) <= k
            assert {hit.chunk is None for hit in hits} == {unit == "document"}
            assert hits == retriever.search("nothing else", 1000, (), unit=unit)[:k]
        assert retriever.search("nothing", 0, (), unit=unit) == retriever.search("nothing", -1, (), unit=unit) == ()


@every
@pytest.mark.parametrize("query", ["", "?!", "\ud800"])
def test_a_query_without_a_word_has_no_hit(name: str, query: str, tmp_path: Path) -> None:
    """Blank, signs alone, half a character: nothing is looked for."""
    assert docs(build(name, loaded(tmp_path, TEXTS)), query) == []


@every
def test_half_a_character_beside_words_does_no_harm(name: str, tmp_path: Path) -> None:
    """A model's tool call may hold one: the words beside it are looked for."""
    assert "plain2.txt" in docs(build(name, loaded(tmp_path, TEXTS)), "nothing \ud800 else")


@every
def test_equal_texts_keep_the_order_of_the_corpus(name: str, tmp_path: Path) -> None:
    """Forty texts alike among forty longer ones: they come by id, whatever else comes between."""
    files = {f"{at:02}.txt": "same word" + " more" * (at % 2) for at in range(80)}
    retriever = build(name, loaded(tmp_path, files | {f"other{at}.txt": "none of it" for at in range(90)}))
    alike = [f"{at:02}.txt" for at in range(0, 80, 2)]
    assert docs(retriever, "same word", 3) == alike[:3]
    assert [doc for doc in docs(retriever, "same word", 80) if doc in alike] == alike


@every
@pytest.mark.parametrize("caller", [(), ("guest",), ("staff",), ("board",), ("board", "staff"), ("*",)])
@pytest.mark.parametrize("unit", ["chunk", "document"])
def test_nothing_closed_is_found_and_nothing_closed_takes_a_place(
    name: str, caller: tuple[str, ...], unit: Unit, tmp_path: Path
) -> None:
    """The best text of those that a caller may see comes first (by meaning: where he sees more than one with the word),
    and two are found although closed ones are better: filtered before ranking, whatever is searched through."""
    seen = {"staff": {"red", "blue"}, "board": {"blue", "green"}, "*": {"red", "blue", "green"}}
    mine = {"open"}.union(*(seen.get(label, set()) for label in caller))
    found = docs(build(name, closed(tmp_path)), "secret", 2, caller, unit=unit)
    if name not in BY_MEANING or len(mine) > 1:
        assert found[0] == next(key for key in ("red", "blue", "green", "open") if key in mine)
    assert set(found) <= mine | {f"x{at}" for at in range(9)}
    assert len(found) == 2 or name not in BY_MEANING
    assert len(found) >= min(2, len(mine))


@every
@pytest.mark.parametrize("texts", [{"a.txt": "!!!"}, {"a.txt": "!!!", "b.txt": "word", "c.txt": "x", "d.txt": "y"}])
def test_a_text_without_words_is_never_found(name: str, texts: dict[str, str], tmp_path: Path) -> None:
    """Also when there is no other."""
    found = docs(build(name, loaded(tmp_path, texts)), "word")
    assert "a.txt" not in found
    assert found[:1] == ["b.txt"] * (len(texts) > 1)


@every
def test_a_pickled_retriever_answers_the_same_from_several_threads(name: str, tmp_path: Path) -> None:
    """Built once, sent to workers, asked in parallel: the same hits as here."""
    retriever = build(name, loaded(tmp_path, TEXTS))
    copy: Retriever = pickle.loads(pickle.dumps(retriever))
    queries = ["zebra", "café", "RX-0040", "nothing"] * 10
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda query: copy.search(query, 3, (), unit="chunk"), queries))
    assert answers == [retriever.search(query, 3, (), unit="chunk") for query in queries]


@every
def test_an_index_is_told_from_another_by_its_fingerprint(name: str, tmp_path: Path) -> None:
    """Built twice, or sent: the same. One word of one text changed: another. Asking changes nothing."""
    corpus = loaded(tmp_path / "a", TEXTS)
    first = build(name, corpus)
    told = fingerprint(first)
    first.search("zebra", 3, (), unit="chunk")
    assert told == fingerprint(first) == fingerprint(build(name, corpus))
    assert told == fingerprint(pickle.loads(pickle.dumps(first)))
    assert told != fingerprint(build(name, loaded(tmp_path / "b", TEXTS | {"pump.txt": "насос pump two"})))


OF_A_CORPUS = """\
import sys
from loadrig import corpus, retrievers
from loadrig.retrievers.fingerprint import fingerprint
from loadrig.words.settings import CorpusSettings
texts = corpus.load(CorpusSettings(path=sys.argv[1]))
print(*(fingerprint(retrievers.load(name)(texts)) for name in sys.argv[2:]))
"""


def test_a_fingerprint_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Whatever order a set has there: several words and several part numbers in one text, two seeds of hashing."""
    names = [name for name in retrievers.RETRIEVERS if name not in BY_MEANING]
    write(tmp_path, {"a.txt": "valves RX-0040, QT-17 and UTF-8 of 2026-03-01", "b.txt": "pumps RX-0041, RX-0042"})
    command = [sys.executable, "-c", OF_A_CORPUS, str(tmp_path), *names]
    told = [subprocess.check_output(command, env={**os.environ, "PYTHONHASHSEED": seed}) for seed in ("1", "2")]
    assert dict(zip(names, told[0].split(), strict=True)) == dict(zip(names, told[1].split(), strict=True))


@lexical
def test_more_than_there_is_gives_what_there_is(name: str, tmp_path: Path) -> None:
    """k = 1,000 gives the two texts with the word."""
    assert sorted(docs(build(name, loaded(tmp_path, TEXTS)), "nothing", 1000)) == ["plain1.txt", "plain2.txt"]


@lexical
def test_no_known_word_gives_no_hit(name: str, tmp_path: Path) -> None:
    """No text comes back at score 0."""
    assert docs(build(name, loaded(tmp_path, TEXTS)), "xyzzy") == []


@lexical
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


@lexical
def test_a_document_counts_once_and_by_its_best_chunk(name: str, tmp_path: Path) -> None:
    """`zebra` is in the first and the last chunk of a text: two hits by chunk, one by document, the larger score."""
    retriever = build(name, loaded(tmp_path, TEXTS))
    chunks = retriever.search("zebra", 10, (), unit="chunk")
    assert sorted(hit.chunk or "" for hit in chunks) == ["long.txt#0", "long.txt#2"]
    (document,) = retriever.search("zebra", 10, (), unit="document")
    assert (document.doc, document.chunk, document.score) == ("long.txt", None, chunks[0].score)


@lexical
def test_equal_scores_keep_the_order_of_the_corpus(name: str, tmp_path: Path) -> None:
    """Forty short texts and forty longer ones in turn: the short ones by id, then the others by id."""
    texts = {f"{at:02}.txt": "same word" + " more" * (at % 2) for at in range(80)}
    texts |= {f"other{at}.txt": "none of it" for at in range(90)}
    retriever = build(name, loaded(tmp_path, texts))
    ordered = [f"{at:02}.txt" for at in (*range(0, 80, 2), *range(1, 80, 2))]
    assert docs(retriever, "same", 3) == ordered[:3]
    assert docs(retriever, "same", 100) == ordered


@lexical
def test_a_caller_sees_only_what_his_labels_open_and_loses_no_place_to_the_rest(name: str, tmp_path: Path) -> None:
    """k = 2 with two closed texts in front still gives two hits: filtered before ranking. Open texts are for all."""
    retriever = build(name, closed(tmp_path))
    assert docs(retriever, "secret", 2, ("*",)) == ["red", "blue"]
    assert docs(retriever, "secret", 2, ("board",)) == ["blue", "green"]
    assert docs(retriever, "secret", 9, ("staff",)) == ["red", "blue", "open"]
    assert docs(retriever, "secret", 9, ("guest",)) == docs(retriever, "secret", 9) == ["open"]
