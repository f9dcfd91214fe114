"""One violation planted at a time in a sound corpus: each rule finds its own, in the right file and line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ledgered import APRIL, BASE, MARCH, World, hardened

from loadrig.commands import corpus as command
from loadrig.corpus import checks
from loadrig.corpus.rules.subject import prepare
from loadrig.corpus.rules.table import RULES
from loadrig.graders.precheck import passes

KEY, LEDGER, MANIFEST = "key.jsonl", "corpus/ledger.json", "corpus/manifest.jsonl"
NOTED = {"project named"}  # gives notes only, as such a question can be meant so
BARE_APRIL = hardened().docs["kzm"].split("\n## Appendix")[0]


@dataclass(frozen=True)
class Planted:
    """What is broken, and where it must be found: the first line of `file` that holds `at`."""

    rule: str
    says: str
    plant: Callable[[World], object]
    file: str
    at: str
    world: Callable[[], World] = World


def asks(name: str, **fields: Any) -> Callable[[World], object]:
    """Other fields of a question."""
    return lambda world: world.question(name).update(fields)


def reads(doc: str, old: str, new: str) -> Callable[[World], object]:
    """Another wording of a document."""
    return lambda world: world.docs.update({doc: world.docs[doc].replace(old, new, 1)})


def state(fact: str, number: int, **fields: Any) -> Callable[[World], object]:
    """Other fields of a fact's state."""
    return lambda world: world.fact(fact)["states"][number].update(fields)


def lists(name: str, **fields: Any) -> Callable[[World], object]:
    """Other fields of a manifest's line."""
    return lambda world: world.manifest[name].update(fields)


def evidence(name: str, doc: str, quote: str) -> Callable[[World], object]:
    return asks(name, evidence=[{"doc": doc, "quote": quote}])


def moved(world: World) -> None:
    """The ledger's documents in another order."""
    world.ledger["documents"].insert(1, world.ledger["documents"].pop())


def backwards(world: World) -> None:
    world.fact("bell")["states"].reverse()


def undated(world: World) -> None:
    world.ledger["documents"][2]["date"] = "spring"


def filed(**names: str) -> Callable[[World], object]:
    """Other file names of documents."""
    return lambda world: [world.manifest[doc].update(file=f"docs/{name}.md") for doc, name in names.items()]


def refusal(side: str, **fields: Any) -> Callable[[World], object]:
    """Other fields of the refused request or of the one it resembles."""
    return lambda world: world.ledger["refusals"][0][side].update(fields)


def long_quote(world: World) -> None:
    """A sentence longer than a chunk, quoted whole."""
    reads(BASE, "has forty", f"has {PADDING}forty")(world)
    evidence("climb", BASE, f"The tower has {PADDING}forty steps")(world)


def summed_up(world: World) -> None:
    """The last paper also says for how long the lantern burns."""
    reads(APRIL, "Nobody", "For 12 hours nobody")(world)


