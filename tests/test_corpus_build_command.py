"""The commands that make corpora: what they write, what they refuse to write over, and that it can be made again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import harbour
import msgspec
import pytest

from loadrig import corpus as corpora
from loadrig import questions as question_files
from loadrig.commands import corpus_build
from loadrig.commands.corpus_build import Paths
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings, QuestionSettings


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    folder, questions = harbour.written(tmp_path)
    return Paths(folder, tmp_path / "out", questions, tmp_path / "out.jsonl")


def bytes_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder by their paths."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_an_enlarged_corpus_holds_the_originals(paths: Paths) -> None:
    """Thirty documents exactly, the four originals byte for byte, the questions loadable as they were."""
    corpus_build.enlarge(paths, 7, documents=30, access=False)
    made = bytes_of(paths.out)
    assert len([name for name in made if name.startswith("docs/")]) == 30
    assert {name: made[name] for name in bytes_of(Path(paths.corpus)) if name.startswith("docs/")} == {
        f"docs/{doc}.md": text.encode() for doc, text in zip(harbour.IDS, harbour.TEXTS, strict=True)
    }
    assert paths.questions_out.read_bytes() == Path(paths.questions).read_bytes()
    corpus = corpora.load(CorpusSettings(path=str(paths.out)))
    assert len(question_files.load(QuestionSettings(path=str(paths.questions_out)), corpus)) == 3


@pytest.mark.parametrize("kind", ["harden", "rename", "enlarge"])
def test_the_same_call_gives_the_same_bytes(paths: Paths, tmp_path: Path, kind: str) -> None:
    """Into another folder, file by file, the read-me and the questions included."""
    again = replace(paths, out=tmp_path / "again", questions_out=tmp_path / "again.jsonl")
    for one in (paths, again):
        if kind == "enlarge":
            corpus_build.enlarge(one, 7, documents=12, access=True)
        else:
            getattr(corpus_build, kind)(one, 7)
    assert bytes_of(paths.out) == bytes_of(again.out)
    assert paths.questions_out.read_bytes() == again.questions_out.read_bytes()
    assert {"README.md", "ledger.json", "manifest.jsonl"} <= bytes_of(paths.out).keys()


def test_the_hardened_corpus_that_comes_along_can_be_made_again(tmp_path: Path) -> None:
    """Byte for byte. After a change of huskbook: call what corpora/huskbook-hardened/README.md says, with --force."""
    paths = Paths("corpora/huskbook", tmp_path / "out", "questions/huskbook.jsonl", tmp_path / "out.jsonl")
    corpus_build.harden(paths, 7)
    assert bytes_of(paths.out) == bytes_of(Path("corpora/huskbook-hardened"))
    assert paths.questions_out.read_bytes() == Path("questions/huskbook-hardened.jsonl").read_bytes()


def test_a_hardened_corpus_reads_back(paths: Paths) -> None:
    """What is on disk is a corpus of the variant, with a read-me that says how it was made and has the canary."""
    corpus_build.harden(paths, 7)
    made = harbour.read_back(paths.out, paths.questions_out)
    readme = (paths.out / "README.md").read_text()
    assert (made.ledger.variant, len(made.papers), len(made.questions)) == ("hardened", 4, 3)
    assert "    loadrig corpus harden corpora/harbour corpora/harbour-hardened" in readme
    assert f"Canary: {harbour.CANARY}" in readme


def test_nothing_is_written_over_unasked(paths: Paths) -> None:
    """A second call is refused, and done with --force; nothing of the first one is left."""
    corpus_build.enlarge(paths, 7, documents=12, access=False)
    with pytest.raises(InputError, match=r"is there already\n.*--force"):
        corpus_build.harden(paths, 7)
    corpus_build.harden(replace(paths, force=True), 7)
    assert len([name for name in bytes_of(paths.out) if name.startswith("docs/")]) == 4


def test_force_clears_only_what_a_command_made(paths: Paths) -> None:
    """A folder of somebody's own stays, with a manifest and a ledger too."""
    paths.out.mkdir()
    (paths.out / "README.md").write_text("# Mine\n")
    with pytest.raises(InputError, match="that a command made"):
        corpus_build.harden(replace(paths, force=True), 7)
    assert bytes_of(paths.out) == {"README.md": b"# Mine\n"}


