"""A worker whose documents change in mid-run: what trials see, when, and what it tells of it."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import slow_index
from asking import run
from open_worker import records, run_dry, setup_of, trials
from scripted_client import tiny
from scripted_server import Script, Server, serving
from stream_events import reply

from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.corpus.updating import updated
from loadrig.fleet.handle import Handle
from loadrig.fleet.inline import inline_fleet
from loadrig.retrievers.hybrid import Hybrid
from loadrig.words.change import AFTER, BEFORE, Adoption, Update
from loadrig.words.corpus import Hit
from loadrig.words.record import Record
from loadrig.words.settings import NamedRetriever
from loadrig.worker.editions import Editions, visible
from loadrig.worker.library import INDEXES, Texts, build_indexes, open_indexes, save
from loadrig.worker.messages import Order
from loadrig.worker.rebuilding import build_once, name_of
from plans import questions

CHANGED = "apples.md"
OLD, NEW = b"pruned in February", b"pruned in November"


def update(text: str | None = None, *, removed: tuple[str, ...] = ()) -> Update:
    """The tiny corpus' paper on apples with another month; or no paper, and some that go."""
    corpus = tiny()
    (document,) = (one for one in corpus.documents if one.id.endswith(CHANGED))
    (chunk,) = (one for one in corpus.chunks if one.document == document.id)
    if removed:
        return Update((), (), removed)
    text = text or document.text.replace("in February", "in November")
    return Update((replace(document, text=text),), (replace(chunk, text=text),))


class Changed:
    """A worker in this loop whose documents change; `seen` is what a trial of an arm was answered over."""

    def __init__(self, handle: Handle, server: Server) -> None:
        self._handle, self._server, self._ack, self._ids = handle, server, 0, count()

    async def seen(self, arm: str) -> tuple[Record, bytes]:
        """The record of one trial and the request it sent."""
        (trial,) = trials(1, id=f"x{next(self._ids)}", arm=arm)
        order = Order("c2", 2, (trial,), more=False, ack=self._ack)
        batches = await run_dry(self._handle, order)
        self._ack = batches[-1].number
        (record,) = records(batches)
        return record, self._server.requests[-1]

    async def told(self, until: Callable[[Adoption], bool], at_ns: int) -> Adoption:
        """Changes documents at that instant, and waits for what is told of it."""
        while True:
            batch = await self._handle.exchange(Order("c2", 0, ack=self._ack, wait_s=0.02, change_ns=at_ns))
            self._ack = batch.number
            if batch.adoption is not None and until(batch.adoption):
                return batch.adoption


def changing(
    folder: Path, work: Callable[[Changed], Coroutine[Any, Any, None]], *further: str, change: Update | None = None
) -> None:
    """Does `work` with a worker that has a question about pruning; `further` retrievers beside bm25."""

    async def go() -> None:
        async with serving(Script([(0, reply())])) as server:
            arms = (FullContext(), *(Rag(retriever=name, k=1) for name in further))
            setup = setup_of(folder, server.url, *arms)
            corpus = tiny()
            asked = replace(questions(1)[0], question="When are apples pruned?")
            names = ("bm25", *further)
            texts = Texts(corpus, {asked.id: asked}, BEFORE, change or update(), names)
            save(folder, texts, build_indexes(set(names), corpus)[0])
            async with inline_fleet(setup) as (handle,), asyncio.timeout(20):
                await work(Changed(handle, server))

    run(go())


def test_a_prompt_is_new_at_once_and_a_search_when_its_index_is(tmp_path: Path) -> None:
    """Full context shows the new text with the next prompt; a search over an index that takes a second to build finds
    the old passage until then, and the new one after it; bm25 does not wait for it."""

    async def work(changed: Changed) -> None:
        record, request = await changed.seen("full_context")
        assert (record.corpus_version, OLD in request, NEW in request) == (BEFORE, True, False)
        at_ns = time.perf_counter_ns() + 50_000_000
        adoption = await changed.told(lambda told: True, at_ns)
        assert adoption.changed_ns >= at_ns
        record, request = await changed.seen("full_context")
        assert (record.corpus_version, OLD in request, NEW in request) == (AFTER, False, True)
        _, request = await changed.seen("rag-slow_index.build-k1")
        assert (OLD in request, NEW in request) == (True, False)
        adoption = await changed.told(lambda told: len(told.indexes) == 2, at_ns)
        quick, slow = (adoption.indexes[name] for name in ("bm25", "slow_index:build"))
        assert quick.ready_ns is not None
        assert slow.ready_ns is not None
        assert slow.build_ns is not None
        assert slow.build_ns >= 1_000_000_000
        assert slow.ready_ns - quick.ready_ns >= 1_000_000_000
        _, request = await changed.seen("rag-slow_index.build-k1")
        assert (OLD in request, NEW in request) == (False, True)

    changing(tmp_path, work, "slow_index:build")


