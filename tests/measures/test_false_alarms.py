"""What the rules say of answers in which nothing is invented: quotations with their ids, and the reference answers."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from loadrig.corpus import load
from loadrig.corpus.facts import Known, facts_of
from loadrig.corpus.ledger import read_ledger
from loadrig.measures.citing import cited_dates, fabricated_dates, misplaced_dates
from loadrig.measures.naming import ids_named, numbers_named
from loadrig.measures.recency import recency_claims
from loadrig.simulator.documents import Source, parse
from loadrig.simulator.reader import Habits, answer
from loadrig.words.settings import CorpusSettings

ROOT = Path(__file__).resolve().parents[2]
NOTHING: tuple[list[object], ...] = ([], [], [], [])


def alarms(text: str, key: str, known: Known) -> tuple[list[object], ...]:
    """Fabricated dates, misplaced dates, names that do not exist, wrong claims of recency."""
    names = [*ids_named(text, known), *numbers_named(text, key, known)]
    return (
        [*fabricated_dates(text, key, known)],
        [*misplaced_dates(text, key, known)],
        [one.name for one in names if one.document is None],
        [claim.named for claim in recency_claims(text, key, known) if not claim.true],
    )


@pytest.mark.parametrize("name", ["huskbook", "huskbook-hardened", "huskbook-de", "ottilane"])
def test_quotations_and_references_raise_no_alarm(name: str) -> None:
    """Forty answers of the simulator's clean reader over the whole corpus, which cite, and every reference."""
    folder = ROOT / "corpora" / name
    corpus = load(CorpusSettings(path=str(folder)))
    known = Known(facts_of(corpus, read_ledger(folder)))
    sources = [Source(n, one.id, one.date, one.title, parse(one.text)) for n, one in enumerate(corpus.documents)]
    rows = [json.loads(line) for line in (ROOT / "questions" / f"{name}.jsonl").read_text().splitlines()]
    answers = {row["id"]: answer(row["question"], sources, Random(7), Habits()) for row in rows[:40]}
    cited = sum(len(ids_named(text, known)) + len(cited_dates(text, known)) for text in answers.values())
    assert cited >= 40
    for row in rows:
        key = f"{row['question']}\n{row['reference']}"
        for text in (row["reference"], answers.get(row["id"], "")):
            assert (text, alarms(text, key, known)) == (text, NOTHING)
