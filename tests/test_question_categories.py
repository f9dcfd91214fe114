"""`categories` of a plan's questions: those only, before the limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadrig import corpus, questions
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings, QuestionSettings

ROOT = Path(__file__).resolve().parents[1]
HUSKBOOK = ROOT / "questions" / "huskbook.jsonl"


def chosen(**given: object) -> list[str]:
    loaded = corpus.load(CorpusSettings(path=str(ROOT / "corpora" / "huskbook")))
    settings = QuestionSettings(path=str(HUSKBOOK), **given)  # type: ignore[arg-type]
    return [question.id for question in questions.load(settings, loaded)]


def test_only_the_categories_named_and_then_the_limit() -> None:
    """The first two questions of supersession, which are not among the first two of the file."""
    assert chosen(categories=("supersession",), limit=2) == ["hb-su-01", "hb-su-02"]


def test_file_order_is_kept() -> None:
    """The order in which categories are named changes nothing."""
    assert chosen(categories=("supersession", "paraphrase")) == chosen(categories=("paraphrase", "supersession"))


def test_an_unknown_category_names_those_there_are() -> None:
    """A misspelt class would otherwise ask nothing."""
    with pytest.raises(InputError) as caught:
        chosen(categories=("supersesion",))
    assert caught.value.problem == "no question of category 'supersesion'"
    assert "supersession" in caught.value.remedy
