"""Other makers' corpora and questions: what comes in, what is guessed, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadrig import corpus as corpora
from loadrig import questions as question_files
from loadrig.commands.corpus_import import Import, run
from loadrig.corpus.importing import columns, tables
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings, QuestionSettings


def imported(folder: Path, questions: Path) -> tuple[Corpus, tuple[Question, ...]]:
    corpus = corpora.load(CorpusSettings(path=str(folder)))
    return corpus, question_files.load(QuestionSettings(path=str(questions)), corpus)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# Folders


def test_a_folder_of_texts(tmp_path: Path) -> None:
    """Ids are paths, titles headings, dates those of file names; a corpus that loads, the same texts in it."""
    written(tmp_path / "src/notes/2030-05-01-may.md", "intro\n\n# May notes\n\ntext")
    written(tmp_path / "src/plain.txt", "no heading")
    run(Import(tmp_path / "src", tmp_path / "out"))
    corpus = corpora.load(CorpusSettings(path=str(tmp_path / "out")))
    assert [(one.id, one.title, one.date) for one in corpus.documents] == [
        ("notes/2030-05-01-may.md", "May notes", "2030-05-01"),
        ("plain.txt", None, None),
    ]
    assert corpus.documents[0].text == "intro\n\n# May notes\n\ntext"


def test_a_folder_with_questions_finds_gold_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`may` is notes/may.md; what was guessed and skipped is said."""
    written(tmp_path / "src/notes/may.md", "# May\n\nThe boat is blue.")
    written(tmp_path / "src/empty.txt", " ")
    table = written(tmp_path / "set.csv", "Query,Expected answer,Source\nWhat colour?,blue,may\n")
    run(Import(tmp_path / "src", tmp_path / "out", questions=table))
    _, (question,) = imported(tmp_path / "out", tmp_path / "out/questions.jsonl")
    assert (question.id, question.question, question.reference) == ("set-1", "What colour?", "blue")
    assert question.gold == ("notes/may.md",)
    shown = capsys.readouterr().out
    assert "column 'Query' taken as question" in shown
    assert "column 'Expected answer' taken as reference" in shown
    assert "1 skipped: empty" in shown


def test_gold_that_is_nowhere_names_its_line(tmp_path: Path) -> None:
    """The row's line in the question set, and the nearest document."""
    written(tmp_path / "src/may.md", "text")
    table = written(tmp_path / "set.csv", "question,gold\na?,may.md\nb?,mai.md\n")
    with pytest.raises(InputError, match=r"set\.csv:3: gold document 'mai\.md' is not in the folder\n.*'may\.md'"):
        run(Import(tmp_path / "src", tmp_path / "out", questions=table))


@pytest.mark.parametrize("text", ["question,gold\na?,mai.md\n", "question,gold\na?,may.md\n"])
def test_nothing_is_written_where_questions_cannot_be(tmp_path: Path, text: str) -> None:
    """Gold that is nowhere, or a question file that is there: the folder is not begun."""
    written(tmp_path / "src/may.md", "text")
    job = Import(tmp_path / "src", tmp_path / "out", written(tmp_path / "set.csv", text), tmp_path / "key.jsonl")
    written(tmp_path / "key.jsonl", "")
    with pytest.raises(InputError, match=r"mai\.md|key\.jsonl: is there already"):
        run(job)
    assert not (tmp_path / "out").exists()


def test_an_empty_source_clears_nothing(tmp_path: Path) -> None:
    """With --force too, what an earlier import wrote stays when there is nothing to put in its place."""
    written(tmp_path / "src/may.md", "text")
    run(Import(tmp_path / "src", tmp_path / "out"))
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="no document in it"):
        run(Import(tmp_path / "none", tmp_path / "out", force=True))
    assert (tmp_path / "out/docs/may.md").read_text() == "text"


