"""Small plans for tests: the tiny corpus, the arms a test names, the embedded simulator."""

from __future__ import annotations

from typing import Any

from loadrig.arms.control import Control
from loadrig.words.corpus import Question
from loadrig.words.settings import CorpusSettings, LoadSettings, ModelSettings, Plan, QuestionSettings


def plan(*arms: Any, load: dict[str, Any] | None = None, **given: Any) -> Plan:
    """One pass over the tiny corpus with these arms (default: control), two in flight, no warm-up."""
    fields: dict[str, Any] = {
        "name": "small",
        "corpus": CorpusSettings(path="corpora/tiny"),
        "questions": QuestionSettings(path="questions/tiny.jsonl"),
        "model": (ModelSettings(id="claude-haiku-5-5", base_url="simulator"),),
        "arms": arms or (Control(),),
        "load": LoadSettings(**{"concurrency": (2,), "warmup": 0, "cycle": False, **(load or {})}),
    }
    return Plan(**{**fields, **given})


def questions(count: int) -> list[Question]:
    """Questions q1, q2, ... of one category."""
    return [Question(f"q{n}", "fact", f"What is {n}?", str(n)) for n in range(1, count + 1)]
