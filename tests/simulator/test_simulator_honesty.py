"""The simulator knows no corpus: none of its words stand in the code, and renaming all names renames the answers."""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path

import pytest
from collection import SWIM, answer_of, run_agent
from simulated import document

from loadrig.corpus.ledger import read_ledger
from loadrig.corpus.variants.naming import changing_words, ordinary_words

ROOT = Path(__file__).resolve().parents[2]
CODE = sorted((ROOT / "loadrig" / "simulator").rglob("*.py")) + sorted((ROOT / "loadrig").glob("simulator/**/*.toml"))
CORPORA = sorted(path.parent for path in (ROOT / "corpora").glob("*/manifest.jsonl"))
WORD = re.compile(r"[^\W\d_][\w'-]*")
ENGLISH = {"Daughters", "Guard", "Inspectorate", "Lass", "Sound", "Valley"}  # words of the language, in names


def texts(corpus: Path) -> dict[str, dict[str, str]]:
    """id -> date, title and text of each document of a corpus with a manifest."""
    rows = [json.loads(line) for line in (corpus / "manifest.jsonl").read_text().splitlines()]
    return {row["id"]: {**row, "text": (corpus / row["file"]).read_text()} for row in rows}


def names(corpus: Path) -> set[str]:
    """The words of the ledger's names that are invented: what `loadrig corpus rename` would change."""
    whole = [entry["text"] for entry in texts(corpus).values()]
    ledger = read_ledger(corpus)
    assert ledger is not None
    changing = changing_words(ledger.names, ordinary_words(whole))
    return {word for words in changing.values() for word in words if WORD.fullmatch(word) and len(word) > 3} - ENGLISH


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: path.name)
def test_no_name_id_or_figure_of_a_corpus_is_in_the_code(corpus: Path) -> None:
    """Names, document ids and figures of four digits or more occur nowhere in it."""
    documents = texts(corpus)
    figures = {f for entry in documents.values() for f in re.findall(r"\b\d{1,3}(?:,\d{3})+\b", entry["text"])}
    forbidden = names(corpus) | set(documents) | figures
    code = set(re.findall(r"[\w,'-]+", "\n".join(path.read_text() for path in CODE)))
    assert sorted(code & {word for word in forbidden if len(word) > 3}) == []


def renaming(known: set[str]) -> dict[str, str]:
    """A made-up name for each name, of other letters, seeded, no two with the same beginning (a stem to the reader)."""
    chance = random.Random(5)
    beginnings = ["".join(letters) for letters in itertools.product("BDGKMNTZ", "aou", "kmrtv", "aou")]
    chosen = chance.sample(beginnings, len(known))
    return {name: f"{start}{chance.choice('kmrtv')}o" for name, start in zip(sorted(known), chosen, strict=True)}


def renamed(text: str, table: dict[str, str]) -> str:
    """The text with every name of the table replaced, whole words only."""
    return re.sub(r"[A-Z][a-z]+", lambda match: table.get(match.group(), match.group()), text)


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: path.name)
def test_renaming_every_name_renames_the_answers(corpus: Path) -> None:
    """The answer to a renamed prompt is the renamed answer, for every question that comes with the corpus."""
    table = renaming(names(corpus))
    prompt = "".join(
        document(i, entry["text"], date=entry.get("date") or "2030-01-01") for i, entry in texts(corpus).items()
    )
    questions = (ROOT / "questions" / f"{corpus.name}.jsonl").read_text().splitlines()
    for question in (json.loads(line)["question"] for line in questions):
        plain, other = answer_of(question, prompt), answer_of(renamed(question, table), renamed(prompt, table))
        assert renamed(plain, table) == other


def test_renaming_leaves_the_agents_trace_as_it_was() -> None:
    """The same calls in the same order, but for the name in them."""
    table = {"Brenner": "Tolvaka"}
    other = {identity: (date, renamed(text, table)) for identity, (date, text) in SWIM.items()}
    plain = run_agent("What does Brenner keep?", SWIM)
    assert json.loads(renamed(json.dumps(plain), table)) == json.loads(
        json.dumps(run_agent("What does Tolvaka keep?", other))
    )
