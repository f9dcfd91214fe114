"""What a run's manifest says it was made of: two runs that differ in one thing have manifests that differ in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loadrig.arms.rag import Rag
from loadrig.execution.folder import Session, begin, opened
from loadrig.execution.prepare import prepare
from loadrig.execution.targets import Reached
from loadrig.words.settings import CorpusSettings, ModelSettings, Plan, PriceSettings
from plans import plan

MODEL = "claude-haiku-5-5"
OF_THE_MOMENT = ("run", "began_at", "sessions", "machine", "index")


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if inner is None:
        yield name, value
    else:
        for key, one in inner:
            yield from leaves(one, f"{name}.{key}".strip("."))


def manifest(folder: Path, of: Plan) -> dict[str, Any]:
    """The leaves of the manifest that a run of this plan begins with, less what no two runs share."""
    folder.mkdir()
    reached = Reached({}, {MODEL: "http://127.0.0.1:1"}, (), local=True, warnings=())
    begin(folder, prepare(of), reached, Session("loadrig run x"), None)
    found = dict(leaves(json.loads((folder / "manifest.json").read_text())))
    return {key: value for key, value in found.items() if key.split(".")[0] not in OF_THE_MOMENT}


def differing(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


@pytest.mark.parametrize(
    ("changed", "keys"),
    [
        ({}, set()),
        ({"seed": 8}, {"seed", "plan.seed"}),
        ({"model": (ModelSettings(id=MODEL, base_url="simulator", max_tokens=300),)}, {"plan.model.0.max_tokens"}),
    ],
)
def test_one_setting_changed_is_one_difference(tmp_path: Path, changed: dict[str, Any], keys: set[str]) -> None:
    """A-87: the same plan twice, another seed, another output ceiling: nothing else differs."""
    assert differing(manifest(tmp_path / "a", plan(Rag(k=2))), manifest(tmp_path / "b", plan(Rag(k=2), **changed))) == (
        keys
    )


@pytest.mark.parametrize(
    ("place", "key"),
    [
        ("loadrig.arms.instructions.DIRECT", "instructions.DIRECT"),
        ("loadrig.execution.folder.CREDITING_RULE", "crediting_rule"),
    ],
)
def test_another_prompt_or_crediting_rule_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, key: str
) -> None:
    """A-55, A-87: what is no key of a plan is in the manifest too."""
    before = manifest(tmp_path / "a", plan(Rag(k=2)))
    monkeypatch.setattr(place, "another")
    assert differing(before, manifest(tmp_path / "b", plan(Rag(k=2)))) == {key}


def test_another_letter_in_the_corpus_shows(tmp_path: Path) -> None:
    """A-87: same folder, same number of tokens, one document changed: the hash differs."""
    folder = shutil.copytree("corpora/tiny", tmp_path / "c")
    of = plan(Rag(k=2), corpus=CorpusSettings(path=str(folder)))
    before = manifest(tmp_path / "a", of)
    text = (folder / "about.md").read_text()
    (folder / "about.md").write_text(f"{text[:-2]}!\n")
    assert "corpus.sha256" in differing(before, manifest(tmp_path / "b", of))


def test_from_how_many_questions_a_cache_pays_is_told_of_both(tmp_path: Path) -> None:
    """Input 1, write 2, read 0.5: the first writes, n > (2 - 0.5) / 0.5 = 3, so 4; primed n > 2 / 0.5 = 4, so 5."""
    prices = tmp_path / "prices.toml"
    prices.write_text(
        f'[[price]]\nmodel = "{MODEL}"\neffective_from = 2020-01-01\nsource = "invented"\nseen = 2026-11-01\n'
        'currency = "USD"\ninput = "1"\noutput = "1"\ncache_write_5m = "2"\ncache_write_1h = "2"\ncache_read = "0.5"\n'
    )
    found = manifest(tmp_path / "a", plan(prices=PriceSettings(path=str(prices))))
    assert (found["caches.0.pays_from_unprimed.5m"], found["caches.0.pays_from.5m"]) == (4, 5)


def test_runs_that_begin_together_have_folders_of_their_own(tmp_path: Path) -> None:
    """G8: three runs of a plan within a second; none writes over another."""
    folders = []
    for number in range(3):
        with opened(tmp_path, plan(), None) as folder:
            assert not list(folder.iterdir())
            (folder / "manifest.json").write_text(str(number))
            folders.append(folder)
    assert len(set(folders)) == 3
    assert [(folder / "manifest.json").read_text() for folder in folders] == ["0", "1", "2"]
