"""A corpus of three short papers with ledger and key, whole and hardened, for tests that break one thing in it."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from texts import rows, write

BASE, MARCH, APRIL = "01-base", "02-march", "03-april"
DOCS = {
    BASE: """\
# Pellwick: what the lantern must do

Canary: pellwick-0123456789abcdef

Adopted on 3 February 2031.

The lantern burns for 9 hours. It carries a bell.

The tower has forty steps.
""",
    MARCH: """\
# Pellwick group: minutes no. 1

5 March 2031, in the boat shed

The bell is taken off the lantern.

Decision: burning time goes up from 9 to 12 hours.

Ottmar asked that the keeper be told of fog by telegram before dusk. The group weighed the price of a telegram against \
the calls that it would save, and talked about who would write the list. The request is approved.
""",
    APRIL: """\
# Pellwick group: minutes no. 2

9 April 2031, in the boat shed

As foreseen in minutes no. 1, the bell comes back, for fog only.

Ottmar asked that the keeper be told of ice by pigeon before dusk. The group weighed the price of a pigeon against \
the calls that it would save, and talked about who would write the list. The request is refused.

Nobody had seen the grey paint, the brushes or the ladder since the autumn, and the shed roof still lets in the rain \
where the branch of the old pear tree came down on it in a gale.
""",
}
LEDGER: dict[str, Any] = {
    "canary": "pellwick-0123456789abcdef",
    "documents": [
        {"id": BASE, "date": "2031-02-03"},
        {"id": MARCH, "date": "2031-03-05"},
        {"id": APRIL, "date": "2031-04-09"},
    ],
    "facts": [
        {
            "id": "burning",
            "about": "hours that the lantern burns",
            "shape": "value",
            "pattern": "amendment",
            "states": [
                {
                    "value": "9", "doc": BASE, "date": "2031-02-03", "quote": "The lantern burns for 9 hours",
                    "says": ["9 hours"],
                },
                {
                    "value": "12", "doc": MARCH, "date": "2031-03-05",
                    "quote": "Decision: burning time goes up from 9 to 12 hours", "says": ["12 hours"],
                },
            ],
            "final": ["12 hours"],
        },
        {
            "id": "bell",
            "about": "a bell on the lantern",
            "shape": "existence",
            "pattern": "narrowed",
            "states": [
                {"value": "yes", "doc": BASE, "date": "2031-02-03", "quote": "It carries a bell"},
                {"value": "no", "doc": MARCH, "date": "2031-03-05", "quote": "The bell is taken off the lantern"},
                {
                    "value": "yes: in fog", "doc": APRIL, "date": "2031-04-09",
                    "quote": "the bell comes back, for fog only",
                },
            ],
            "final": ["fog only"],
        },
        {
            "id": "steps",
            "about": "steps of the tower",
            "shape": "value",
            "pattern": "stable",
            "states": [{"value": "40", "doc": BASE, "date": "2031-02-03", "quote": "The tower has forty steps"}],
        },
    ],
    "refusals": [
        {
            "id": "pigeon",
            "refused": {"asked": "ice by pigeon", "doc": APRIL, "quote": "The request is refused"},
            "resembles": {"asked": "fog by telegram", "doc": MARCH, "quote": "The request is approved"},
        }
    ],
    "topics": [{"id": "tower", "about": "the tower", "words": ["tower", "steps"], "docs": [BASE]}],
    "names": [{"name": "Pellwick", "kind": "project"}, {"name": "Ottmar", "kind": "person"}],
}  # fmt: skip
KEY: list[dict[str, Any]] = [
    {
        "id": "burn", "category": "supersession", "subtype": "value", "fact": ["burning"],
        "question": "For how long does the Pellwick lantern burn?", "reference": "12 hours.",
        "gold": [BASE, MARCH], "amending": [MARCH], "stale": ["9 hours"], "must_contain": ["12||twelve"],
        "evidence": [{"doc": MARCH, "quote": "burning time goes up from 9 to 12 hours"}],
    },
    {
        "id": "bell", "category": "supersession", "subtype": "existence", "fact": ["bell"],
        "question": "Does the Pellwick lantern carry a bell, and in which weather?", "reference": "Yes, in fog only.",
        "gold": [BASE, MARCH, APRIL], "amending": [APRIL], "must_contain": ["fog"],
        "stale": ["It carries a bell", "The bell is taken off the lantern"],
        "evidence": [{"doc": APRIL, "quote": "the bell comes back, for fog only"}],
    },
    {
        "id": "climb", "category": "paraphrase", "fact": ["steps"],
        "question": "How high does one climb in Pellwick?", "reference": "Forty steps.",
        "gold": [BASE], "must_contain": ["forty||40"], "must_not_contain": ["fifty"],
        "evidence": [{"doc": BASE, "quote": "The tower has forty steps"}],
    },
    {
        "id": "silent", "category": "aggregation", "subtype": "count",
        "derivation": {"topic": "tower", "mentioned": False, "docs": [MARCH, APRIL]},
        "question": "How many papers of Pellwick do not speak of its tower?", "reference": "Two.",
        "gold": [BASE, MARCH, APRIL], "must_contain": ["two||2"], "evidence": [],
    },
    {
        "id": "hop", "category": "multi_hop", "question": "What did Pellwick refuse, and what did it approve instead?",
        "reference": "It refused pigeons and approved telegrams.", "gold": [MARCH, APRIL],
        "must_contain": ["pigeon||pigeons", "telegram||telegrams"],
        "evidence": [
            {"doc": MARCH, "quote": "the keeper be told of fog by telegram"},
            {"doc": APRIL, "quote": "the keeper be told of ice by pigeon"},
        ],
    },
    {
        "id": "trap", "category": "negative_trap", "refusal": "pigeon", "caller": ["crew"],
        "question": "When does the bird that brings news of ice leave Pellwick?", "reference": "Never: it was refused.",
        "gold": [APRIL], "must_contain": ["refused"], "evidence": [{"doc": APRIL, "quote": "The request is refused"}],
    },
]  # fmt: skip
OPAQUE = {BASE: "rvq", MARCH: "btx", APRIL: "kzm"}
APPENDIX = """
## Appendix: former wording

