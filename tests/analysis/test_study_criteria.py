"""Each criterion holds, does not, or cannot be told, with the figures and with what would tell."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from records import read_run, record, turn

from loadrig.analysis.grounding import Gap
from loadrig.analysis.study import criteria
from loadrig.analysis.study.answers import part_of
from loadrig.analysis.study.criteria import Premium, Size, Volume
from loadrig.analysis.study.figures import figures
from loadrig.analysis.study.recalled import Recalled
from loadrig.analysis.study.tested import PairTest, adjusted
from loadrig.analysis.study.weighed import weighed
from loadrig.analysis.summary import summarize
from loadrig.stats import wilson
from loadrig.words.record import ToolCall
from loadrig.words.study import KnownSettings

SIZE = Size("m", 18_081, counted=True, window=200_000)
PREMIUM = Premium("m", "rag-k5", 6.2, Decimal("0.020"), Decimal("0.004"), "USD")


@pytest.mark.parametrize(
    ("tokens", "verdicts"),
    [
        (18_081, ["holds", "does not hold", "does not hold"]),
        (150_000, ["does not hold", "does not hold", "does not hold"]),
        (201_000, ["does not hold", "holds", "does not hold"]),
        (601_000, ["does not hold", "holds", "holds"]),
    ],
)
def test_the_corpus_against_the_window(tokens: int, verdicts: list[str]) -> None:
    """Half a window is headroom, over one window it must be searched, over three it is far larger."""
    assert [one.verdict for one in criteria.sized(replace(SIZE, tokens=tokens))] == verdicts


def test_the_share_of_the_window_is_told() -> None:
    """18,081 of 200,000 are 9.0 %."""
    assert criteria.sized(SIZE)[0].figures == "18,081 corpus tokens by its own count, 9.0 % of a window of 200,000"


def test_an_unknown_window_cannot_be_told() -> None:
    """And the remedy names the key."""
    found = criteria.sized(replace(SIZE, window=None))
    assert [one.verdict for one in found] == ["cannot be told"] * 3
    assert found[0].said == 'say it: [known.windows] "m" = tokens'


@pytest.mark.parametrize(
    ("volume", "verdict"),
    [
        (Volume(), "cannot be told"),
        (Volume(1000), "cannot be told"),
        (Volume(1000, Decimal(20)), "holds"),
        (Volume(1000, Decimal("19.99")), "does not hold"),
    ],
)
def test_the_premium_against_the_volume(volume: Volume, verdict: str) -> None:
    """1,000 questions at 0.020 are 20.00 a month."""
    found = criteria.premium(PREMIUM, volume)
    assert found.verdict == verdict
    assert found.figures.startswith("6.2 times the prompt tokens of rag-k5; 0.02 against 0.004 USD a question")


def recalled(name: str, reached: int | None) -> Recalled:
    return Recalled("k", "original", "recall", name, 3, {5: 0.5, 10: 1.0 if reached else 0.8}, reached)


def test_a_class_below_one_speaks_against_retrieval() -> None:
    """Aggregation never reaches 1: it wants the whole set, and the operative test finds it."""
    found = criteria.classes([recalled("paraphrase", 10), recalled("aggregation", None)])
    assert [one.verdict for one in found] == ["holds", "does not hold", "holds"]
    assert "3 of 6 questions in classes that no k finds whole (aggregation 0.80 at most)" in found[0].figures


def test_every_class_whole_speaks_for_retrieval() -> None:
    """Every class reaches 1 at k = 10: that is the k."""
    found = criteria.classes([recalled("paraphrase", 10)])
    assert [one.verdict for one in found] == ["does not hold", "holds", "does not hold"]
    assert found[1].said == "retrieval, with k = 10 at least"


@pytest.mark.parametrize(("passages", "verdict"), [(40, "holds"), (38, "cannot be told")])
def test_most_of_a_small_corpus_is_no_search(passages: int, verdict: str) -> None:
    """k = 10 of 40 passages is a quarter and a search, of 38 it is more."""
    found = criteria.classes([replace(recalled("paraphrase", 10), passages=passages)])
    assert found[1].verdict == verdict


def test_searching_again() -> None:
    """23 of 60 trials reformulated: the search had to adapt; none of 60: not."""
    assert [criteria.adapts("m", wilson(k, 60)).verdict for k in (23, 0)] == ["holds", "does not hold"]


def test_who_waits_is_for_the_user_to_say() -> None:
    """Times are known, whether somebody waits is not."""
    told = [criteria.waits("m", 4.6, Volume(users_wait=said)) for said in (None, True, False)]
    assert [one.verdict for one in told] == ["cannot be told", "does not hold", "holds"]
    assert told[1].said == "somebody waits 4.6 times as long"
    quick = criteria.waits("m", 0.8, Volume(users_wait=True))
    assert quick.said == "somebody waits, though here no longer than for full context"


def test_grounding_wants_every_arm_above_the_control() -> None:
    """One arm that is above, but not beyond noise, leaves it open; one that is no better than the control denies it."""
    clear = Gap("rag", "m", 20, 0.9, 0.0, 0.9, 0.8, 1.0, 0.0001, 0.0002, best=True)
    noisy, none = (replace(clear, arm="k3", gap=gap, p_holm=0.5) for gap in (0.1, 0.0))
    found = [criteria.grounds("m", gaps) for gaps in ([clear], [clear, noisy], [clear, none], [])]
    assert [one.verdict for one in found] == ["holds", "cannot be told", "does not hold", "cannot be told"]


def test_what_is_known_before_any_run() -> None:
    """What is missing is named."""
    found = criteria.inputs([replace(SIZE, window=None)], Volume(), "20 fact")
    assert (found.verdict, found.said) == ("cannot be told", "not known: window of m, questions a month")


def test_arms_that_nothing_could_tell_apart_are_not_alike() -> None:
    """One question, right on both sides: no difference could have been seen, so that none was seen decides nothing."""
    one, twenty = (
        criteria.noise("m", adjusted([PairTest("k", "r", "m", "b", "a", "all", n, n, n, (), (), 1.0)])) for n in (1, 20)
    )
    assert (one.verdict, twenty.verdict) == ("cannot be told", "holds")
    assert "none could have been seen" in twenty.figures


def test_repetitions_are_no_further_searches(tmp_path: Path) -> None:
    """Two questions, one searched again in all ten repetitions: 1 of 2, and not 10 of 20, which would hold."""
    calls = (tool("w", hits=0), tool("x", hits=1))
    records = [
        record(f"{q}{n:02}", arm="agentic", question=q, repetition=n, turns=(turn(tool_calls=calls[at:]),))
        for at, q in enumerate(("again", "once"))
        for n in range(1, 11)
    ]
    run = read_run(tmp_path, records, plan={"arms": [{"name": "agentic"}], "model": [{"id": "m"}]})
    part = part_of(run, summarize(run), name="r")
    (found,) = (one for one in weighed(part, KnownSettings(), figures([part])) if one.key == "adapts")
    assert found.figures.startswith("1 of 2 questions searched again")


def tool(words: str, hits: int) -> ToolCall:
    return ToolCall("search", f'{{"query":"{words}"}}', ok=True, docs=(), ns=1, hits=hits)
