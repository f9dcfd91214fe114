"""Retrieval by vectors that the tests set: what is sent, what is kept on disk, what a wrong answer becomes."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from model_server import Model, serving
from texts import loaded

from loadrig.retrievers import Material, Retriever
from loadrig.retrievers.dense import Dense
from loadrig.retrievers.vectors import VARIABLE, Vectors
from loadrig.words.corpus import Corpus
from loadrig.words.errors import InputError, Interrupted

PLACES = {"north": [0.0, 2.0], "east": [5.0, 0.0], "south": [0.0, -1.0], "where": [3.0, 4.0]}
MANY = {f"{at}.txt": f"text {at}" for at in range(10)}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def model() -> Iterator[Model]:
    """An endpoint whose vectors are those of `PLACES`, or two numbers by length."""
    with serving(Model(vector=lambda text: PLACES.get(text, [1.0, float(len(text))]))) as served:
        yield served


def places(folder: Path) -> Corpus:
    return loaded(folder, {f"{name}.txt": name for name in ("north", "east", "south")})


def test_the_score_is_the_cosine(model: Model, tmp_path: Path) -> None:
    """(3, 4) and (0, 2): 0.8; and (5, 0): 0.6, whatever their lengths; what points away is no hit."""
    index = Dense(url=model.url).build(Material(places(tmp_path / "c")))
    hits = index.search("where", 5, (), unit="document")
    assert [(hit.doc, pytest.approx(hit.score)) for hit in hits] == [("north.txt", 0.8), ("east.txt", 0.6)]


def test_the_endpoint_is_asked_as_the_options_say(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two texts a request, words put before passage and query, the key from the environment: and never in the index."""
    monkeypatch.setenv("EMBED_KEY", "s3cret")
    options = Dense(
        url=model.url, model="m", batch=2, key="EMBED_KEY", query_prefix="query: ", passage_prefix="passage: "
    )
    index = options.build(Material(places(tmp_path / "c")))
    index.search("where", 1, (), unit="chunk")
    assert model.asked == [
        {"model": "m", "input": ["passage: east", "passage: north"]},
        {"model": "m", "input": ["passage: south"]},
        {"model": "m", "input": ["query: where"]},
    ]
    assert set(model.keys) == {"Bearer s3cret"}
    assert b"s3cret" not in pickle.dumps(index)


def test_a_text_is_embedded_once(model: Model, tmp_path: Path) -> None:
    """Three passages, two of them alike: two texts are sent, and to a second build none; another model's vectors are
    others."""
    corpus = loaded(tmp_path / "c", {"a.txt": "same", "b.txt": "same", "c.txt": "other"})
    first = Dense(url=model.url, model="m").build(Material(corpus))
    second = Dense(url=model.url, model="m").build(Material(corpus))
    assert model.texts == ["same", "other"]
    assert first.search("x", 3, (), unit="chunk") == second.search("x", 3, (), unit="chunk")
    Dense(url=model.url, model="n").build(Material(corpus))
    assert model.texts == ["same", "other", "x", "x", "same", "other"]


def test_a_build_that_was_ended_goes_on_where_it_stood(model: Model, tmp_path: Path) -> None:
    """Ten texts, two a request; ended after three requests, begun again: the other four are sent, none twice."""
    corpus, told = loaded(tmp_path / "c", MANY), list[str]()

    def go_on() -> None:
        if len(model.asked) == 3:
            raise Interrupted("enough")

    options = Dense(url=model.url, batch=2)
    with pytest.raises(Interrupted):
        options.build(Material(corpus, say=told.append, go_on=go_on))
    options.build(Material(corpus, say=told.append))
    assert sorted(model.texts) == sorted(MANY.values())
    assert [text.partition(";")[0] for text in told] == [
        "10 of 10 passages are to be embedded", "4 of 10 passages are to be embedded",
    ]  # fmt: skip


