"""A folder becomes a corpus: nothing is dropped in silence, nothing outside is read, order and hash are fixed."""

from __future__ import annotations

from pathlib import Path

import pytest
from texts import loaded, rows, write

from loadrig import corpus
from loadrig.words.corpus import Skipped
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings


def test_without_a_manifest_every_text_is_a_document_and_its_path_is_its_id(tmp_path: Path) -> None:
    """Texts in sub-folders with the same name stay apart; other kinds of files are not texts."""
    texts = loaded(tmp_path, {"a/notes.md": "one", "b/notes.md": "two", "c.TXT": "three", "d.csv": "no"})
    assert [document.id for document in texts.documents] == ["a/notes.md", "b/notes.md", "c.TXT"]


def test_files_found_are_read_or_named_as_skipped(tmp_path: Path) -> None:
    """A mark or CRLF does not cost a file; what cannot be read is named with the reason; the sum is all files."""
    files: dict[str, str | bytes] = {
        "mark.txt": b"\xef\xbb\xbfone\r\ntwo\rthree", "latin.txt": "né".encode("latin-1"), "empty.md": "",
        "blank.md": " \n\t\n", "wide.txt": b"a\0b\0", ".hidden.txt": "x",
    }  # fmt: skip
    texts = loaded(tmp_path, files)
    assert [document.text for document in texts.documents] == ["one\ntwo\nthree"]
    assert texts.skipped == (
        Skipped(".hidden.txt", "hidden"),
        Skipped("blank.md", "empty"),
        Skipped("empty.md", "empty"),
        Skipped("latin.txt", "not utf-8 (byte 1)"),
        Skipped("wide.txt", "not text: NUL bytes"),
    )


@pytest.mark.parametrize("files", [{}, {"a.txt": ""}, {"a.pdf": "x"}])
def test_an_empty_corpus_is_an_error_before_any_request(tmp_path: Path, files: dict[str, str]) -> None:
    """No text at all, or only empty ones: wrong input, not a division by zero later."""
    with pytest.raises(InputError, match="no document in the corpus"):
        loaded(tmp_path, files)


def test_an_absent_folder_is_named(tmp_path: Path) -> None:
    """The error names the path that is not there."""
    with pytest.raises(InputError, match="nowhere: no such corpus folder"):
        corpus.load(CorpusSettings(path=str(tmp_path / "nowhere")))


def test_documents_stand_by_date_then_id_and_undated_ones_last(tmp_path: Path) -> None:
    """Chronological order, whatever the order of the manifest; chunks in the same order."""
    texts = loaded(
        tmp_path,
        {
            "manifest.jsonl": rows(
                {"id": "none", "file": "d.txt"},
                {"id": "z", "file": "a.txt", "date": "2026-01-02"},
                {"id": "late", "file": "b.txt", "date": "2026-03-01"},
                {"id": "a", "file": "c.txt", "date": "2026-01-02"},
            ),
            "a.txt": "1", "b.txt": "2", "c.txt": "3", "d.txt": "4",
        },
    )  # fmt: skip
    assert [document.id for document in texts.documents] == ["a", "z", "late", "none"]
    assert [chunk.id for chunk in texts.chunks] == ["a#0", "z#0", "late#0", "none#0"]


def test_the_hash_covers_ids_dates_and_texts_and_nothing_else(tmp_path: Path) -> None:
    """Two folders with the same content agree; another letter or date does not; a title does not matter."""

    def digest(name: str, text: str, **entry: str) -> str:
        files = {"manifest.jsonl": rows({"id": "a", "file": "a.txt", **entry}), "a.txt": text}
        return loaded(tmp_path / name, files).sha256

    first = digest("1", "x", date="2026-01-01")
    assert digest("2", "x", date="2026-01-01", title="T") == first
    assert digest("3", "y", date="2026-01-01") != first
    assert digest("4", "x", date="2026-01-02") != first


def test_tokenizer_commands_reach_the_corpus_unchanged(tmp_path: Path) -> None:
    """A text with `<|endoftext|>` is read, counted and chunked as the plain text that it is."""
    texts = loaded(tmp_path, {"a.txt": "before <|endoftext|> after"})
    assert texts.chunks[0].text == texts.documents[0].text == "before <|endoftext|> after"


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """Nothing outside is read through a link to a file or folder, not even one whose name begins alike."""
    for number, target in enumerate(("corpus-secret", "corpus-secret/s.txt")):
        write(tmp_path / str(number) / "corpus-secret", {"s.txt": "secret"})
        folder = write(tmp_path / str(number) / "corpus", {"a.txt": "x"})
        (folder / "link.txt").symlink_to(folder.parent / target)
        with pytest.raises(InputError, match="link leads out of the corpus"):
            corpus.load(CorpusSettings(path=str(folder)))


def test_a_link_inside_the_folder_is_no_second_document(tmp_path: Path) -> None:
    """The text counts once; a broken link and a ring of links are named too."""
    write(tmp_path, {"a.txt": "x"})
    (tmp_path / "again.txt").symlink_to("a.txt")
    (tmp_path / "gone.txt").symlink_to("nothing.txt")
    (tmp_path / "ring.txt").symlink_to("ring.txt")
    assert [(file.path, file.reason) for file in loaded(tmp_path, {}).skipped] == [
        ("again.txt", "link to a.txt"),
        ("gone.txt", "broken link"),
        ("ring.txt", "broken link"),
    ]


def test_links_in_hidden_folders_do_not_matter(tmp_path: Path) -> None:
    """What a tool keeps beside the texts is not looked into: a link there may lead anywhere."""
    write(tmp_path / "corpus" / ".tool", {"note.md": "x"})
    (tmp_path / "corpus" / ".tool" / "out").symlink_to(tmp_path)
    assert loaded(tmp_path / "corpus", {"a.txt": "x"}).skipped == (Skipped(".tool/note.md", "hidden"),)