def test_flags_that_would_do_nothing_are_refused(tmp_path: Path) -> None:
    """A question set alone goes to OUT; a folder without question set has no columns and no question file."""
    table = written(tmp_path / "set.csv", "question\na?\n")
    written(tmp_path / "src/may.md", "text")
    for job in (
        Import(table, tmp_path / "out", questions_out=tmp_path / "key.jsonl"),
        Import(tmp_path / "src", tmp_path / "out", questions_out=tmp_path / "key.jsonl"),
        Import(tmp_path / "src", tmp_path / "out", columns="question=Q"),
    ):
        with pytest.raises(InputError, match=r"--questions-out"):
            run(job)
    assert not (tmp_path / "out").exists()


def test_two_strokes_in_a_cell_part_alternatives(tmp_path: Path) -> None:
    """`four||vier;boat|oar` is three phrases, the first of them in two ways; in other lists strokes only part."""
    text = "question,must_contain,stale\na?,four||vier;boat|oar,x||y\n"
    (question,) = tables.read_table(written(tmp_path / "set.csv", text), {}).questions
    assert question["must_contain"] == ["four||vier", "boat", "oar"]
    assert question["stale"] == ["x", "y"]


def test_a_corpus_is_not_imported_again(tmp_path: Path) -> None:
    """What has a manifest is used as it is."""
    written(tmp_path / "src/manifest.jsonl", "")
    with pytest.raises(InputError, match="has a manifest already"):
        run(Import(tmp_path / "src", tmp_path / "out"))


# Question sets


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_of_questions(tmp_path: Path, delimiter: str) -> None:
    """Quoted cells with line ends and commas, lists parted by strokes, a mark before the heading."""
    rows = (("nr", "Query", "Answer", "doc_ids"), ("1", '"two\nlines, one question?"', '"a ""b"""', "x|y"))
    text = "\ufeff" + "\n".join(delimiter.join(row) for row in rows) + "\n"
    table = tables.read_table(written(tmp_path / "set.csv", text), {"id": "nr"})
    assert table.questions == (
        {
            "id": "1",
            "category": "unsorted",
            "question": "two\nlines, one question?",
            "reference": 'a "b"',
            "gold": ["x", "y"],
        },
    )