def test_an_index_that_cannot_be_built_anew_stays_the_old_one(tmp_path: Path) -> None:
    """That is told with its reason; the other retriever's is new, and no trial fails."""

    async def work(changed: Changed) -> None:
        adoption = await changed.told(lambda told: len(told.indexes) == 2, time.perf_counter_ns())
        told = adoption.indexes["slow_index:failing"]
        assert (told.ready_ns, told.build_ns) == (None, None)
        assert "no index over that" in (told.failure or "")
        record, request = await changed.seen("rag-slow_index.failing-k1")
        assert (record.outcome, OLD in request) == ("answered", True)
        _, request = await changed.seen("rag-bm25-k1")
        assert (OLD in request, NEW in request) == (False, True)

    text = "Apples are pruned in November, and that is unbuildable."
    changing(tmp_path, work, "slow_index:failing", change=update(text))


def test_a_worker_that_ends_does_not_wait_for_its_new_index(tmp_path: Path) -> None:
    """It takes a minute to build: the worker is gone long before, and so is the process that builds."""
    begin_s = time.monotonic()

    async def work(changed: Changed) -> None:
        await changed.told(lambda told: "bm25" in told.indexes, time.perf_counter_ns())

    changing(tmp_path, work, "slow_index:endless")
    assert time.monotonic() - begin_s < 30
    assert multiprocessing.active_children() == []


def test_a_builder_that_is_killed_is_told_of(tmp_path: Path) -> None:
    """Its exit code is named, the texts stay new, and the worker goes on."""

    async def work(changed: Changed) -> None:
        await changed.told(lambda told: "bm25" in told.indexes, time.perf_counter_ns())
        (builder,) = (one for one in multiprocessing.active_children() if one.daemon)
        builder.kill()
        adoption = await changed.told(lambda told: told.failure is not None, 0)
        assert adoption.failure == "the process that built new indexes ended with exit code -9"
        record, request = await changed.seen("full_context")
        assert (record.outcome, NEW in request) == ("answered", True)

    changing(tmp_path, work, "slow_index:endless")


def test_an_index_is_built_once_on_a_machine(tmp_path: Path) -> None:
    """The second worker to come finds what the first one built, and how long that took, and builds nothing: over its
    own documents it could not."""
    unbuildable = updated(tiny(), update("Apples are unbuildable."))
    texts = Texts(tiny(), {}, rebuilt=("slow_index:failing",))
    first = build_once(tmp_path, 0, texts, tiny())
    assert first.build_ns is not None
    assert build_once(tmp_path, 0, texts, unbuildable) == first


def test_what_a_retriever_searches_through_is_not_built_again(tmp_path: Path) -> None:
    """A hybrid of bm25 and one that takes a second to build, which are there: that one is built once, and the hybrid
    finds what both do. Where its part could not be built, nor can it."""
    both = NamedRetriever(name="both", kind="hybrid", options=Hybrid(of=("bm25", "slow_index:build")))
    texts = Texts(tiny(), {}, rebuilt=("bm25", "slow_index:build", "both"), given=(both,))
    slow_index.builds.clear()
    told = [build_once(tmp_path, number, texts, tiny()) for number in range(3)]
    assert [one.failure for one in told] == [None, None, None]
    assert len(slow_index.builds) == 1
    found = open_indexes(tmp_path, name_of(2))["both"].search("apples", 1, (), unit="document")
    assert [hit.doc for hit in found] == ["trees/apples.md"]
    through = NamedRetriever(name="both", kind="hybrid", options=Hybrid(of=("slow_index:failing",)))
    texts = Texts(tiny(), {}, rebuilt=("slow_index:failing", "both"), given=(through,))
    unbuildable = updated(tiny(), update("Apples are unbuildable."))
    (folder := tmp_path / "other").mkdir()
    assert all("no index over that" in (build_once(folder, n, texts, unbuildable).failure or "") for n in range(2))


def test_an_index_is_built_without_those_that_it_does_not_search_through(tmp_path: Path) -> None:
    """Another's, built before it, is not opened: it may be large, and its file is gone here."""
    texts = Texts(tiny(), {}, rebuilt=("bm25", "slow_index:failing"))
    assert build_once(tmp_path, 0, texts, tiny()).failure is None
    (tmp_path / f"{name_of(0)}{INDEXES}").unlink()
    assert build_once(tmp_path, 1, texts, tiny()).failure is None


def editions(change: Update) -> Editions:
    return Editions(Texts(tiny(), {}, BEFORE, change), [()])


def test_what_an_old_index_found_is_an_old_passage_of_the_new_document() -> None:
    """From the change on there are three views: the passages are those of the index that found them."""
    change = update()
    held = editions(change)
    document, chunk = change.documents[0].id, change.chunks[0].id
    assert OLD in held.view(()).documents[document].text.encode()
    held.change()
    for index, month in ((None, NEW), (BEFORE, OLD), (AFTER, NEW)):
        view = held.view((), index)
        assert NEW in view.documents[document].text.encode()
        assert month in view.chunks[chunk].text.encode()


def test_a_hit_of_a_document_that_is_gone_is_left_out() -> None:
    """An old index still finds it; its text is not there to be shown any more."""
    gone = update().documents[0].id
    held = editions(update(removed=(gone,)))
    hits = (Hit(gone, f"{gone}#0", 2.0), Hit("about.md", "about.md#0", 1.0), Hit(gone, None, 1.0))
    assert visible(held.view(()), hits) == hits
    held.change()
    assert visible(held.view((), BEFORE), hits) == hits[1:2]