PADDING = "and so it went on, hour after hour, until nobody could say when it had begun " * 30
DERIVED = {"topic": "tower", "mentioned": False, "docs": [APRIL]}
ELSEWHERE = {**DERIVED, "topic": "tow"}
BASE_FILE, MARCH_FILE, APRIL_FILE, NEWEST = (f"corpus/docs/{name}.md" for name in (BASE, MARCH, APRIL, "kzm"))
BURN, BELL, CLIMB, SILENT, HOP, TRAP = (
    f'{{"id":"{name}"' for name in ("burn", "bell", "climb", "silent", "hop", "trap")
)
PLANTED = (
    Planted("question ids", "first in line 3", asks("trap", id="climb"), KEY, "negative_trap"),
    Planted("question ids", "empty reference", asks("trap", reference=" "), KEY, TRAP),
    Planted("question documents", "gold document '04'", asks("hop", gold=["04", MARCH, APRIL]), KEY, HOP),
    Planted("question documents", "evidence document 'x'", evidence("climb", "x", "y"), KEY, CLIMB),
    Planted("gold is whole", f"'{MARCH}' is not gold", asks("burn", gold=[BASE]), KEY, BURN),
    Planted("quotes", "is not in 01-base", evidence("climb", BASE, "The tower has 40 steps"), KEY, CLIMB),
    Planted("quotes", "in no single chunk", long_quote, KEY, CLIMB),
    Planted("references pass", "lacks 'two||2'", asks("silent", reference="A pair."), KEY, SILENT),
    Planted("echoes fail", "the question itself", asks("climb", must_contain=["Pellwick"]), KEY, CLIMB),
    Planted("refusals fail", "'The documents do not", asks("trap", must_contain=["refused||not"]), KEY, TRAP),
    Planted("refusals fail", "instead? The", asks("hop", must_contain=["approve||approved", "documents"]), KEY, HOP),
    Planted("stale fails", "'9 hours' passes", asks("burn", must_contain=["hours"]), KEY, BURN),
    Planted("stale stands", "'8 hours' stands in no", asks("burn", stale=["9 hours", "8 hours"]), KEY, BURN),
    Planted("must not contain", "reference holds 'steps'", asks("climb", must_not_contain=["steps"]), KEY, CLIMB),
    Planted("must not contain", "without 'forty'",
            asks("climb", must_contain=["forty||forty steps"], must_not_contain=["forty"]), KEY, CLIMB),
    Planted("duplicates", "same words as burn",
            asks("bell", question="For how long does the PELLWICK lantern burn"), KEY, BELL),
    Planted("callers", "label 'crow'", asks("trap", caller=["crow"]), KEY, TRAP),
    Planted("multi-hop", "over 1 gold documents", asks("hop", gold=[MARCH], evidence=[]), KEY, HOP),
    Planted("multi-hop", "all quotes", evidence("hop", MARCH, "by telegram"), KEY, HOP),
    Planted("multi-hop", f"quotes of {APRIL} alone", asks("hop", must_contain=["pigeon"]), KEY, HOP),
    Planted("paraphrase overlap", "0.60 of its content words are those of a quote: forty, steps, tower",
            asks("climb", question="Do forty steps lead up a Pellwick tower?"), KEY, CLIMB),
    Planted("date in text", "is dated 2031-03-06", reads(MARCH, "5 March", "6 March"), MARCH_FILE, "6 March"),
    Planted("ledger documents", "document '04-may'", state("steps", 0, doc="04-may"), LEDGER, '"doc": "04-may"'),
    Planted("dates rise", "is not later", moved, LEDGER, MARCH),
    Planted("dates rise", "is dated 2031-03-07 here", lists(MARCH, date="2031-03-07"), MANIFEST, MARCH),
    Planted("dates rise", "'spring' is no date", undated, LEDGER, f'"id": "{APRIL}"'),
    Planted("canary", "the canary", reads(BASE, "Canary: pellwick-0123456789abcdef", ""), BASE_FILE, "#"),
    Planted("states stand", "is not in 02-march", state("bell", 1, quote="It is gone"), LEDGER, "It is gone"),
    Planted("states stand", "a state of 2031-03-04", state("bell", 1, date="2031-03-04"), LEDGER, '"value": "no"'),
    Planted("states stand", "after one of", backwards, LEDGER, '"value": "no"'),
    Planted("states say", "not say 'ten'", state("burning", 0, says=["9", "ten"]), LEDGER, '"value": "9"'),
    Planted("states say", "holds none of", state("burning", 1, says=["telegram"]), LEDGER, '"value": "12"'),
    Planted("states say", "both '9' and '12'", state("burning", 1, says=["12", "9 hours"]), LEDGER, '"value": "12"'),
    Planted("histories", "in a row are '9'", state("burning", 1, value="9"), LEDGER, '"id": "burning"'),
    Planted("histories", "the shape of pattern 'narrowed'", state("bell", 2, value="yes"), LEDGER, '"id": "bell"'),
    Planted("final values", "02-march does not hold", lambda world: world.fact("burning").update(final=["13 hours"]),
            LEDGER, '"final"'),
    Planted("final values", "03-april also holds", summed_up, LEDGER, '"final"'),
    Planted("final values", "of all 2 changing", summed_up, APRIL_FILE, "#"),
    Planted("ledger references", "fact 'bel' is not", asks("bell", fact=["bel"]), KEY, BELL),
    Planted("ledger references", "refusal 'dove' is not", asks("trap", refusal="dove"), KEY, TRAP),
    Planted("ledger references", "topic 'tow' is not", asks("silent", derivation=ELSEWHERE), KEY, SILENT),
    Planted("supersession is whole", "without subtype", asks("burn", subtype="age"), KEY, BURN),
    Planted("supersession is whole", "without fact", asks("burn", fact=[]), KEY, BURN),
    Planted("amending is last", "amending is 01-base", asks("burn", amending=[BASE]), KEY, BURN),
    Planted("stale is earlier", "'a bell' is no earlier", asks("burn", stale=["9 hours", "a bell"]), KEY, BURN),
    Planted("stale is earlier", "superseded state bell 'no'", asks("bell", stale=["It carries a bell"]), KEY, BELL),
    Planted("gold holds states", f"gold is without {APRIL}", asks("bell", gold=[BASE, MARCH]), KEY, BELL),
    Planted("gold holds states", "in no gold document but", asks("burn", gold=[MARCH]), KEY, BURN),
    Planted("superseded fails", "'It carries a bell' pas", asks("bell", must_contain=["fog||carries"]), KEY, BELL),
    Planted("topics", "03-april mentions it", reads(APRIL, "Nobody", "From the tower nobody"), LEDGER, '"id": "tower"'),
    Planted("topics", "03-april is listed", lambda world: world.ledger["topics"][0].update(docs=[BASE, APRIL]),
            LEDGER, '"id": "tower"'),
    Planted("derivations", "02-march, 03-april do not mention tower, the derivation says 03-april",
            asks("silent", derivation=DERIVED), KEY, SILENT),
    Planted("derivations", "with 2 gold documents", asks("silent", gold=[MARCH, APRIL]), KEY, SILENT),
    Planted("derivations", "2 documents do not mention", asks("silent", reference="Three."), KEY, SILENT),
    Planted("refusals alike", "is not in 03-april", refusal("refused", quote="Refused"), LEDGER, '"Refused"'),
    Planted("refusals alike", "like its approval", refusal("resembles", doc=APRIL, quote="Nobody had seen the grey"),
            LEDGER, '"id": "pigeon"'),
    Planted("last mention right", "the last mention, '9 hours', says '9', not '12'",
            reads(APRIL, "Nobody", "For 9 hours nobody"), APRIL_FILE, "9 hours"),
    Planted("opaque names", "tells a date: 'march'", filed(btx="march"), MANIFEST, "march", hardened),
    Planted("opaque names", "tells an ordinal: '2'", filed(btx="no-2"), MANIFEST, "no-2", hardened),
    Planted("opaque names", "file names sort by time", filed(rvq="a", btx="b", kzm="c"), MANIFEST, "rvq", hardened),
    Planted("references by date", "'minutes no. 1'", reads("kzm", "minutes of 5 March 2031,", "minutes no. 1,"),
            NEWEST, "no. 1", hardened),
    Planted("requoted", "requotes 'The bell is taken", reads("kzm", "The bell is taken", "It is taken"),
            LEDGER, '"value": "no"', hardened),
    Planted("last mention misleads", "in kzm, is right", reads("kzm", "of 5 March 2031.\n", "of then. 12 hours.\n"),
            LEDGER, '"id": "burning"', hardened),
    Planted("last mention misleads", "in the newest document", lambda world: world.docs.update(kzm=BARE_APRIL),
            NEWEST, "#", hardened),
)  # fmt: skip