def test_json_lines_under_other_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A map names two columns, the others are guessed; a list of answers gives its first; a file alone is written."""
    source = written(tmp_path / "set.jsonl", '{"q": "no", "Frage": "why?", "answers": ["so", "thus"], "type": "t"}\n')
    run(Import(source, tmp_path / "out.jsonl", columns="question=Frage"))
    assert (tmp_path / "out.jsonl").read_text() == (
        '{"id": "set-1", "category": "t", "question": "why?", "reference": "so"}\n'
    )
    assert "column 'answers' taken as reference" in capsys.readouterr().out


def test_columns_are_guessed_by_their_usual_names() -> None:
    """Case and signs aside, in the order of the names; a mapped column serves its field only."""
    headings = ["ID", "Query Text", "query", "Ground-Truth", "Question type"]
    assert columns.choose(headings, {}, Path("set.csv")) == {
        "question": "query",
        "reference": "Ground-Truth",
        "id": "ID",
        "category": "Question type",
    }
    assert columns.choose(headings, {"reference": "query", "question": "Query Text"}, Path("s"))["reference"] == "query"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("question,answer\na?,b\nc?\n", r"set\.csv:3: 1 cells where the heading has 2"),
        ("question,answer\n,b\n", r"set\.csv:2: no question in this row"),
        ('question,answer\na?,b\n"c?,d\n', r"set\.csv:3: not CSV"),
        ("foo,bar\n1,2\n", r"set\.csv:1: no column looks like the question\n.*foo, bar"),
        ("id,question\n1,a?\n1,b?\n", r"set\.csv:3: question id '1' occurs twice, first in line 2"),
        ("question,answer\n", r"set\.csv: no row in it"),
        ("question,q,q\na?,b,c\n", r"set\.csv:1: two columns 'q'"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, text: str, problem: str) -> None:
    """File, line and what to do."""
    with pytest.raises(InputError, match=problem):
        tables.read_table(written(tmp_path / "set.csv", text), {})


def test_a_file_that_is_not_utf_8_names_the_line(tmp_path: Path) -> None:
    """A table saved in another encoding is not guessed at."""
    (tmp_path / "set.csv").write_bytes("question\nfine?\nWie grüßt man?\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"set\.csv:3: not utf-8"):
        tables.read_table(tmp_path / "set.csv", {})


@pytest.mark.parametrize(("text", "problem"), [("question", "--map 'question'"), ("frage=Q", "no such field")])
def test_a_map_that_is_none(text: str, problem: str) -> None:
    """Pairs of a known field and a column, parted by commas."""
    with pytest.raises(InputError, match=problem):
        columns.parse(text)


# BEIR


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "beir"
    written(
        folder / "corpus.jsonl",
        '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": "d/2", "text": "two"}\n{"_id": "d3"}\n',
    )
    written(folder / "queries.jsonl", '{"_id": "q1", "text": "first?"}\n{"_id": "q2", "text": "second?"}\n')
    written(folder / "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td/2\t1\nq1\td1\t0\n")
    return folder


def test_the_beir_layout(beir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ids stay, relevance above 0 is gold, queries without gold and empty documents are left out and counted."""
    run(Import(beir, tmp_path / "out", questions_out=tmp_path / "key.jsonl"))
    corpus, (question,) = imported(tmp_path / "out", tmp_path / "key.jsonl")
    assert [(one.id, one.title, one.text) for one in corpus.documents] == [
        ("d/2", None, "two\n"),
        ("d1", "T", "T\n\none\n"),
    ]
    assert (question.id, question.category, question.gold) == ("q1", "retrieval", ("d/2",))
    shown = capsys.readouterr().out
    assert "1 skipped: empty" in shown
    assert "1 queries have none and are left out" in shown


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1\td9\t1", r"test\.tsv:2: document 'd9' is not in corpus\.jsonl"),
        ("q1 d1 1", r"test\.tsv:2: not a line of relevance"),
        ("q1\td1\t²", r"test\.tsv:2: not a line of relevance"),
        ("q1\td1\tyes", r"test\.tsv:2: not a line of relevance"),
    ],
)
def test_bad_relevance_is_named(beir: Path, tmp_path: Path, line: str, problem: str) -> None:
    """File and line, whether a document is missing or the line is none."""
    written(beir / "qrels/test.tsv", f"query-id\tcorpus-id\tscore\n{line}\n")
    with pytest.raises(InputError, match=problem):
        run(Import(beir, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_document_that_occurs_twice_is_named(beir: Path, tmp_path: Path) -> None:
    """Two texts under one id cannot both be gold."""
    written(beir / "corpus.jsonl", '{"_id": "d1", "text": "one"}\n{"_id": "d1", "text": "two"}\n')
    with pytest.raises(InputError, match=r"corpus\.jsonl:2: _id 'd1' occurs twice, first in line 1"):
        run(Import(beir, tmp_path / "out"))


def test_relevance_in_another_encoding_names_its_line(beir: Path, tmp_path: Path) -> None:
    """Ids are not guessed at."""
    (beir / "qrels/test.tsv").write_bytes(b"query-id\tcorpus-id\tscore\nq1\td\xfc\t1\n")
    with pytest.raises(InputError, match=r"test\.tsv:2: not utf-8"):
        run(Import(beir, tmp_path / "out"))


# Places that cannot be written to


@pytest.mark.parametrize(
    ("out", "problem"),
    [
        ("folder", "is no question file: not written over"),
        ("notes.txt", "is no question file: not written over"),
        ("set.csv", "is what the questions are read from"),
        ("notes.txt/out.jsonl", "cannot be made"),
    ],
)
def test_questions_go_over_questions_only(tmp_path: Path, out: str, problem: str) -> None:
    """With --force too a folder, another text and the source itself stay; a file is no folder to write to."""
    table = written(tmp_path / "set.csv", "question\na?\n")
    written(tmp_path / "notes.txt", "mine")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=problem):
        run(Import(table, tmp_path / out, force=True))
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_corpus_below_a_file_is_refused(tmp_path: Path) -> None:
    """The folder asked for is named."""
    written(tmp_path / "src/may.md", "text")
    written(tmp_path / "notes.txt", "mine")
    with pytest.raises(InputError, match=r"notes\.txt/out: cannot be made"):
        run(Import(tmp_path / "src", tmp_path / "notes.txt/out"))
