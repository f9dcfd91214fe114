"""New papers out of the paragraphs of old ones: sections left out, exchanged and put in another order.

Rules: papers of one kind (titles alike but for number and date) exchange sections; a paper that is the only one of its
kind keeps its sections in order and only loses paragraphs. The head (all before the first section) stays, the first and
the last section keep their places, sections are numbered again in the paper's own manner.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadrig.corpus.variants.dates import without_dates
from loadrig.corpus.variants.edition import Paper

OWN = 0.6  # share of a paper's sections that are its own
DROPPED = 0.12  # share of paragraphs left out
_HEADING = re.compile(r"^## (?P<number>\d+(?:\.(?!\d))?(?: |$))?(?P<title>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading without its number, and the paragraphs below it."""

    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """A paper in pieces. `dot`: whether its section numbers have one; None when sections are not numbered."""

    head: str
    sections: tuple[Section, ...]
    dot: bool | None


def cut(text: str) -> Cut:
    """A paper's head and sections."""
    headings = list(_HEADING.finditer(text))
    if not headings:
        return Cut(text.strip(), (), None)
    ends = [found.start() for found in headings[1:]] + [len(text)]
    sections = [
        Section(found["title"].strip(), _paragraphs(text[found.end() : end]))
        for found, end in zip(headings, ends, strict=True)
    ]
    number = headings[0]["number"]
    return Cut(text[: headings[0].start()].strip(), tuple(sections), None if number is None else "." in number)


def kinds(papers: Sequence[Paper]) -> Mapping[str, tuple[str, ...]]:
    """For each document id the ids of its kind, itself among them."""
    groups: dict[str, list[str]] = {}
    for paper in papers:
        title = without_dates(paper.entry.title or "")
        groups.setdefault(title or paper.entry.id, []).append(paper.entry.id)
    return {doc: tuple(group) for group in groups.values() for doc in group}


def recombined(doc: str, cuts: Mapping[str, Cut], kind: Sequence[str], chance: random.Random) -> str:
    """A text in the manner of document `doc`, with some sections from others of its kind."""
    own = cuts[doc]
    sections = list(own.sections)
    if len(kind) > 1 and len(sections) > 2:
        others = [section for other in kind if other != doc for section in cuts[other].sections[1:-1]]
        middle = [section for section in sections[1:-1] if chance.random() < OWN]
        wanted = max(0, len(sections) - 2 - len(middle))
        middle += chance.sample(others, k=min(wanted, len(others)))
        chance.shuffle(middle)
        sections = [sections[0], *middle, sections[-1]]
    return (
        "\n\n".join([own.head, *(_shown(one, at, own.dot, chance) for at, one in enumerate(sections, start=1))]) + "\n"
    )


def _shown(section: Section, number: int, dot: bool | None, chance: random.Random) -> str:
    kept = [paragraph for paragraph in section.paragraphs if chance.random() >= DROPPED]
    mark = "" if dot is None else f"{number}{'.' if dot else ''} "
    return "\n\n".join([f"## {mark}{section.title}".rstrip(), *(kept or section.paragraphs[:1])])


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\n") for part in re.split(r"\n{2,}", text.strip()) if part.strip())
