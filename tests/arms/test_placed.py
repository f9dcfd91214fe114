"""The arm that knows the key: what it sends, what it records, and when it sends nothing."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from scripted_client import ScriptedClient, says, tiny

from loadrig import corpus as corpora
from loadrig import questions as question_files
from loadrig.arms.placed import NOT_PLACED, PlacedGold
from loadrig.config import read_plan
from loadrig.corpus.placing import Placed, bands_of, place_gold_at_depth
from loadrig.words.arm import Answer
from loadrig.words.corpus import Corpus, Document, Question
from loadrig.words.errors import InputError, TurnFailed
from loadrig.words.prompt import Ask

ASKED = Question("q1", "fact", "When?", "Now.", gold=("d3",))


def corpus(documents: int = 30, access: tuple[str, ...] = ()) -> Corpus:
    texts = tuple(Document(f"d{n}", f"Text {n}.", 100, access=access if n % 2 else ()) for n in range(documents))
    return Corpus("made", texts, (), (), "x", "x")


def answered(arm: PlacedGold, question: Question, over: Corpus, caller: tuple[str, ...] = ()) -> tuple[Answer, str]:
    client = ScriptedClient([says("Now.")], over, caller)
    answer = asyncio.run(arm.answer(question, client))
    (message,) = client.prompts[0].messages
    assert isinstance(message, Ask)
    assert message.parts[-1].text == "Question: When?"
    return answer, message.parts[0].text


@pytest.mark.parametrize(("band", "place"), [("0-10%", 0), ("40-60%", 4), ("90-100%", 9)])
def test_the_gold_document_stands_where_it_was_told(band: str, place: int) -> None:
    """Ten documents of 100 tokens: first, in the middle, last; the record gets its depth and the tokens."""
    answer, text = answered(PlacedGold(length=1000, band=band), ASKED, corpus())
    ids = re.findall(r'<document id="([^"]+)"', text)
    assert (len(ids), ids.index("d3")) == (10, place)
    assert (answer.depths, answer.context_tokens) == ((round(place / 10 + 0.05, 4),), 1000)


def test_what_cannot_be_placed_is_not_sent() -> None:
    """The trial fails as not_placed with the reason, and no turn is asked."""
    with pytest.raises(TurnFailed) as caught:
        asyncio.run(PlacedGold(length=5000).answer(ASKED, ScriptedClient([], corpus())))
    assert caught.value.failure.reason == NOT_PLACED
    assert "too few for a context of 5,000" in caught.value.failure.detail


def test_a_trap_is_asked_over_a_context_and_has_no_depth() -> None:
    """Without gold nothing is placed: it falls out of every band."""
    answer, text = answered(PlacedGold(length=1000), Question("q", "trap", "When?", "Never."), corpus())
    assert (answer.depths, answer.context_tokens, text.count("<document ")) == ((), 1000, 10)


def test_nobody_is_shown_what_he_may_not_see() -> None:
    """Others than the gold come from the caller's own view: fifteen of thirty documents are closed to him."""
    _, text = answered(
        PlacedGold(length=1000), Question("q", "f", "When?", "Now.", gold=("d4",)), corpus(access=("a",))
    )
    assert all(int(found) % 2 == 0 for found in re.findall(r'<document id="d(\d+)"', text))


def test_names_tell_length_band_and_seed() -> None:
    """Two arms of a plan can be told apart by their names alone."""
    names = [
        PlacedGold().name,
        PlacedGold(length=8500, band="0-10%").name,
        PlacedGold(band="0-10%+90-100%", seed=8).name,
    ]
    assert names == ["placed-64k-b40-60", "placed-8500-b0-10", "placed-64k-b0-10_90-100-s8"]


def test_lists_make_an_arm_of_each() -> None:
    """Two lengths and three bands in plans/depth.toml."""
    arms = [arm for arm in read_plan(Path("plans/depth.toml")).arms if isinstance(arm, PlacedGold)]
    assert len(arms) == 6
    assert len({(arm.length, arm.band) for arm in arms}) == 6


def test_every_question_of_the_plan_can_be_placed() -> None:
    """A run of plans/depth.toml has no trial that fails for its gold: each in its band, at the length."""
    plan = read_plan(Path("plans/depth.toml"))
    over = corpora.load(plan.corpus)
    for arm in (arm for arm in plan.arms if isinstance(arm, PlacedGold)):
        for question in question_files.load(plan.questions, over):
            found = place_gold_at_depth(
                over.documents, question.gold, bands_of(arm.band), length=arm.length, seed=arm.seed
            )
            assert isinstance(found, Placed), (arm.name, question.id, found)


def test_a_wrong_band_in_a_plan_is_an_error_with_its_line(tmp_path: Path) -> None:
    """Before anything is built or sent."""
    text = Path("plans/depth.toml").read_text().replace('"40-60%"', '"60-40%"')
    path = tmp_path / "depth.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"depth\.toml:\d+: (?s:.*)is no band"):
        read_plan(path)


def test_the_estimate_is_the_length_or_the_corpus() -> None:
    """No more than there is."""
    assert PlacedGold(length=1000).prompt_tokens(corpus()) < 1600
    assert PlacedGold().prompt_tokens(tiny()) < 2000 + tiny().tokens