def test_a_variant_does_not_go_into_its_source(paths: Paths) -> None:
    """It would become part of what it is made from."""
    with pytest.raises(InputError, match="in the old one"):
        corpus_build.harden(replace(paths, out=Path(paths.corpus) / "hard"), 7)


def test_fewer_documents_than_there_are(paths: Paths) -> None:
    """Enlarging to four of four is no enlarging."""
    with pytest.raises(InputError, match=r"--documents 4\n.*more than the 4"):
        corpus_build.enlarge(paths, 7, documents=4, access=False)


def test_a_folder_without_ledger_says_what_is_missing(paths: Paths) -> None:
    """The ledger is what a variant is made from."""
    (Path(paths.corpus) / "ledger.json").unlink()
    with pytest.raises(InputError, match=r"made from a ledger\.json, and there is none"):
        corpus_build.rename(paths, 7)


def test_a_slice_says_how_many_questions_it_answers(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    """The paper with the heater alone answers one of three; all four papers answer all."""
    corpus_build.slice_of(paths.corpus, "one", paths.questions, tokens=200, seed=7)
    corpus_build.slice_of(paths.corpus, "all", paths.questions, tokens=10_000, seed=7)
    shown = capsys.readouterr().out.replace("\n", " ")
    assert "slice one: 1 of 4 documents" in shown
    assert "1 of 3 questions answerable" in shown
    assert "3 of 3 questions answerable" in shown


def test_a_slice_in_which_nothing_fits(paths: Paths) -> None:
    """Is none."""
    with pytest.raises(InputError, match="--tokens 3"):
        corpus_build.slice_of(paths.corpus, "none", paths.questions, tokens=3, seed=7)


def test_a_slice_has_a_name(paths: Paths) -> None:
    """One that is empty could not be asked for; nothing is written."""
    with pytest.raises(InputError, match="empty name of a slice"):
        corpus_build.slice_of(paths.corpus, " ", paths.questions, tokens=10_000, seed=7)
    assert not (Path(paths.corpus) / "slices.json").exists()


def test_the_questions_read_are_never_written_over(paths: Paths) -> None:
    """Not even with --force."""
    before = Path(paths.questions).read_bytes()
    with pytest.raises(InputError, match="is what the questions are read from"):
        corpus_build.rename(replace(paths, questions_out=Path(paths.questions), force=True), 7)
    assert Path(paths.questions).read_bytes() == before


@pytest.mark.parametrize("kind", ["harden", "enlarge"])
@pytest.mark.parametrize(
    ("field", "problem"),
    [("documents", "`documents` is empty"), ("doc", "document 'nope'"), ("date", "not an ISO date: 'nope'")],
)
def test_a_ledger_that_does_not_hold_together_is_refused(paths: Paths, kind: str, field: str, problem: str) -> None:
    """No documents, a state in one that is not there, a date that is none: the ledger is named, nothing is written."""
    path = Path(paths.corpus) / "ledger.json"
    ledger = msgspec.json.decode(path.read_bytes())
    if field == "documents":
        ledger["documents"] = []
    else:
        ledger["facts"][0]["states"][0][field] = "nope"
    path.write_bytes(msgspec.json.encode(ledger))
    calls = {
        "harden": lambda: corpus_build.harden(paths, 7),
        "enlarge": lambda: corpus_build.enlarge(paths, 7, documents=12, access=False),
    }
    with pytest.raises(InputError, match=problem):
        calls[kind]()
    assert not paths.out.exists()
