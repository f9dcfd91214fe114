"""Question files: every fault has a line and a remedy, and a slice leaves out what it cannot answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from texts import loaded, rows, write

from loadrig import questions
from loadrig.questions import Selection
from loadrig.words.corpus import Evidence, Question
from loadrig.words.errors import InputError
from loadrig.words.settings import QuestionSettings

Q1: dict[str, Any] = {"id": "q1", "category": "simple_fact", "question": "Who?", "reference": "Ann.", "gold": ["a.txt"]}
FILES = {"a.txt": "x", "b.txt": "y", "slices.json": '{"small": {"docs": ["a.txt"]}}'}


def select(folder: Path, content: str | bytes, part: str | None = None, limit: int | None = None) -> Selection:
    texts = loaded(folder / "corpus", FILES, slice=part)
    write(folder, {"q.jsonl": content})
    return questions.select(QuestionSettings(path=str(folder / "q.jsonl"), limit=limit), texts)


def problem(folder: Path, content: str | bytes, part: str | None = None) -> tuple[str, int | None, str]:
    with pytest.raises(InputError) as caught:
        select(folder, content, part)
    return caught.value.problem, caught.value.line, caught.value.remedy


def test_a_line_becomes_a_question(tmp_path: Path) -> None:
    """Known fields are kept, unknown ones ignored."""
    row = {**Q1, "evidence": [{"doc": "a.txt", "quote": "x"}], "caller": ["staff"], "decided": "2026-01-01"}
    assert select(tmp_path, rows(row)).questions == (
        Question(
            "q1", "simple_fact", "Who?", "Ann.", gold=("a.txt",), evidence=(Evidence("a.txt", "x"),), caller=("staff",)
        ),
    )


def test_mark_crlf_blank_lines_and_a_missing_last_newline_do_not_matter(tmp_path: Path) -> None:
    """Two questions saved by another editor are two questions."""
    lines = rows(Q1, {**Q1, "id": "q2"}).strip().replace("\n", "\r\n\r\n").encode()
    assert len(select(tmp_path, b"\xef\xbb\xbf" + lines).questions) == 2


def test_a_line_separator_inside_a_text_is_no_line_end(tmp_path: Path) -> None:
    """U+2028 may stand in a question as it is."""
    content = rows({**Q1, "question": "one\u2028two"})
    assert select(tmp_path, content).questions[0].question == "one\u2028two"


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (Q1, "question id 'q1' occurs twice, first in line 1"),
        ({**Q1, "id": "q2", "question": " "}, "empty question"),
        ({**Q1, "id": ""}, "empty id"),
        ({**Q1, "id": "q2", "gold": ["a.md"]}, "question 'q2': gold document 'a.md' is not in the corpus"),
        ({**Q1, "id": "q2", "gold": "a.txt"}, "expected `array`, got `str` - at `$.gold`"),
        ({"id": "q2", "category": "c", "question": "Who?"}, "missing field `reference`"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(tmp_path: Path, second: dict[str, Any], expected: str) -> None:
    """The second line is at fault, and the error says so."""
    assert problem(tmp_path, rows(Q1, second))[:2] == (expected, 2)


@pytest.mark.parametrize("line", ['{"id": "q2", "que', "[]]", b'{"id": "\xff"}'])
def test_a_line_that_is_not_json_is_an_error(tmp_path: Path, line: str | bytes) -> None:
    """A torn or damaged line is named; a question does not vanish in silence."""
    content = rows(Q1).encode() + (line.encode() if isinstance(line, str) else line)
    assert problem(tmp_path, content)[1] == 2


def test_an_unknown_gold_document_suggests_the_nearest(tmp_path: Path) -> None:
    """The remedy names an id of the corpus."""
    assert problem(tmp_path, rows({**Q1, "gold": ["a.tx"]}))[2] == "did you mean 'a.txt'?"


def test_no_question_is_an_error(tmp_path: Path) -> None:
    """An empty file, and a slice that answers none of the questions."""
    assert problem(tmp_path, "\n")[0] == "no question left"
    assert problem(tmp_path, rows({**Q1, "gold": ["b.txt"]}), "small")[0] == (
        "no question left: the slice cannot answer any of 1"
    )


def test_a_slice_leaves_out_what_it_cannot_answer(tmp_path: Path) -> None:
    """A gold document outside, or an answer derived from the whole corpus: left out and named; the rest stays."""
    lines = rows(
        Q1, {**Q1, "id": "q2", "gold": ["a.txt", "b.txt"]}, {**Q1, "id": "q3", "derivation": "sorted(M)"},
        {**Q1, "id": "q4", "gold": []},
    )  # fmt: skip
    selection = select(tmp_path, lines, "small")
    assert [question.id for question in selection.questions] == ["q1", "q4"]
    assert selection.left_out == ("q2", "q3")
    assert len(select(tmp_path, lines).questions) == 4


def test_a_limit_takes_the_first_of_those_that_remain(tmp_path: Path) -> None:
    """One question is asked for: the first that the slice can answer."""
    lines = rows({**Q1, "id": "q0", "gold": ["b.txt"]}, Q1, {**Q1, "id": "q2"})
    assert [question.id for question in select(tmp_path, lines, "small", limit=1).questions] == ["q1"]


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    """The error carries the path."""
    texts = loaded(tmp_path, FILES)
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        questions.load(QuestionSettings(path=str(tmp_path / "none.jsonl")), texts)
