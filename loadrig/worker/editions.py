"""What of the corpus holds now, in a worker whose documents may change in mid-run.

Rules: views are whole values, made before the first trial; a change is the exchange of a reference. From the change on,
texts are new for whoever looks: a prompt that is built, a document that is read. What an old index finds is an old
passage, so a trial whose last search was of one has a view of its own: of new texts with old passages. A hit of the
other version, which a trial that searched twice may have, is looked up where it can be; one of a document that is gone,
or closed now, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from loadrig.corpus.updating import updated
from loadrig.corpus.view import CallerView, view_of
from loadrig.words.arm import View
from loadrig.words.change import AFTER, BEFORE
from loadrig.words.corpus import Corpus, Hit
from loadrig.worker.library import Texts

Caller = tuple[str, ...]


class Editions:
    """The views of every caller, by the version of the texts and that of the index. `version`: that of the texts which
    hold now; None in a run whose documents do not change."""

    def __init__(self, texts: Texts, callers: Iterable[Caller]) -> None:
        callers = set(callers)
        self.version = texts.version
        self._texts = BEFORE
        self._views = {(BEFORE, BEFORE): _views(texts.corpus, callers, other=None)}
        if texts.update is not None:
            old, new = texts.corpus, updated(texts.corpus, texts.update)
            self._views[AFTER, BEFORE] = _views(replace(new, chunks=old.chunks), callers, other=new)
            self._views[AFTER, AFTER] = _views(new, callers, other=old)

    def change(self) -> None:
        """The new texts hold from now on."""
        self.version = self._texts = AFTER

    def view(self, caller: Caller, index: int | None = None) -> View:
        """What the caller sees now; its passages are those of that version, None: of the texts' own."""
        return self._views[self._texts, index or self._texts][caller]

    def searched(self, caller: Caller, index: int) -> View:
        """What the caller saw of the version that an index was built over."""
        return self._views[index, index][caller]


def _views(corpus: Corpus, callers: Iterable[Caller], *, other: Corpus | None) -> Mapping[Caller, CallerView]:
    """A view a caller. Passages of the `other` version can be looked up where this one has none of that name."""
    views = {caller: view_of(corpus, caller) for caller in callers}
    if other is None:
        return views
    return {
        caller: replace(
            view,
            chunks={chunk.id: chunk for chunk in other.chunks if chunk.document in view.documents} | dict(view.chunks),
        )
        for caller, view in views.items()
    }


def visible(view: View, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The hits whose texts are there to be shown."""
    return tuple(hit for hit in hits if hit.doc in view.documents and (hit.chunk is None or hit.chunk in view.chunks))
