"""compare.md and compare.json: the words, the tables, and strictness."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from compared import answers, nothing_to_collect, plan, run_of  # noqa: F401
from records import S, failed, record

from loadrig.analysis.compare.gate import gate
from loadrig.analysis.compare.sides import pairs
from loadrig.analysis.compare.whole import compare
from loadrig.log import RunFolder
from loadrig.reports import compare as reports
from loadrig.statistics.clustered import Draws
from loadrig.words.record import Usage

FEW = Draws(bootstraps=200, permutations=99)
BETTER = ("better", "worse", "faster", "significant", "winner")


def text_of(folder: Path, a: RunFolder, b: RunFolder) -> str:
    found = compare(a, b, draws=FEW)
    return reports.write(found, gate(found, pairs(a, b), []), folder).read_text()


def test_inside_the_noise_is_called_that(tmp_path: Path) -> None:
    """A-136: 20/20 against 19/20: the noise, what could not have been seen, what to decide on; never better."""
    text = text_of(tmp_path, run_of("a", answers(20, 20)), run_of("b", answers(19, 20)))
    assert "accuracy is inside noise at n = 20: 20/20 to 19/20; decide on cost, latency and complexity" in text
    assert "with 20 questions you could not have seen a difference below 41.9 points" in text
    assert [word for word in BETTER if word in text] == []


def test_a_finding_has_its_numbers(tmp_path: Path) -> None:
    """20/20 to 10/20: lower by 50.0 points, with p before and after Holm."""
    text = text_of(tmp_path, run_of("a", answers(20, 20)), run_of("b", answers(10, 20)))
    assert (
        "accuracy is lower by 50.0 points at n = 20: 20/20 to 10/20 (exact McNemar p 0.002, 0.002 after Holm)" in text
    )
    assert "Gate: FAILED" in text


def test_five_questions_can_show_nothing(tmp_path: Path) -> None:
    """Not even five of five."""
    text = text_of(tmp_path, run_of("a", answers(5, 5)), run_of("b", answers(0, 5)))
    assert "with 5 questions no difference whatever could have been seen reliably" in text


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({}, "Nothing that was checked differs: two runs of the same"),
        (plan(retry={"attempts": 1}), "One thing differs: retries"),
        (
            {"corpus": {"sha256": "ab"}, **plan(retry={"attempts": 1})},
            "More than one thing differs (corpus, retries): whatever is found here, nobody can say which",
        ),
    ],
)
def test_the_one_variable_check_stands_at_the_top(tmp_path: Path, manifest: dict[str, object], said: str) -> None:
    """A-87: before any figure."""
    text = text_of(tmp_path, run_of("a", answers(5, 5)), run_of("b", answers(5, 5), manifest))
    assert said in text.split("## Findings", maxsplit=1)[0]


def test_what_is_refused_says_why(tmp_path: Path) -> None:
    """A-90: tokens of two models."""
    a, b = (run_of(n, answers(5, 5, usage=Usage(input=9, output=9), model=n)) for n in "ab")
    text = text_of(tmp_path, a, b)
    assert "prompt tokens: not compared, models count tokens differently: compare them by cost" in text
    assert "k5 (a -\\> b)" in text


def test_a_simulated_comparison_says_so(tmp_path: Path) -> None:
    """Dial settings, not evidence."""
    a, b = (run_of(n, answers(5, 5), {"simulated": True}) for n in "ab")
    assert "dial settings of the simulator, not evidence" in text_of(tmp_path, a, b)


def test_the_json_is_strict(tmp_path: Path) -> None:
    """A p95 beyond every success is null, never Infinity; sentences and gate are in it."""
    b = [*answers(4, 4), *(failed(f"f{i}", question=f"q{i}", arm="k5", category="fact") for i in range(4, 20))]
    text_of(tmp_path, run_of("a", answers(20, 20)), run_of("b", b))
    found = msgspec.json.decode((tmp_path / "compare.json").read_bytes())
    p95 = next(
        one for one in found["comparison"]["pairs"][0]["figures"] if (one["name"], one["kind"]) == ("service", "p95")
    )
    assert (p95["difference"]["a"], p95["difference"]["b"], p95["difference"]["value"]) == (S, None, None)
    assert found["gate"]["passed"] is False
    assert len(found["findings"]) > 2


def test_names_from_a_run_cannot_write_into_the_page(tmp_path: Path) -> None:
    """A question's id with a bar and a tag stays one cell of text."""
    hostile = {"arm": "k5", "question": "q|1<b>", "category": "fact"}
    a, b = run_of("a", [record("a", **hostile)]), run_of("b", [record("b", answer="no", **hostile)])
    assert "q\\|1\\<b\\>" in text_of(tmp_path, a, b)