def judged(world: World, folder: Path) -> checks.Report:
    return checks.check(prepare(*world.write(folder), passes))


@pytest.mark.parametrize("planted", PLANTED, ids=lambda one: f"{one.rule}: {one.says}")
def test_a_planted_violation_is_found_where_it_stands(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rule names file and line and what to do, and the command exits with 2."""
    world = planted.world()
    planted.plant(world)
    corpus, key = world.write(tmp_path)
    lines = (tmp_path / planted.file).read_text().splitlines()
    place = f"{tmp_path / planted.file}:{next(n for n, line in enumerate(lines, start=1) if planted.at in line)}: "
    found = [str(finding) for rule, finding in judged(world, tmp_path).findings if rule == planted.rule]
    assert [one for one in found if one.startswith(place) and planted.says in one and "; " in one], found
    assert command.check(corpus, key, None) == 2
    assert place in capsys.readouterr().out


@pytest.mark.parametrize("world", [World, hardened])
def test_a_sound_corpus_has_no_finding(world: Callable[[], World], tmp_path: Path) -> None:
    """Neither as written nor hardened; what is planted above is therefore what is found."""
    assert judged(world(), tmp_path).findings == []
    assert command.check(*world().write(tmp_path), None) == 0


def test_every_rule_has_a_planted_violation() -> None:
    """A rule of the table that nothing breaks here could be asleep."""
    assert {rule.name for rule in RULES} - {planted.rule for planted in PLANTED} == NOTED