def test_how_far_a_build_is_is_said(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever a line is due: how many are done, of how many, and how long still."""
    monkeypatch.setattr("loadrig.retrievers.dense.SAY_EVERY_S", 0.0)
    told: list[str] = []
    Dense(url=model.url, batch=4).build(Material(loaded(tmp_path / "c", MANY), say=told.append))
    assert [text.partition(", about")[0] for text in told[1:]] == [
        "4 of 10 passages embedded", "8 of 10 passages embedded",
    ]  # fmt: skip


def test_how_long_a_build_still_takes_is_that_of_what_is_left(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of ten texts every ten seconds: 40 s are left after the first two, then 30, 20 and 10."""
    clock = SimpleNamespace(monotonic=iter((0.0, 0.0, 10.0, 20.0, 30.0, 40.0)).__next__)
    monkeypatch.setattr("loadrig.retrievers.dense.time", clock)
    told: list[str] = []
    Dense(url=model.url, batch=2).build(Material(loaded(tmp_path / "c", MANY), say=told.append))
    assert [text.rpartition("about ")[2] for text in told[1:]] == ["40 s left", "30 s left", "20 s left", "10 s left"]


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        (b'{"data": [{"index": 0, "embedding": [1.0]}]}', "gave 1 vectors of lengths [1] for 3 texts"),
        (b'{"data": [%s]}' % b", ".join([b'{"index": 0, "embedding": [1.0]}'] * 3), "gave 3 vectors"),
        (
            b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}, {"index": 2, "embedding": '
            b"[1, 2]}]}",
            "of lengths [1, 2] for 3 texts",
        ),
        (b'{"data": [%s]}' % b", ".join(b'{"index": %d, "embedding": [0.0]}' % at for at in range(3)), "of zeros"),
        (b'{"data": [%s]}' % b", ".join(b'{"index": %d, "embedding": [1e60]}' % at for at in range(3)), "that is none"),
        (b'{"data": [%s]}' % b", ".join(b'{"index": %d, "embedding": []}' % at for at in range(3)), "of lengths [0]"),
        (b'{"data": [{"index": 0, "embedding": [null]}]}', "something else than was asked for"),
        (b'{"object": "list"}', "something else than was asked for"),
        (b"<html>", "did not answer with JSON"),
    ],
)
def test_a_wrong_answer_is_named_and_becomes_no_index(instead: bytes, said: str, model: Model, tmp_path: Path) -> None:
    """Too few, one twice, of unequal length, zeros, beyond all numbers, empty, no number, another thing, a page."""
    model.instead = instead
    with pytest.raises(InputError) as caught:
        Dense(url=model.url).build(Material(places(tmp_path / "c")))
    assert said in str(caught.value)
    assert not list((tmp_path / "cache").rglob("*.vectors"))


def test_a_key_that_is_not_set_is_missed_before_anything_is_sent(model: Model, tmp_path: Path) -> None:
    """The remedy names the variable."""
    with pytest.raises(InputError, match="set the environment variable LOADRIG_NO_SUCH_KEY"):
        Dense(url=model.url, key="LOADRIG_NO_SUCH_KEY").build(Material(places(tmp_path / "c")))
    assert model.asked == []


@pytest.mark.parametrize("options", [{"url": "http://me:pass@127.0.0.1/v1"}, {"model": "another"}, {"max_tokens": 513}])
def test_options_that_cannot_be_meant_are_refused(options: dict[str, str]) -> None:
    """A password in the address would stand in every manifest; another model than the packaged one needs an address,
    and that one takes 512 tokens."""
    with pytest.raises(ValueError, match=r"key|url|512"):
        Dense(**options)  # type: ignore[arg-type]


def test_a_model_that_changed_behind_its_endpoint_is_noticed(model: Model, tmp_path: Path) -> None:
    """A query's vector of another length than the passages' is an error, not a ranking."""
    index: Retriever = Dense(url=model.url).build(Material(places(tmp_path / "c")))
    model.vector = lambda text: [1.0, 2.0, float(len(text))]
    with pytest.raises(InputError, match="the query has 3 numbers, the passages have 2"):
        index.search("where", 1, (), unit="chunk")


def test_what_a_crash_left_of_the_cache_is_used_as_far_as_it_is_whole(model: Model, tmp_path: Path) -> None:
    """Cut in the third record, and one number of the second changed: the first is used, the others are asked for again,
    and then all three are there."""
    corpus = places(tmp_path / "c")
    Dense(url=model.url).build(Material(corpus))
    (path,) = (tmp_path / "cache").rglob("*.vectors")
    content = bytearray(path.read_bytes()[:-3])
    content[16 + 40 + 32 : 16 + 40 + 36] = b"\x00\x00\x00\x42"
    path.write_bytes(content)
    for _ in range(2):
        Dense(url=model.url).build(Material(corpus))
    assert model.texts == ["east", "north", "south", "north", "south"]


def test_a_cache_that_cannot_be_written_says_what_to_do(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file where the folder should be: the error names the variable that moves it."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    with pytest.raises(InputError, match=f"set {VARIABLE} to a folder"):
        Dense(url=model.url).build(Material(places(tmp_path / "c")))


def test_the_cache_lies_where_the_system_wants_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`$XDG_CACHE_HOME/loadrig`, else `~/.cache/loadrig`; our own variable goes before both."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert Vectors.of("m").path.parent == tmp_path / "cache" / "vectors"
    monkeypatch.delenv(VARIABLE)
    assert Vectors.of("m").path.parent == tmp_path / "xdg" / "loadrig" / "vectors"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert Vectors.of("m").path.parent == tmp_path / "home" / ".cache" / "loadrig" / "vectors"
