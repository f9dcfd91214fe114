"""The tables that the benchmark of the retriever ladder prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from texts import rows, write

LADDER = Path(__file__).resolve().parents[2] / "benchmarks" / "retriever_ladder.py"
FILES = {f"{at}.txt": f"lamp {'filler ' * at}number {at}" for at in range(1, 7)}
QUESTION = {"question": "Which lamp?", "reference": "That one.", "must_contain": ["one"]}
TABLE = """\
| category | n | k=3 | k=5 | k=10 | k=20 |
|---|---|---|---|---|---|
| simple_fact | 1 | 0.500 | 1.000 | 1.000 | 1.000 |
| supersession | 1 | 0.000 | 0.000 | 1.000 | 1.000 |
| all | 2 | 0.250 | 0.500 | 1.000 | 1.000 |
| amending only | 1 | 0.000 | 0.000 | 1.000 | 1.000 |
| evidence quotes | 2 | 0.500 | 1.000 | 1.000 | 1.000 |
"""


def test_the_shares_are_those_of_the_documents_and_quotes_found(tmp_path: Path) -> None:
    """bm25 finds six texts, the shorter the earlier. Gold are the first and fourth, and the sixth; quotes stand in the
    fourth and in the first; what amends is the sixth, of one question alone."""
    first = {"id": "q1", "category": "simple_fact", "gold": ["1.txt", "4.txt"], "amending": []}
    second = {"id": "q2", "category": "supersession", "gold": ["6.txt"], "amending": ["6.txt"]}
    quotes = ({"evidence": [{"doc": f"{at}.txt", "quote": f"number {at}"}]} for at in (4, 1))
    lines = [QUESTION | one | quote for one, quote in zip((first, second), quotes, strict=True)]
    folder = write(tmp_path / "c", FILES)
    write(tmp_path, {"q.jsonl": rows(*lines)})
    command = [sys.executable, str(LADDER), str(folder), str(tmp_path / "q.jsonl"), "--retriever", "bm25", "--markdown"]
    told = subprocess.check_output(command, text=True, timeout=60)
    assert told.partition("\n\n")[2].partition("\n\n")[2] == TABLE
