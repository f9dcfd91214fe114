"""Dials that plant faults and weaknesses: each does what its name says, and nothing while it is off."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from collection import SWIM, answer_of, shown
from simulated import asking, document, running

from loadrig.measures.declining import declines, hedges
from loadrig.simulator.judge import judge
from loadrig.simulator.reading import count, read
from loadrig.simulator.reply import Reading, Text
from loadrig.simulator.scenario import Scenario, ScenarioError

LINES = "\n".join(f"Mark {place}: w{place}" if place % 100 == 0 else f"Row {place} is here." for place in range(1001))
WISH = {"type": "text", "text": 'Question: Repeat every line above that begins with "Mark ".'}


def reading(scenario: Scenario, text: str, attempt: str = "t.1.1", **more: Any) -> Reading:
    content = [{"type": "text", "text": text}, WISH]
    body = {"model": "m", "max_tokens": 4000, "messages": [{"role": "user", "content": content}], **more}
    return read(msgspec.json.encode(body), attempt, scenario)


def said(found: Reading) -> str:
    return "".join(piece for block in found.reply.blocks if isinstance(block, Text) for piece in block.pieces)


def numbers(found: Reading) -> list[int]:
    return [int(line.split(": w")[1]) for line in said(found).splitlines()]


def test_it_repeats_the_lines_it_is_asked_for() -> None:
    """All eleven in order; of a text without one, none."""
    assert numbers(reading(Scenario(), LINES)) == list(range(0, 1001, 100))
    assert said(reading(Scenario(), "Nothing of the kind.")) == "No line begins so."


def test_a_window_that_drops_the_top_keeps_the_end() -> None:
    """A third of the tokens kept: the first marks are gone, the last and the question are there."""
    whole = reading(Scenario(), LINES).prompt.tokens
    cut = reading(Scenario(window_tokens=whole // 3), LINES)
    assert numbers(cut) == [700, 800, 900, 1000]
    assert cut.prompt.tokens == pytest.approx(whole // 3, abs=20)


def test_a_window_that_drops_the_middle_keeps_both_ends() -> None:
    """Half of the tokens kept, a quarter at either end; reported as a whole when the dial says so."""
    whole = reading(Scenario(), LINES).prompt.tokens
    cut = reading(Scenario(window_tokens=whole // 2, window_drops="middle", window_reports="whole"), LINES)
    assert numbers(cut) == [0, 100, 200, 800, 900, 1000]
    assert cut.prompt.tokens == whole


def test_a_window_that_is_wide_enough_changes_nothing() -> None:
    """The same reading as without the dial."""
    whole = reading(Scenario(), LINES)
    assert reading(Scenario(window_tokens=whole.prompt.tokens), LINES) == whole


def test_a_cache_left_on_is_written_and_read_unasked(tmp_path: Path) -> None:
    """The second of two like requests reads what the first wrote; neither asked."""
    with running(
        "base_ms = 1\ndecode_ms_per_token = 0\ncache_minimum_tokens = 1\ncaches_unasked = true", tmp_path
    ) as sim:
        for number in range(2):
            sim.post(asking("x?", shown(SWIM)), f"t{number}.1.1")
        first, second = sim.stop()
    assert first["cache_write_5m"] > 0
    assert second["cache_read"] > 0


def test_under_reported_tokens_are_true_in_the_truth_log_and_when_counted(tmp_path: Path) -> None:
    """Half of the prompt is reported; the log has all of it, and so has count_tokens."""
    body = asking("x?", shown(SWIM))
    with running("base_ms = 1\ndecode_ms_per_token = 0\nreports_input = 0.5", tmp_path) as sim:
        reply = sim.post({**body, "stream": False})
        (row,) = sim.stop()
    true = count(msgspec.json.encode(body), Scenario())
    assert (row["input"], reply.json()["usage"]["input_tokens"]) == (true, round(true / 2))


def test_an_endpoint_that_counts_no_tokens_says_404(tmp_path: Path) -> None:
    """As one that has no such address."""
    with running("counts_tokens = false", tmp_path) as sim:
        assert sim.post(asking("x?"), path="/v1/messages/count_tokens").status == 404


def test_replayed_answers_are_the_same_for_every_attempt() -> None:
    """Ten attempts, one text; off, more than one."""
    for share, alike in ((1.0, True), (0.0, False)):
        texts = {
            answer_of("When does the pool open?", shown(SWIM), Scenario(replay_share=share), f"t{n}.1.1")
            for n in range(10)
        }
        assert (len(texts) == 1) is alike


def test_a_replayed_reply_comes_under_its_first_id_where_whole_replies_are_kept(tmp_path: Path) -> None:
    """Two attempts at one body: one text both times; one id with the dial on, two without."""
    for number, (dial, ids) in enumerate((("true", 1), ("false", 2))):
        folder = tmp_path / str(number)
        folder.mkdir()
        with running(f"base_ms = 1\nreplay_share = 1.0\nreplays_ids = {dial}", folder) as sim:
            replies = [sim.post({**asking("x?"), "stream": False}, attempt=f"t{n}.1.1").json() for n in range(2)]
        assert len({reply["id"] for reply in replies}) == ids
        assert len({reply["content"][0]["text"] for reply in replies}) == 1


def test_reported_output_has_a_factor_and_the_truth_has_none(tmp_path: Path) -> None:
    """Half of what the truth log says."""
    with running("base_ms = 1\ndecode_ms_per_token = 0\nreports_output = 0.5", tmp_path) as sim:
        reply = sim.post({**asking("x?"), "stream": False})
        (row,) = sim.stop()
    assert reply.json()["usage"]["output_tokens"] == round(row["output"] / 2)


def test_thinking_spreads_around_its_mean() -> None:
    """Between half and one and a half times 100, not always the same."""
    thought = {
        reading(Scenario(thinking_tokens=100, thinking_spread=0.5), "x", f"t{n}.1.1").reply.thinking_tokens
        for n in range(20)
    }
    assert len(thought) > 5
    assert min(thought) >= 50
    assert max(thought) <= 150


def test_refusals_grow_with_the_prompt() -> None:
    """At 100 in 100,000 tokens a prompt of 10,000 and more is always refused, one of a few tokens hardly ever."""
    dial = Scenario(refuse_per_100k=10.0)
    assert reading(dial, LINES * 3).reply.stop_reason == "refusal"
    assert [reading(dial, "x", f"t{n}.1.1").reply.stop_reason for n in range(20)].count("refusal") <= 2


def test_a_control_knows_what_it_was_told_and_nothing_else() -> None:
    """Only without documents, and only that question."""
    dial = Scenario(knows={"When does the pool open?": "At 7:00."})
    assert answer_of("When does the pool open?", "", dial) == "At 7:00."
    assert "provided" in answer_of("When does the cafe open?", "", dial) or "documents" in answer_of("Who?", "", dial)
    assert "[rules]" in answer_of("When does the pool open?", shown(SWIM), dial)


def test_a_right_yes_opens_with_no() -> None:
    """The quotation stays what it was; an answer that is no yes stays whole."""
    right, wrong = (
        answer_of("Is the sauna open on Mondays?", shown(SWIM), Scenario(opens_with_no=d)) for d in (0.0, 1.0)
    )
    assert (right[:5], wrong[:4], right[5:] == wrong[4:]) == ("Yes. ", "No. ", True)


@pytest.mark.parametrize(("others", "opening"), [(2, "Yes. "), (9, "No. ")])
def test_a_wide_undated_context_makes_it_stop_at_the_end_of_the_matter(others: int, opening: str) -> None:
    """Abolished and restored, no dates: over four documents yes, over eleven no, with the dial on."""
    texts = ["Decision: the post of night porter is restored.", "Decision: the post of night porter is abolished."]
    texts += [f"Row {n} of chairs was painted in another colour." for n in range(others)]
    prompt = "\n".join(document(f"d{n}", text) for n, text in enumerate(texts))
    answer = answer_of("Is there a post of night porter?", prompt, Scenario(denies_when_wide=1.0))
    assert answer.startswith(opening)


@pytest.mark.parametrize(("others", "is_marked"), [(2, False), (9, True)])
def test_answers_over_many_documents_may_have_a_manner(others: int, is_marked: bool) -> None:
    """Over three documents no mark, over ten the mark; with a share of 0 none."""
    texts = ["The pool opens at 7:00.", *(f"Row {n} of chairs was painted in another colour." for n in range(others))]
    prompt = "\n".join(document(f"d{n}", text) for n, text in enumerate(texts))
    for share in (1.0, 0.0):
        dial = Scenario(marks_wide="So it is.", marks_wide_share=share)
        answer = answer_of("When does the pool open?", prompt, dial)
        assert answer.endswith(" So it is.") is (is_marked and share == 1.0)


def test_cited_dates_are_true_or_a_few_days_beside_it() -> None:
    """With the dial at 1 never the document's date; at 0 always; without it none is cited."""
    ask = "When does the pool open?"
    assert "5 January 2030" in answer_of(ask, shown(SWIM), Scenario(cites_dates=True))
    invented = answer_of(ask, shown(SWIM), Scenario(invents_dates=1.0))
    assert "(document of " in invented
    assert "of 5 January 2030" not in invented
    assert "(document of " not in answer_of(ask, shown(SWIM))


