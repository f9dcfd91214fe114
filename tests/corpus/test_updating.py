"""Documents that change: what a folder of texts changes in a corpus, and what it leaves as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadrig.corpus import load
from loadrig.corpus.updating import read_update, updated
from loadrig.words.corpus import Corpus
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings

MANIFEST = """\
{"id": "b", "file": "b.md", "date": "2030-02-01", "title": "The second", "access": ["board"]}
{"id": "a", "file": "a.md", "date": "2030-01-01"}
"""


def folder(at: Path, manifest: str | None = None, **texts: str) -> Path:
    at.mkdir()
    for name, text in texts.items():
        (at / f"{name}.md").write_text(text)
    if manifest is not None:
        (at / "manifest.jsonl").write_text(manifest)
    return at


def corpus(at: Path, **given: str) -> tuple[CorpusSettings, Corpus]:
    """Two dated documents, of which `b` is the board's; windows of eight tokens."""
    texts = {"a": "The gate is green.", "b": "The key hangs behind the door of the old mill by the river.", **given}
    settings = CorpusSettings(path=str(folder(at, MANIFEST, **texts)), chunk_tokens=8, chunk_overlap=0)
    return settings, load(settings)


def test_a_text_takes_the_place_of_its_document_and_keeps_what_is_not_said(tmp_path: Path) -> None:
    """A new text for `b`, of which only the id is given: the date, the title and above all the label stay."""
    settings, before = corpus(tmp_path / "c")
    new = folder(tmp_path / "u", '{"id": "b", "file": "b.md"}\n', b="The key is gone.")
    after = updated(before, read_update(settings, str(new), before))
    assert [document.id for document in after.documents] == ["a", "b"]
    changed = after.documents[1]
    assert (changed.text, changed.date, changed.title) == ("The key is gone.", "2030-02-01", "The second")
    assert changed.access == ("board",)
    assert [chunk.text for chunk in after.chunks] == ["The gate is green.", "The key is gone."]


def test_an_updated_corpus_is_what_a_fresh_one_of_its_texts_is(tmp_path: Path) -> None:
    """The first text replaced and one come between the two: the same documents, passages and hash as the folder that
    has them from the first has, in the same order."""
    settings, before = corpus(tmp_path / "c")
    rows = '{"id": "a", "file": "a.md"}\n{"id": "c", "file": "c.md", "date": "2030-01-15"}\n'
    texts = {"a": "The gate is red, and nobody can say who has painted it in the night.", "c": "Between."}
    after = updated(before, read_update(settings, str(folder(tmp_path / "u", rows, **texts)), before))
    old = before.documents[1].text
    fresh = load(
        CorpusSettings(
            path=str(folder(tmp_path / "w", MANIFEST + rows.splitlines()[1] + "\n", b=old, **texts)),
            chunk_tokens=8,
            chunk_overlap=0,
        )
    )
    assert [document.id for document in after.documents] == ["a", "c", "b"]
    assert (after.documents, after.chunks, after.sha256) == (fresh.documents, fresh.chunks, fresh.sha256)
    assert before.documents[0].text == "The gate is green."


def test_documents_go(tmp_path: Path) -> None:
    """`b` is removed and `c` comes: the passages of `b` go with it."""
    settings, before = corpus(tmp_path / "c")
    new = folder(tmp_path / "u", c="Something else.")
    after = updated(before, read_update(settings, str(new), before, remove=("b",)))
    assert [document.id for document in after.documents] == ["a", "c.md"]
    assert {chunk.document for chunk in after.chunks} == {"a", "c.md"}


@pytest.mark.parametrize(
    ("rows", "remove", "said"),
    [
        ('{"id": "a", "file": "a.md"}\n', (), "none of its 1 texts differs"),
        ('{"id": "b", "file": "a.md"}\n', ("b",), "'b' is to change and is to be removed"),
        ('{"id": "b", "file": "a.md"}\n', ("x",), "'x' is to be removed and is not there"),
    ],
)
def test_what_changes_nothing_or_cannot_be_meant_is_an_error(
    rows: str, remove: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """The same text again, a document that is to change and to go, and one that is not there to go."""
    settings, before = corpus(tmp_path / "c")
    new = folder(tmp_path / "u", rows, a="The gate is green.")
    with pytest.raises(InputError, match=said):
        read_update(settings, str(new), before, remove=remove)


def test_a_document_outside_of_the_slice_cannot_change(tmp_path: Path) -> None:
    """It is not in the corpus that is asked, so a change of it could not be seen."""
    settings, _ = corpus(tmp_path / "c")
    (tmp_path / "c" / "slices.json").write_text('{"s": {"docs": ["a"]}}')
    cut = CorpusSettings(path=settings.path, slice="s", chunk_tokens=8, chunk_overlap=0)
    new = folder(tmp_path / "u", '{"id": "b", "file": "b.md"}\n', b="The key is gone.")
    with pytest.raises(InputError, match="lies outside of the chosen slice"):
        read_update(cut, str(new), load(cut))
