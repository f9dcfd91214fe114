"""`loadrig advise` as a user calls it: over corpora that come along, and over made ones of the worked cases."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Called, here

from loadrig.config import read_plan

ROOT = Path(__file__).resolve().parents[1]
HUSKBOOK = ("advise", "corpora/huskbook", "questions/huskbook.jsonl")
PAGE = (ROOT / "docs" / "advise.md").read_text()
COMMANDS = [line.partition("#")[0].split("loadrig ")[1] for line in PAGE.splitlines() if line.startswith("    .venv/")]


def _json(*words: object) -> dict[str, Any]:
    called = here(*words, "--json")
    assert called.code == 0, called.err
    found: dict[str, Any] = json.loads(called.out)
    return found


def _verdicts(advice: dict[str, Any]) -> dict[str, str]:
    return {one["architecture"]: one["verdict"] for one in advice["record"]}


def _made(folder: Path, *, documents: int, words: int, access: bool = False) -> tuple[Path, Path]:
    """A corpus of so many documents of so many words, each of a matter of its own with `access`, and a question."""
    docs = folder / "made"
    docs.mkdir()
    rows = []
    for number in range(documents):
        (docs / f"{number}.md").write_text(" ".join(f"clause {n} of part {number}." for n in range(words // 5)))
        labels = {"access": [f"matter-{number}"]} if access else {}
        rows.append(json.dumps({"id": str(number), "file": f"{number}.md", **labels}))
    (docs / "manifest.jsonl").write_text("\n".join(rows))
    row = {"id": "q1", "category": "simple_fact", "question": "What is clause 3 of part 1?", "reference": "-"}
    caller = {"caller": ["matter-1"]} if access else {}
    questions = folder / "made.jsonl"
    questions.write_text(json.dumps({**row, "gold": ["1"], **caller}))
    return docs, questions


@pytest.fixture(scope="module")
def called() -> Called:
    """The tables of a plain call."""
    return here(*HUSKBOOK, "--per-day", "400", "--changes", "monthly")


def test_the_tables_say_what_to_build_and_what_not(called: Called) -> None:
    """Every table by its title, the recommendation first; no line is wider than the page."""
    assert called.code == 0, called.err
    assert called.out.startswith("Advice for huskbook: full_context\n")
    titles = ("What is known", "Decision record", "Nine factors", "Cost per question", "Six mistakes", "What nobody")
    places = [called.out.index(title) for title in titles]
    assert places == sorted(places)
    assert max(map(len, called.out.splitlines())) <= 110


def test_nine_factors_and_eight_architectures(called: Called) -> None:
    """Each on a row of its own."""
    for name in ("corpus size", "build effort", "tokens a request", "multi-hop questions", "freshness", "auditability"):
        assert re.search(rf"^{name}", called.out, re.MULTILINE)
    for name in ("full_context", "rag", "agentic", "route", "decompose", "cached_core", "summaries", "control"):
        assert re.search(rf"^{name} +(recommended|worth a trial|rejected)", called.out, re.MULTILINE)


def test_as_json_it_is_the_same_advice() -> None:
    """One object: the kinds of 110 questions, every 14th of which is tried, and money as decimal strings."""
    advice = _json(*HUSKBOOK, "--per-day", "400")
    assert (advice["questions"], advice["tried"]) == (110, 8)
    kinds = advice["situation"]["kinds"]
    assert kinds["lookup"] + kinds["multi_hop"] + kinds["whole_set"] + kinds["absence"] == 110
    assert (kinds["multi_hop"], kinds["whole_set"] + kinds["absence"], kinds["guessed"]) == (13, 20, 0)
    full = next(one for one in advice["costs"] if one["kind"] == "FullContext")
    assert re.fullmatch(r"0\.0\d+", full["off"])
    assert float(full["cached"][1]["hit"]) < float(full["off"]) < float(full["cached"][1]["miss"])


def test_nothing_is_sent_and_no_key_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No socket is connected."""

    def refuse(*_: object) -> None:
        raise AssertionError("advise connected somewhere")

    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert here("advise", "corpora/tiny", "questions/tiny.jsonl").code == 0


def test_no_ray_is_loaded() -> None:
    """In a process of its own."""
    call = ["advise", "corpora/tiny", "questions/tiny.jsonl"]
    code = f"import sys\nfrom loadrig.cli import main\ntry: main({call})\nfinally: print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("False\n")


def test_a_style_guide_of_120_000_tokens_goes_into_a_cached_prompt(tmp_path: Path) -> None:
    """Monthly changes, open to all, a used one: whole and cached, and the costs show what the cache is worth."""
    docs, questions = _made(tmp_path, documents=12, words=7_000)
    advice = _json("advise", docs, questions, "--changes", "monthly", "--per-day", "1000")
    assert 64_000 < advice["situation"]["tokens"] < 200_000
    assert advice["record"][0]["architecture"] == "full_context"
    full = advice["costs"][0]
    assert float(full["expected"]) < float(full["off"]) / 2


