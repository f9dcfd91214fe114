"""The enlarged variant: the corpus among papers of sister projects, as many as are wanted; same questions, same truth.

The originals stay byte for byte; distractors come one at a time, so that memory does not grow with their number. Each
is looked through before it is given out: none has the project's or the organisation's name (but a few in passing), a
name that a question relies on, or the canary.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from loadrig.corpus.ledger import Ledger
from loadrig.corpus.manifest import Entry
from loadrig.corpus.variants.asked import Line
from loadrig.corpus.variants.edition import Edition, Paper
from loadrig.corpus.variants.naming import all_words, changing_words, ordinary_words
from loadrig.corpus.variants.opaque import opaque_names
from loadrig.corpus.variants.recombining import Cut, cut, kinds, recombined
from loadrig.corpus.variants.sister import OWN, Origin, Sister, branded, in_passing, sister, slug
from loadrig.words.errors import InputError

PASSING = 0.02  # share of distractors that say the project's name in passing
ELSEWHERE = 0.1  # share of questions that a caller of another project asks as well
NO_ACCESS = "no_access"
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class World:
    """What distractors are made from. `forbidden`: words that none may hold, in small letters.

    `access`: whether each project's papers carry its label.
    """

    edition: Edition
    origin: Origin
    forbidden: frozenset[str]
    seed: int
    access: bool

    @property
    def label(self) -> str:
        """The access label of the original's papers."""
        return slug(self.origin.project)

    @property
    def ledger(self) -> Ledger:
        """The original's; its documents are the ones that the questions are about."""
        return replace(self.edition.ledger, variant="enlarged")

    def entry(self, paper: Paper) -> Entry:
        """An original's line of the manifest."""
        return replace(paper.entry, access=(self.label,)) if self.access else paper.entry


def world(edition: Edition, seed: int, *, access: bool) -> World:
    """Raises `InputError` where the corpus cannot be enlarged, or a question does not say which project it is about."""
    ledger = edition.ledger
    if ledger.variant == "enlarged" or ledger.language != "en":
        problem = f"cannot enlarge a corpus that is {ledger.variant} in {ledger.language!r}"
        raise InputError(problem, path=edition.name, remedy="name the original or the hardened corpus, in English")
    if all(name.kind != "project" for name in ledger.names):
        remedy = 'list it in the ledger\'s `names` with kind "project"'
        raise InputError("the project has no name", path=edition.name, remedy=remedy)
    ordinary = ordinary_words(paper.text.replace(ledger.canary, "") for paper in edition.papers)
    changing = changing_words(ledger.names, ordinary)
    held = relied_on(edition, changing)
    own = {word for name in ledger.names if name.kind in OWN for word in changing[name.name]}
    origin = Origin(ledger.names, held, ordinary, int(ledger.documents[0].date[:4]), seed)
    return World(edition, origin, frozenset(word.casefold() for word in own | held), seed, access)


def relied_on(edition: Edition, changing: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Words of names by which questions that name neither project nor organisation say what they are about.

    `changing` has the words of each name. Raises `InputError` when a question has no name at all: beside other
    projects' papers it would be ambiguous.
    """
    names = edition.ledger.names
    own = [name.name for name in names if name.kind in OWN]
    held: set[str] = set()
    for line in edition.questions:
        found = [name.name for name in names if _stands(name.name, line["question"])]
        if not found:
            problem = f"question {line['id']!r} does not say which project it is about"
            remedy = "name the project in it, or another of the ledger's names"
            raise InputError(problem, path=edition.name, remedy=remedy)
        if not set(found) & set(own):
            held.update(word for name in found for word in changing[name])
    return frozenset(held)


def distractors(world: World, number: int) -> Iterator[Paper]:
    """So many papers of sister projects, project by project."""
    return islice(_papers(world), number)


def questions(world: World, labels: Sequence[str]) -> Iterator[Line]:
    """The questions; with access labels each has its caller, and some are asked by a caller of another project too.

    `labels` are those of the sister projects in the corpus. Such a caller may read nothing about the project, so the
    right answer is that nothing is known; the question has the category `no_access`, no gold and no pre-check.
    """
    for line in world.edition.questions:
        if not world.access:
            yield line
            continue
        yield {**line, "caller": [world.label]}
        chance = random.Random(f"{world.seed}:caller:{line['id']}")
        if labels and chance.random() < ELSEWHERE:
            yield _from_elsewhere(line, chance.choice(labels))


def _papers(world: World) -> Iterator[Paper]:
    canary = world.edition.ledger.canary
    own = {dated.id for dated in world.edition.ledger.documents}
    sources = [paper for paper in world.edition.papers if paper.entry.id in own]
    cuts = {paper.entry.id: cut(_without_line(paper.text, canary)) for paper in sources}
    kind_of = kinds(sources)
    taken = all_words(paper.text for paper in world.edition.papers)
    opaque = _opaque(world)
    number = 0
    while True:
        project = sister(number, world.origin, taken)
        for paper in sources:
            text = _text(paper, project, cuts, kind_of[paper.entry.id], world)
            yield Paper(_entry(paper.entry, project, world, opaque), text)
        number += 1


def _text(paper: Paper, project: Sister, cuts: Mapping[str, Cut], kind: Sequence[str], world: World) -> str:
    chance = random.Random(f"{world.seed}:{project.slug}:{paper.entry.id}")
    text = branded(project.of(recombined(paper.entry.id, cuts, kind, chance)), project.project)
    _look_through(text, project, world)
    return in_passing(text, world.origin.project, chance) if chance.random() < PASSING else text


def _entry(old: Entry, project: Sister, world: World, opaque: Iterator[str] | None) -> Entry:
    dated = _ISO.sub(lambda found: project.amounts.date(found.group()), old.id)
    new = next(opaque) if opaque else f"{project.names.of(dated)}-{project.slug}"
    return Entry(
        id=new,
        file=f"docs/{new}.{old.file.rpartition('.')[2]}",
        title=project.of(old.title) if old.title else None,
        date=project.amounts.date(old.date) if old.date else None,
        status=old.status,
        access=(project.slug,) if world.access else (),
    )


def _opaque(world: World) -> Iterator[str] | None:
    """Ids for the papers of a hardened corpus."""
    if world.edition.ledger.variant != "hardened":
        return None
    own = {paper.entry.id for paper in world.edition.papers}
    return (name for name in opaque_names(f"{world.seed}:distractors") if name not in own)


def _look_through(text: str, project: Sister, world: World) -> None:
    """Raises `InputError` when a distractor has a name that it must not have: one that the ledger spells otherwise."""
    found = world.forbidden & all_words([text])
    if found or world.edition.ledger.canary in text:
        problem = f"a paper of {project.project} would hold {', '.join(sorted(found)) or 'the canary'}"
        remedy = "list that spelling in the ledger's `names`; give the canary a line of its own"
        raise InputError(problem, path=world.edition.name, remedy=remedy)


def _from_elsewhere(line: Line, label: str) -> Line:
    return {
        "id": f"{line['id']}-elsewhere",
        "category": NO_ACCESS,
        "question": f"From what I may read: {line['question']}",  # no two lines ask in the same words
        "reference": "Nothing that this caller may read says anything about it.",
        "gold": [],
        "caller": [label],
    }


def _without_line(text: str, canary: str) -> str:
    return "\n".join(line for line in text.split("\n") if canary not in line)


def _stands(name: str, text: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text) is not None