def test_guesses_without_documents_hedge_and_are_not_made_over_one() -> None:
    """With the dial at 1 an answer without documents hedges, at 0 it declines; a document is read as ever."""
    ask = "When does the pool open?"
    guessed, declined = (answer_of(ask, "", Scenario(guesses=share)) for share in (1.0, 0.0))
    assert (hedges(guessed), declines(guessed)) == (True, False)
    assert (hedges(declined), declines(declined)) == (False, True)
    assert "7:00" in answer_of(ask, document("a", "The pool opens at 7:00."), Scenario(guesses=1.0))


def test_a_judge_likes_length_or_a_marker() -> None:
    """A wrong answer of four words is right to a judge that likes three, or its marker; to a fair one it is not."""
    case = (
        "<question>\nHow many?\n</question>\n<reference>\nEight swimmers.\n</reference>\n"
        "<answer>\nNobody knows it (*).\n</answer>"
    )
    verdicts = [judge(case, Random(1), **likes) for likes in ({}, {"likes_words": 3}, {"likes_marker": "(*)"})]
    assert ['"correct":true' in (verdict or "") for verdict in verdicts] == [False, True, True]


@pytest.mark.parametrize("key", ["window_tokens", "replay_share", "reports_output", "refuse_per_100k", "invents_dates"])
def test_a_dial_out_of_its_range_is_refused(key: str) -> None:
    """Below zero."""
    with pytest.raises(ScenarioError, match=key):
        Scenario(**{key: -1})