def test_labels_of_documents_reject_one_prompt_for_all(tmp_path: Path) -> None:
    """Two matters, one caller: retrieval, though it would fit; the rights are the first reason."""
    docs, questions = _made(tmp_path, documents=2, words=500, access=True)
    advice = _json("advise", docs, questions)
    assert (advice["record"][0]["architecture"], _verdicts(advice)["full_context"]) == ("rag", "rejected")
    whole = next(one for one in advice["record"] if one["architecture"] == "full_context")
    assert whole["reasons"][0]["said"].startswith("rights: 2 of 2 documents")


def test_rights_that_no_label_tells_can_be_said() -> None:
    """`--mixed-rights` decides as labels do."""
    assert _verdicts(_json(*HUSKBOOK))["full_context"] == "recommended"
    assert _verdicts(_json(*HUSKBOOK, "--mixed-rights"))["full_context"] == "rejected"


def test_a_plan_is_looked_at_for_mistakes_and_its_arms_are_priced(tmp_path: Path) -> None:
    """The quickstart makes none of the six; its arms stand among the costs, each once, though one is ours too."""
    plan = tmp_path / "plan.toml"
    plan.write_text((ROOT / "plans" / "quickstart.toml").read_text().replace("k = [3, 5,", "k = [3, 8,"))
    advice = _json(*HUSKBOOK, "--plan", plan)
    assert [one["verdict"] for one in advice["mistakes"]] == ["not made"] * 6
    assert len({one["arm"] for one in advice["costs"]}) == len(advice["costs"])
    assert {"rag-bm25-k3", "rag-bm25-k20", "full_context"} <= {one["arm"] for one in advice["costs"]}


def test_what_a_plan_searches_by_an_endpoint_is_not_asked(tmp_path: Path) -> None:
    """An arm over such a retriever is known by its own guess; one over a named one of words is tried out."""
    plan = tmp_path / "plan.toml"
    tables = '[[retriever]]\nname = "far"\nkind = "dense"\nurl = "http://127.0.0.1:9/embeddings"\n'
    tables += '[[retriever]]\nname = "stemmed"\nkind = "bm25"\nstem = true\n'
    arm = '[[arm]]\nkind = "rag"\nretriever = ["far", "stemmed"]\n'
    quick = (ROOT / "plans" / "quickstart.toml").read_text()
    plan.write_text(quick.replace("[load]", f"{tables}{arm}[load]"))
    costs = {one["arm"]: one for one in _json(*HUSKBOOK, "--plan", plan)["costs"]}
    assert (costs["rag-far-k5"]["guessed"], costs["rag-stemmed-k5"]["guessed"]) == (True, False)


@pytest.mark.parametrize("flags", [(), ("--mixed-rights",)])
def test_the_plan_it_writes_is_one(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """It parses, its arms are the control and those not rejected; a file that is there is not written over."""
    path = tmp_path / "small.toml"
    advice = _json(*HUSKBOOK, *flags, "--write-plan", path)
    wanted = {"control", *(name for name, verdict in _verdicts(advice).items() if verdict != "rejected")}
    arms = {arm.name for arm in read_plan(path).arms}
    assert all(any(name.startswith(kind) for name in arms) for kind in wanted)
    assert all(any(name.startswith(kind) for kind in wanted) for name in arms)
    assert here(*HUSKBOOK, "--write-plan", path).code == 2
    nowhere = here(*HUSKBOOK, "--write-plan", tmp_path / "none" / "x.toml")
    assert (nowhere.code, "cannot be written" in nowhere.err) == (2, True)


def test_money_that_would_be_passed_rules_the_whole_out() -> None:
    """A cent a month for a thousand questions a day."""
    advice = _json(*HUSKBOOK, "--per-day", "1000", "--money-per-month", "0.01")
    assert _verdicts(advice)["full_context"] == "rejected"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--changes", "often"), "one of: daily, weekly, monthly, never"),
        (("--model", "somebodys-model"), "--window 200000"),
        (("--money-per-month", "much"), 'a decimal above 0, such as "500.00"'),
    ],
)
def test_what_cannot_be_understood_is_refused_with_a_remedy(flags: tuple[str, ...], said: str) -> None:
    """Exit code 2."""
    called = here("advise", "corpora/tiny", "questions/tiny.jsonl", *flags)
    assert called.code == 2
    assert said in called.err


def test_a_model_without_a_price_costs_an_unknown_amount() -> None:
    """Null, and a warning; with its window said, everything else is advised all the same."""
    advice = _json(*HUSKBOOK, "--model", "somebodys-model", "--window", "200000")
    assert {one["off"] for one in advice["costs"]} == {None}
    assert any(one.startswith("no price for model somebodys-model") for one in advice["warnings"])


def test_a_window_that_no_prompt_fits_is_no_missing_price() -> None:
    """Of a window of 1,000 tokens every prompt is too large, so none has a cost, though the model has a price."""
    advice = _json(*HUSKBOOK, "--window", "1000")
    assert {(one["too_large"], one["off"]) for one in advice["costs"]} == {(True, None)}
    assert not any("no price" in one for one in advice["warnings"])


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_page_works(line: str) -> None:
    """As written."""
    called = here(*shlex.split(line))
    assert called.code == 0, called.err
