"""Enlarged corpora: as many papers of other projects as wanted, none of which says anything about this one."""

from __future__ import annotations

import datetime
import re
import tracemalloc
from dataclasses import replace

import harbour
import pytest

from loadrig.corpus.variants.edition import Paper
from loadrig.corpus.variants.enlarge import NO_ACCESS, World, distractors, questions, world
from loadrig.words.errors import InputError


@pytest.fixture(scope="module")
def small() -> World:
    return world(harbour.edition(), 7, access=False)


@pytest.fixture(scope="module")
def papers(small: World) -> list[Paper]:
    return list(distractors(small, 400))


def test_as_many_as_wanted_each_with_an_id_of_its_own(papers: list[Paper]) -> None:
    """Four hundred papers, four hundred ids and files, none of them an original's."""
    assert len(papers) == 400
    assert len({paper.entry.id for paper in papers} | set(harbour.IDS)) == 404
    assert len({paper.entry.file for paper in papers}) == 400


def test_the_same_seed_gives_the_same_papers(small: World, papers: list[Paper]) -> None:
    """Byte for byte, also when fewer are asked for; another seed gives others."""
    assert list(distractors(small, 9)) == papers[:9]
    assert next(distractors(replace(small, seed=8, origin=replace(small.origin, seed=8)), 1)) != papers[0]


def test_none_speaks_of_the_project(papers: list[Paper]) -> None:
    """Neither project nor organisation nor canary; few have the name, in a sentence that says nothing of it."""
    text = "\n".join(paper.text for paper in papers)
    assert not re.search(rf"(?i)kestrin|{harbour.CANARY}", text)
    passing = re.findall(r"[^.\n]*Merrowby[^.\n]*\.", text)
    assert 1 <= len(passing) <= 20
    known = "A colleague|Somebody had left|The post for|A visitor who|Whether to ask"
    assert all(re.match(rf"\s*(?:{known})", sentence) for sentence in passing)


def test_each_says_whose_it_is(papers: list[Paper]) -> None:
    """The project's name stands in title, first line and at most about a hundred words apart."""
    for paper in papers:
        project = (paper.entry.title or "").split()[0].rstrip(":")
        assert paper.text.startswith(f"# {project}")
        gaps = [len(gap.split()) for gap in paper.text.split(project)]
        assert max(gaps) < 130, paper.entry.id


def test_figures_differ_and_are_sometimes_the_same(papers: list[Paper]) -> None:
    """Of a hundred projects some have the original's 14 days, most another number, all the same kind of sentence."""
    stays = [found[1] for paper in papers for found in re.finditer(r"guest berth for at most (\d+) days", paper.text)]
    assert len(stays) > 100
    assert 0.1 < sum(stay in ("14", "10") for stay in stays) / len(stays) < 0.6


def test_days_of_the_week_stay_right(papers: list[Paper]) -> None:
    """Dates move by whole weeks: what was a Monday is one."""
    found = [paper.entry.date for paper in papers if "Monday" in paper.text]
    assert {datetime.date.fromisoformat(day or "").weekday() for day in found} == {0}
    assert len({(day or "")[:4] for day in found}) > 5


def test_suppliers_are_shared_and_names_that_questions_rely_on_are_not(papers: list[Paper]) -> None:
    """Calder Works serves many; Tarn Quay, by which one question names its harbour, is in none."""
    text = "\n".join(paper.text for paper in papers)
    assert text.count("Calder Works") > 50
    assert "Tarn" not in text


def test_a_question_without_any_name_is_refused() -> None:
    """Beside other harbours' papers it would have many right answers."""
    line = {**harbour.QUESTIONS[2], "question": "Who brought the heater?"}
    with pytest.raises(InputError, match="'h-3' does not say which project"):
        world(replace(harbour.edition(), questions=(line,)), 7, access=False)


def test_questions_stay_and_get_callers(small: World) -> None:
    """Without labels they are the very lines; with labels each has its caller, and a stranger's answer is nothing."""
    assert list(questions(small, [])) == list(harbour.QUESTIONS)
    many = replace(harbour.edition(), questions=tuple({**harbour.QUESTIONS[0], "id": f"q{n}"} for n in range(100)))
    lines = list(questions(world(many, 7, access=True), ["other"]))
    own = [line for line in lines if line["category"] != NO_ACCESS]
    strangers = [line for line in lines if line["category"] == NO_ACCESS]
    assert [{**line, "caller": None} for line in own] == [{**line, "caller": None} for line in many.questions]
    assert {tuple(line["caller"]) for line in own} == {("merrowby",)}
    assert 3 <= len(strangers) <= 20
    assert all(line["caller"] == ["other"] and line["gold"] == [] for line in strangers)


def test_labels_keep_projects_apart() -> None:
    """Each project's papers carry its name, the original's too, so a caller sees one project."""
    labelled = world(harbour.edition(), 7, access=True)
    access = [paper.entry.access for paper in distractors(labelled, 8)]
    assert len(set(access[:4])) == len(set(access[4:])) == 1
    assert access[0] != access[4]
    assert labelled.entry(labelled.edition.papers[0]).access == ("merrowby",)


def test_memory_does_not_grow_with_the_number(small: World) -> None:
    """Papers are made one at a time: a thousand take no more memory at once than a few, within a megabyte."""
    tracemalloc.start()
    try:
        for _ in distractors(small, 40):
            pass
        _, few = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in distractors(small, 400):
            pass
        _, many = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert many < few + 1_000_000