"The lantern burns for 9 hours", so the paper of 3 February 2031, which also said: "It carries a bell".

"The bell is taken off the lantern", in the words of 5 March 2031.
"""


@dataclass
class World:
    """What stands in the files; a test changes it before it is written."""

    docs: dict[str, str] = field(default_factory=lambda: dict(DOCS))
    ledger: dict[str, Any] = field(default_factory=lambda: copy.deepcopy(LEDGER))
    key: list[dict[str, Any]] = field(default_factory=lambda: copy.deepcopy(KEY))
    manifest: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {
            row["id"]: {"file": f"docs/{row['id']}.md", "date": row["date"], "access": ["crew"]}
            for row in LEDGER["documents"]
        }
    )

    def question(self, name: str) -> dict[str, Any]:
        return next(row for row in self.key if row["id"] == name)

    def fact(self, name: str) -> dict[str, Any]:
        return next(fact for fact in self.ledger["facts"] if fact["id"] == name)

    def write(self, root: Path) -> tuple[str, str]:
        """The corpus folder and the question file, below `root`."""
        files = {
            "corpus/manifest.jsonl": rows(*({"id": doc, **row} for doc, row in self.manifest.items())),
            "corpus/ledger.json": json.dumps(self.ledger, indent=1),
            "key.jsonl": rows(*self.key),
        }
        texts = {f"corpus/{row['file']}": self.docs[doc] for doc, row in self.manifest.items()}
        write(root, {**files, **texts})
        return str(root / "corpus"), str(root / "key.jsonl")


def hardened() -> World:
    """The same facts behind names that tell nothing, with citations by date and an appendix in the newest paper."""
    world = World()
    text = json.dumps([world.ledger, world.key])
    for old, new in OPAQUE.items():
        text = text.replace(old, new)
    world.ledger, world.key = json.loads(text)
    world.ledger["variant"] = "hardened"
    dates = {"no. 1": "of 5 March 2031", "no. 2": "of 9 April 2031"}
    world.docs = {OPAQUE[doc]: re.sub(r"no\. \d", lambda found: dates[found[0]], text) for doc, text in DOCS.items()}
    world.docs["kzm"] += APPENDIX
    world.manifest = {name: {"file": f"docs/{name}.md", "access": ["crew"]} for name in sorted(OPAQUE.values())}
    return world
