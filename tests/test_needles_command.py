"""`loadrig corpus needles`: a folder and a question file that every check passes, and that can be made again."""

from __future__ import annotations

from pathlib import Path

from command import here as loadrig

from loadrig import corpus as corpora
from loadrig import questions as question_files
from loadrig.words.settings import CorpusSettings, QuestionSettings

FLAGS = ("--tokens", "16000", "--each", "3")


def made(folder: Path, *more: str) -> tuple[Path, Path]:
    """The folder and the question file."""
    out, asked = folder / "probes", folder / "probes.jsonl"
    called = loadrig("corpus", "needles", "corpora/ottilane", str(out), "--questions-out", str(asked), *FLAGS, *more)
    assert called.code == 0, called.err
    return out, asked


def test_what_it_writes_passes_the_check_and_loads_with_its_depths(tmp_path: Path) -> None:
    """No finding; depths, quotes and gold are on the questions as an arm and the report read them."""
    out, asked = made(tmp_path)
    called = loadrig("corpus", "check", str(out), str(asked))
    assert called.code == 0, called.out
    assert ", 0 findings" in called.out
    corpus = corpora.load(CorpusSettings(path=str(out)))
    questions = question_files.load(QuestionSettings(path=str(asked)), corpus)
    assert all(one.depths and one.gold and one.must_contain for one in questions)
    assert all(0 < depth < 1 for one in questions for depth in one.depths)
    assert [document.id for document in corpus.documents] == sorted(document.id for document in corpus.documents)


def test_the_same_call_gives_the_same_bytes_and_writes_over_nothing_unasked(tmp_path: Path) -> None:
    """Again into the same place only with --force, and then byte for byte."""
    out, asked = made(tmp_path, "--kind", "chain", "--kind", "twin")
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    again = loadrig("corpus", "needles", "corpora/ottilane", str(out), "--questions-out", str(asked), *FLAGS)
    assert again.code == 2
    assert "is there already" in again.err
    made(tmp_path, "--kind", "chain", "--kind", "twin", "--force")
    assert {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()} == before
