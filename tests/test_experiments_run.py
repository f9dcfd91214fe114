"""Experiments over the simulator: what a dial plants is found, what no dial does is called noise, proofs hold."""

from __future__ import annotations

import io
import json
from itertools import product
from pathlib import Path
from random import Random

import pytest
from planting import QUICK, Fault, porters, side_by_side

from loadrig.analysis.experiments.factors import Factor
from loadrig.analysis.experiments.words import Effect
from loadrig.analysis.summary import Summary, summarize
from loadrig.arms.full_context import FullContext
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.live.progress import Progress
from loadrig.log import read_run
from loadrig.reports.markdown import render
from loadrig.words.settings import CorpusSettings, LoadSettings, ModelSettings, Plan, QuestionSettings

TOWNS = ("Belao", "Dorib", "Fenux", "Galem", "Kiros", "Lusam", "Mirov", "Nolak", "Osten", "Pagri", "Quilo", "Ravun")


def _fees(folder: Path) -> None:
    """Twelve fees, each set in January and changed in March, and questions for what they are now."""
    (folder / "corpus").mkdir(parents=True)
    texts = {
        "2031-01-10": [f"The fee of {town} is three marks." for town in TOWNS],
        "2031-02-10": ["Chairs were painted in another colour."],
        "2031-03-10": [f"The fee of {town} is seven marks." for town in TOWNS],
    }
    rows = []
    for date, lines in texts.items():
        (folder / "corpus" / f"{date}.md").write_text("\n\n".join(lines) + "\n")
        rows.append({"id": date, "file": f"{date}.md", "date": date})
    (folder / "corpus" / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = [
        {
            "id": f"q-{town}", "category": "supersession", "question": f"What is the fee of {town}?",
            "reference": "Seven marks.", "must_contain": ["seven marks"], "stale": ["three marks"],
        }
        for town in TOWNS
    ]  # fmt: skip
    (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """A factorial over a model that takes the first value it meets, whatever its date."""
    folder = tmp_path_factory.mktemp("factorial")
    _fees(folder)
    dials = {**QUICK, "takes_first_value": 1.0}
    (folder / "first.toml").write_text("".join(f"{name} = {value}\n" for name, value in dials.items()))
    plan = Plan(
        name="factorial",
        probe=False,
        corpus=CorpusSettings(path=str(folder / "corpus")),
        questions=QuestionSettings(path=str(folder / "asked.jsonl")),
        model=(ModelSettings(id="claude-haiku-5-5", base_url="simulator", scenario=str(folder / "first.toml")),),
        arms=tuple(
            FullContext(order=order, chronology=chronology, ids=ids)
            for order, chronology, ids in product(("date", "reverse"), (True, False), (True, False))
        ),
        load=LoadSettings(concurrency=(4,), warmup=0, cycle=False),
    )
    with Progress(io.StringIO()) as progress:
        finished = execute(plan, Options(out=folder / "results", inline=True, confirmed=True), progress)
    return summarize(read_run(finished.folder))


def _factor(summary: Summary, option: str) -> Factor:
    (found,) = (one for one in summary.experiments.factors if one.option == option)
    return found


def _known(effect: Effect | None) -> Effect:
    assert effect is not None
    return effect


def test_an_effect_that_a_dial_plants_is_found(summary: Summary) -> None:
    """A model that takes what it meets first is wrong by date and right backwards, on twelve questions of twelve."""
    order = _factor(summary, "order")
    accuracy, stale = _known(order.accuracy), _known(order.stale)
    assert (accuracy.word, accuracy.difference.a, accuracy.difference.b) == ("higher", 0.0, 1.0)
    assert (stale.word, stale.difference.value) == ("lower", -1.0)


@pytest.mark.parametrize("option", ["chronology", "ids"])
def test_what_no_dial_does_is_inside_the_noise(summary: Summary, option: str) -> None:
    """A model that reads no instructions and, taking what comes first, no dates: no effect, no interaction."""
    accuracy = _known(_factor(summary, option).accuracy)
    assert (accuracy.word, accuracy.difference.value) == ("inside noise", 0.0)
    assert {one.accuracy.word for one in summary.experiments.interactions} == {"inside noise"}


def test_fewer_words_are_fewer_tokens(summary: Summary) -> None:
    """Without the sentence, and without ids, every prompt is shorter: lower beyond noise."""
    words = [_known(_factor(summary, option).tokens_in).word for option in ("chronology", "ids", "order")]
    assert words == ["lower", "lower", "inside noise"]


def test_the_sentence_alone_was_taken_out(summary: Summary) -> None:
    """A-37: four pairs of arms, proved over all twelve questions each from what was sent."""
    proofs = summary.experiments.ablations
    assert [(one.option, one.proved, one.n) for one in proofs] == [("chronology", True, 12)] * 4


def test_the_report_has_the_tables(summary: Summary) -> None:
    """Effects, interactions and proofs, under the word that says what simulated figures are."""
    written = render(summary)
    assert all(f"## {title}" in written for title in ("What an option does", "Proof of the ablations"))
    assert "dial settings of the simulator, not evidence" in written
    assert "Accuracy over k" not in written


def test_a_threshold_between_models_that_dials_plant_is_found(tmp_path: Path) -> None:
    """A-39: one model denies when its context is wide, one does not: the finding changes between them."""
    study = porters(tmp_path, Random(11))
    planted = {"weak": Fault("", "", (), {"denies_when_wide": 1.0}), "strong": Fault("", "", ())}
    _, found = side_by_side(study, planted, tmp_path)
    rows = {(one.wide, one.category): one for one in found.experiments.capability}
    row = rows["full_context", "supersession"]
    assert {gap.model: gap.word for gap in row.models} == {"weak": "lower", "strong": "inside noise"}
    assert [(one.by, one.change.word != "inside noise") for one in row.thresholds] == [("finding", True)]
