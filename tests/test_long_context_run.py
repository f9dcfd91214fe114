"""Long contexts over the simulator: a planted U is seen by depth, planted refusals by length, and nothing else is."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from planting import QUICK

from loadrig.analysis.bands import Depths
from loadrig.analysis.lengths import Lengths
from loadrig.analysis.summary import Summary, summarize
from loadrig.arms.placed import PlacedGold
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.live.progress import Progress
from loadrig.log import RunFolder, read_run
from loadrig.reports.markdown import render
from loadrig.words.settings import CorpusSettings, LoadSettings, ModelSettings, Plan, QuestionSettings

DOCUMENTS, ASKED = 60, 20
LENGTHS, BANDS = (1000, 3000), ("0-10%", "40-60%", "90-100%")
DIALS = {
    "clean": {},
    "middle": {"misses_middle": 1.0},
    "refusing": {"refuse_per_100k": 15.0},
}


def _harbours(folder: Path) -> None:
    """Sixty papers, each with the fee of one harbour, and questions for twenty of them; the last is about none."""
    (folder / "corpus").mkdir()
    rows = []
    for number in range(DOCUMENTS):
        lines = [f"The fee of harbour H{number:02} is {100 + number} marks."]
        lines += [f"Berth {place} was swept and nothing was found in it that week." for place in range(4)]
        (folder / "corpus" / f"h{number:02}.md").write_text("\n\n".join(lines) + "\n")
    for number in range(ASKED):
        rows.append(
            {
                "id": f"q{number:02}", "category": "fee", "question": f"What is the fee of harbour H{number:02}?",
                "reference": f"{100 + number} marks.", "gold": [f"h{number:02}.md"],
                "must_contain": [f"{100 + number} marks"],
            }
        )  # fmt: skip
    rows.append({"id": "trap", "category": "trap", "question": "Who painted H99?", "reference": "Nobody knows."})
    (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def fired(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, Summary]:
    """Three providers, side by side under the names of models."""
    folder = tmp_path_factory.mktemp("depth")
    _harbours(folder)
    models = []
    for name, dials in DIALS.items():
        path = folder / f"{name}.toml"
        path.write_text("".join(f"{key} = {value}\n" for key, value in {**QUICK, **dials}.items()))
        models.append(ModelSettings(id=name, base_url="simulator", scenario=str(path)))
    plan = Plan(
        name="depth",
        probe=False,
        corpus=CorpusSettings(path=str(folder / "corpus")),
        questions=QuestionSettings(path=str(folder / "asked.jsonl")),
        model=tuple(models),
        arms=tuple(PlacedGold(length=length, band=band) for length in LENGTHS for band in BANDS),
        load=LoadSettings(concurrency=(4,), warmup=0, cycle=False),
    )
    with Progress(io.StringIO()) as progress:
        finished = execute(plan, Options(out=folder / "results", inline=True, confirmed=True), progress)
    run = read_run(finished.folder)
    return run, summarize(run)


def depths(summary: Summary, model: str) -> list[Depths]:
    return [one for one in summary.long_context.depths if one.model == model]


def lengths(summary: Summary, model: str) -> Lengths:
    (found,) = (one for one in summary.long_context.lengths if one.model == model)
    return found


def test_every_question_with_gold_is_in_its_band_and_none_without(fired: tuple[RunFolder, Summary]) -> None:
    """Twenty each, three bands, two lengths; the depth on record is in the band that the arm was told."""
    for one in depths(fired[1], "clean"):
        assert [(band.band, band.right and band.right.n) for band in one.bands] == [
            ("0-10", 20), ("40-60", 20), ("90-100", 20),
        ]  # fmt: skip
        assert all(band.not_placed == 0 for band in one.bands)
        for band in one.bands:
            low, high = (int(end) / 100 for end in band.band.split("-"))
            assert band.least is not None
            assert band.most is not None
            assert low <= band.least <= band.most <= high
    traps = [record for record in fired[0].records if record.question == "trap"]
    assert {(record.depths, record.context_tokens is not None) for record in traps} == {((), True)}


def test_a_planted_u_is_seen(fired: tuple[RunFolder, Summary]) -> None:
    """B-21: what lies in the very middle is missed nine times of ten, at the ends one time: both ends beat it."""
    for one in depths(fired[1], "middle"):
        assert [gap.end for gap in one.gaps] == ["0-10", "90-100"]
        assert all(gap.paired and gap.found and gap.gap > 0.5 for gap in one.gaps)


def test_planted_refusals_rise_with_the_length(fired: tuple[RunFolder, Summary]) -> None:
    """B-12: at 15 in 100,000 tokens about a fifth of the short prompts is refused, and half of the long ones."""
    one = lengths(fired[1], "refusing")
    short, long = one.sizes
    assert 0.1 < short.refused.share < 0.35
    assert 0.4 < long.refused.share < 0.8
    assert {rise.what: rise.found for rise in one.rises} == {"refused": True, "declined": True}


def test_where_nothing_was_planted_nothing_is_claimed(fired: tuple[RunFolder, Summary]) -> None:
    """No gap and no rise; no gap where only refusals were planted, no refusal where only the middle was missed."""
    summary = fired[1]
    assert not any(gap.found for model in ("clean", "refusing") for one in depths(summary, model) for gap in one.gaps)
    assert not any(rise.found for rise in lengths(summary, "clean").rises)
    assert [at.refused.k for model in ("clean", "middle") for at in lengths(summary, model).sizes] == [0] * 4


def test_a_model_that_keeps_its_accuracy_has_the_longest_length(fired: tuple[RunFolder, Summary]) -> None:
    """Clean: 3,000 tokens, all that was tried."""
    found = lengths(fired[1], "clean").effective
    assert found is not None
    assert (found.length, found.longest) == (3000, 3000)


def test_the_report_says_what_it_is_a_probe_of(fired: tuple[RunFolder, Summary]) -> None:
    """Four tables; that a system does not know its gold, and that only one's own documents tell."""
    text = render(fired[1])
    for title in ("Accuracy by depth", "Is the middle missed", "Refusals and accuracy by size", "Effective length"):
        assert f"## {title}" in text
    assert "no system's accuracy" in text
    assert "it rises with the context" in text
    assert "only a run over them does" in text
