"""A corpus of four papers with ledger and questions, small enough to know by heart, for tests of variants."""

from __future__ import annotations

from pathlib import Path

from loadrig.corpus.ledger import Dated, Fact, Ledger, Name, State, Topic
from loadrig.corpus.manifest import Entry
from loadrig.corpus.variants.edition import Edition, Paper, read_edition
from loadrig.corpus.writing import CorpusWriter, write_lines

CANARY = "merrowby-0123456789abcdef"
BASE = f"""# Merrowby: requirements for the berth register

Canary: {CANARY}

Kestrin Harbour Board, Tarn Quay. Adopted on 7 January 2030.

## 1 Berths

1.1 Merrowby lists every berth of the harbour at Tarn Quay. A boat may lie at a guest berth for at most 14 days.

1.2 The fee is 120 crowns a week, and the harbour master takes it in cash.

## 2 Roles

2.1 A guest warden is named who may assign guest berths and waive fees. Ropes are lent at the office.
"""
FIRST = """# Merrowby committee: minutes no. 1

Monday 21 January 2030, 14:00. Present: Odwin Farrel (chair), Sable Thornby. For the supplier: Brunn of Calder Works.

## 1. Opening

Odwin welcomed everybody to the first meeting about Merrowby and asked for short speeches, and got none.

## 2. Guest berths

Odwin said that the quay is full in July. Decision: a boat may lie at a guest berth for at most 10 days.

## 3. Ropes

Sable counted 45 ropes in the shed, of which nine are rotten, and nobody knows who owns the rest of them.

## 4. Next time

We meet again on 4 February in the same room, with a heater if somebody brings one along.
"""
SECOND = """# Merrowby committee: minutes no. 2

Monday 4 February 2030, 14:00. Present: Odwin Farrel (chair), Sable Thornby.

## 1. Last minutes

Minutes no. 1 adopted. What stands in minutes no. 1, item 3, about ropes is still being counted by Sable.

## 2. The warden

Sable had complaints about waived fees. Decision: the role of guest warden is abolished, and nobody takes it over.

## 3. Heating

The heater that Sable brought along draws more than the fuse of the reading room can bear, as we now know.

## 4. Next time

We meet on 18 February, when Brunn of Calder Works will be able to say what the register is going to cost.
"""
THIRD = """# Merrowby committee: minutes no. 3

Monday 18 February 2030, 14:00. Present: Odwin Farrel (chair), Sable Thornby, Brunn (Calder Works).

## 1. Last minutes

Minutes no. 2 adopted without a word, since everybody wanted to get to the warden and then to the inn.

## 2. The warden

Decision: the role of guest warden comes back without the right to waive fees, from the first of March on.

## 3. Guest berths

After minutes nos. 1 and 2 were read again: Decision: the stay at a guest berth is 12 days at most.

## 4. Next time

No further meeting is planned, unless Calder Works finds something that the register cannot do.
"""
IDS = ("00-base-2030-01-07", "01-minutes-2030-01-21", "02-minutes-2030-02-04", "03-minutes-2030-02-18")
DATES = ("2030-01-07", "2030-01-21", "2030-02-04", "2030-02-18")
TITLES = ("Merrowby: requirements for the berth register", *(f"Merrowby committee: minutes no. {n}" for n in (1, 2, 3)))
TEXTS = (BASE, FIRST, SECOND, THIRD)


def _state(value: str, at: int, quote: str, says: str) -> State:
    return State(value, IDS[at], DATES[at], quote, (says,))


LEDGER = Ledger(
    canary=CANARY,
    documents=tuple(Dated(doc, day) for doc, day in zip(IDS, DATES, strict=True)),
    facts=(
        Fact(
            "stay",
            "days at a guest berth",
            "value",
            "amendment",
            (
                _state("14", 0, "A boat may lie at a guest berth for at most 14 days", "14 days"),
                _state("10", 1, "Decision: a boat may lie at a guest berth for at most 10 days", "10 days"),
                _state("12", 3, "Decision: the stay at a guest berth is 12 days at most", "12 days"),
            ),
            ("12 days",),
        ),
        Fact(
            "warden",
            "the guest warden",
            "existence",
            "narrowed",
            (
                _state(
                    "yes: berths, fees", 0, "A guest warden is named who may assign guest berths", "warden is named"
                ),
                _state("no", 2, "Decision: the role of guest warden is abolished", "warden is abolished"),
                _state("yes: berths", 3, "Decision: the role of guest warden comes back", "warden comes back"),
            ),
            ("comes back without",),
        ),
    ),
    topics=(Topic("ropes", "the ropes", ("rope", "ropes"), IDS[:3]),),
    names=(
        Name("Merrowby", "project"),
        Name("Kestrin Harbour Board", "organisation"),
        Name("Kestrin", "organisation"),
        Name("Odwin Farrel", "person"),
        Name("Odwin", "person"),
        Name("Sable Thornby", "person"),
        Name("Sable", "person"),
        Name("Brunn", "person"),
        Name("Tarn Quay", "place"),
        Name("Calder Works", "supplier"),
    ),
)
QUESTIONS = (
    {
        "id": "h-1",
        "category": "supersession",
        "subtype": "value",
        "question": "For how many days may a boat lie at a guest berth in Merrowby?",
        "reference": "12 days, as decided in minutes no. 3.",
        "gold": [IDS[0], IDS[1], IDS[3]],
        "must_contain": ["12||twelve"],
        "stale": ["14 days", "10 days"],
        "evidence": [{"doc": IDS[3], "quote": "Decision: the stay at a guest berth is 12 days at most"}],
        "amending": [IDS[3]],
        "fact": ["stay"],
    },
    {
        "id": "h-2",
        "category": "aggregation",
        "subtype": "absence",
        "question": "Which of the papers on Merrowby say nothing about ropes?",
        "reference": "Only the minutes of 18 February 2030.",
        "gold": list(IDS),
        "must_contain": ["18 February"],
        "derivation": {"topic": "ropes", "mentioned": False, "docs": [IDS[3]]},
    },
    {
        "id": "h-3",
        "category": "simple_fact",
        "question": "Who brought the heater to Tarn Quay?",
        "reference": "Sable Thornby.",
        "gold": [IDS[2]],
        "must_contain": ["Sable||Thornby"],
        "evidence": [{"doc": IDS[2], "quote": "The heater that Sable brought along"}],
    },
)


def edition() -> Edition:
    """The corpus in memory."""
    entries = [
        Entry(doc, f"docs/{doc}.md", title, day, "adopted") for doc, title, day in zip(IDS, TITLES, DATES, strict=True)
    ]
    return Edition("harbour", tuple(map(Paper, entries, TEXTS)), LEDGER, QUESTIONS)


def written(folder: Path) -> tuple[str, str]:
    """The corpus on disk: its folder and its question file."""
    root, questions = folder / "harbour", folder / "harbour.jsonl"
    (root / "docs").mkdir(parents=True)
    with CorpusWriter(root, LEDGER, "# Harbour\n") as writer:
        for paper in edition().papers:
            writer.add(paper.entry, paper.text.encode())
    write_lines(questions, QUESTIONS)
    return str(root), str(questions)


def read_back(folder: Path, questions: Path) -> Edition:
    """A variant as it stands on disk."""
    return read_edition(str(folder), str(questions))
