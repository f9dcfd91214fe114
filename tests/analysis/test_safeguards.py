"""Safeguards: what each check says of a run, and that one which could not run never says "passed"."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records import failed, question, read_run, record, trial_of, turn, write_run

from loadrig import log
from loadrig.analysis.safeguards import CHECKS
from loadrig.analysis.safeguards.artefacts import ARTEFACTS
from loadrig.analysis.safeguards.crediting import unlike
from loadrig.analysis.summary import Summary, summarize
from loadrig.measures.recall import CREDITING_RULE
from loadrig.reports.figures import write
from loadrig.reports.markdown import render
from loadrig.words.record import Record, Usage
from loadrig.words.safeguard import Safeguard, worst

ASKS = b'{"messages":[{"content":[{"text":"x","cache_control":{"type":"ephemeral"}}]}]}'
PLAIN = b'{"messages":[{"content":"say \\"cache_control\\": no"}]}'
PROMPTS = {"asks": ASKS, "plain": PLAIN}


def found(folder: Path, name: str, *records: Record, **given: Any) -> Safeguard:
    """What one check says of these records."""
    summary: Summary = summarize(read_run(folder, records, **given))
    (one,) = (one for one in summary.safeguards if one.name == name)
    return one


def called(trial: str, prompt: str, **usage: int | None) -> Record:
    """A trial of one call with this prompt, which reported this."""
    return record(trial, turns=(turn(prompt=(prompt,), usage=Usage(**{"input": 100, **usage})),))


def test_a_run_of_which_nothing_is_known_passes_nothing_that_needs_it(tmp_path: Path) -> None:
    """No probe, no control, no counters, no repetitions, no rule: each is "not checked", and the head of the report
    says so before any figure."""
    summary = summarize(read_run(tmp_path, [record("a")]))
    verdicts = {one.name: one.verdict for one in summary.safeguards}
    for name in ("context probe", "prompt tokens", "prompt tokens of trials", "cache", "determinism", "control",
                 "crediting rule", "contamination", "saturation"):  # fmt: skip
        assert verdicts[name] == "not checked", name
    text = render(summary)
    assert text.index("not checked: context probe") < text.index("## Stage")


def test_every_check_of_the_table_speaks_of_every_run(tmp_path: Path) -> None:
    """Also of one in which everything failed: as many names as there are checks, but that the probe has two."""
    summary = summarize(read_run(tmp_path, [failed("a")]))
    assert len({one.name for one in summary.safeguards}) == len(CHECKS) + 1
    assert all(one.sentence for one in summary.safeguards)


def test_calls_that_asked_for_no_caching_report_no_cached_tokens(tmp_path: Path) -> None:
    """A-82: two calls with zeros pass; words of a document that look like the key do not make a call one that asked."""
    one = found(
        tmp_path, "cache", called("a", "plain", cache_read=0), called("b", "plain", cache_read=0), prompts=PROMPTS
    )
    assert (one.verdict, one.figures[1].value) == ("passed", 0)


def test_a_cache_that_nobody_asked_for_is_told_with_its_tokens(tmp_path: Path) -> None:
    """A-82: one call of two read 40 of its 140 tokens: 40 of 240 in all."""
    one = found(
        tmp_path, "cache", called("a", "plain", cache_read=40), called("b", "plain", cache_read=0), prompts=PROMPTS
    )
    assert one.verdict == "failed"
    assert "1 of 2 calls" in one.sentence
    assert "40 of 240" in one.sentence


def test_an_endpoint_that_caches_by_itself_is_told_and_not_blamed(tmp_path: Path) -> None:
    """Over chat completions nobody can ask: what was read is a warning with its tokens, and nothing read passes."""
    plan = {"model": [{"id": "m", "provider": "openai"}]}
    read = [called("a", "plain", cache_read=40), called("b", "plain", cache_read=0)]
    one = found(tmp_path / "1", "cache", *read, prompts=PROMPTS, plan=plan)
    assert (one.verdict, "1 of 2 calls read 40 of 240" in one.sentence) == ("warned", True)
    assert found(tmp_path / "2", "cache", read[1], prompts=PROMPTS, plan=plan).verdict == "passed"


def test_a_cache_that_was_asked_for_says_how_much_was_read(tmp_path: Path) -> None:
    """A-82: 300 of 400 tokens are 75 %; asked for twice and never read is warned of."""
    used = [called("a", "asks", cache_read=0), called("b", "asks", input=0, cache_read=300)]
    assert "75% of their prompt" in found(tmp_path / "1", "cache", *used, prompts=PROMPTS).sentence
    unused = [called(name, "asks", cache_read=0) for name in "ab"]
    assert found(tmp_path / "2", "cache", *unused, prompts=PROMPTS).verdict == "warned"


def test_a_reply_without_cache_counters_is_not_taken_for_zero(tmp_path: Path) -> None:
    """A-82: one of two calls told nothing: not checked."""
    one = found(tmp_path, "cache", called("a", "plain"), called("b", "plain", cache_read=0), prompts=PROMPTS)
    assert (one.verdict, one.sentence) == ("not checked", "1 of 2 calls told no cache counters")


def test_a_call_whose_request_is_not_on_file_is_not_taken_for_one_that_asked_for_nothing(tmp_path: Path) -> None:
    """Without prompts.jsonl nobody knows what a call with 300 tokens read had asked for."""
    one = found(tmp_path, "cache", called("a", "asks", cache_read=300), called("b", "plain", cache_read=0))
    assert (one.verdict, one.sentence) == ("not checked", "the requests of 2 of 2 calls are not on file")


def test_a_cache_is_not_called_idle_on_one_call_or_on_silence(tmp_path: Path) -> None:
    """Who asked once has nothing to read yet; of two calls that tell no counters nobody knows whether they read."""
    once = found(tmp_path / "1", "cache", called("a", "asks", cache_read=0), prompts=PROMPTS)
    assert (once.verdict, once.sentence) == ("passed", "1 of 1 calls asked for caching; 0% of their prompt was read")
    silent = found(tmp_path / "2", "cache", called("a", "asks"), called("b", "asks"), prompts=PROMPTS)
    assert (silent.verdict, silent.sentence) == ("not checked", "2 of 2 calls told no cache counters")


def test_a_cache_that_does_nothing_is_told_whatever_another_call_leaves_out(tmp_path: Path) -> None:
    """Two calls asked and read nothing; a third, which did not ask, told no counters."""
    used = [called("a", "asks", cache_read=0), called("b", "asks", cache_read=0), called("c", "plain")]
    assert found(tmp_path, "cache", *used, prompts=PROMPTS).verdict == "warned"


@pytest.mark.parametrize(
    ("arms", "answer", "verdict"),
    [
        (("control", "rag"), "no", "passed"),
        (("control", "rag"), "yes", "warned"),
        (("rag", "control"), "no", "failed"),
        (("rag",), "no", "not checked"),
    ],
)
def test_the_control_comes_first_and_what_it_knows_is_dropped(
    tmp_path: Path, arms: tuple[str, ...], answer: str, verdict: str
) -> None:
    """A-30, A-84: before the others in the plan's order; one known question warns and is named."""
    records = [record(arm, arm=arm, answer=answer) for arm in arms]
    one = found(tmp_path, "control", *records, trials=[trial_of(r, n) for n, r in enumerate(records)])
    assert one.verdict == verdict
    assert ("q1" in one.sentence) is (verdict == "warned")


def test_starved_cut_off_empty_and_refused_stand_apart(tmp_path: Path) -> None:
    """A-62: a starved answer fails the ceiling, a cut one alone warns; empty and refused have a row of their own."""
    ended = {"answer": "", "outcome": "unanswered"}
    reasons = ("starved", "cut_off", "empty", "refused")
    records = [record("ok"), *(record(reason, reason=reason, **ended) for reason in reasons)]
    assert found(tmp_path / "1", "output ceiling", *records).sentence.endswith("(rag 1 of 5): raise max_tokens")
    assert found(tmp_path / "2", "output ceiling", records[0], records[2]).verdict == "warned"
    one = found(tmp_path / "3", "empty and refused answers", *records)
    assert one.sentence == "empty: rag 1 of 5; refused: rag 1 of 5; not taken for wrong answers"


def test_recall_of_two_crediting_rules_is_not_compared(tmp_path: Path) -> None:
    """A-56: the same rule may be, another may not, and one that is not stamped cannot be told."""
    one, other, none = (
        read_run(tmp_path / str(n), [record("a")], **given)
        for n, given in enumerate(({"crediting_rule": CREDITING_RULE}, {"crediting_rule": "0"}, {}))
    )
    assert (unlike(one, one), unlike(one, other), unlike(one, none)) == (
        None,
        "crediting rules 1 and 0 differ",
        "crediting rules 1 and unknown differ",
    )


@pytest.mark.parametrize(
    ("answer", "verdict", "words"),
    [
        ("I cannot say.", "passed", "cannot be proved"),
        ("It is berth-77aa.", "failed", "canary"),
        ("Ask Sable Thornby.", "failed", "Sable Thornby"),
        ("Ask Odwin.", "passed", "cannot be proved"),
    ],
)
def test_what_the_control_gives_away_is_contamination(tmp_path: Path, answer: str, verdict: str, words: str) -> None:
    """A-88: the canary, or an invented name that the question does not name; absence is never called proved."""
    folder = write_run(
        tmp_path, [record("a", arm="control", answer=answer)], questions=[question(question="Who is Odwin?")]
    )
    log.write_json(folder / log.INVENTED, log.Invented("berth-77aa", ("Sable Thornby", "Odwin")))
    (one,) = (one for one in summarize(log.read_run(folder)).safeguards if one.name == "contamination")
    assert one.verdict == verdict
    assert words in one.sentence


def test_reported_tokens_of_trials_are_held_against_the_calibrated_ratio(tmp_path: Path) -> None:
    """A-81: 'hello world' is two tokens here; at a ratio of 1.5 three are due: 3 pass, 2 are a third too few."""
    prompts = {"p": b'{"messages":[{"role":"user","content":[{"type":"text","text":"hello world"}]}]}'}
    rows = {"arms": [{"arm": "rag", "model": "m", "ratio": "1.5", "calibrated": True}]}
    for reported, verdict in ((3, "passed"), (2, "failed")):
        records = [record("a", turns=(turn(prompt=("p",), usage=Usage(input=reported)),))]
        one = found(tmp_path / verdict, "prompt tokens of trials", *records, prompts=prompts, estimate=rows)
        assert one.verdict == verdict


@pytest.mark.parametrize("key", ["output_config", "tools"])
def test_a_call_in_a_form_or_with_tools_is_not_held_against_it(tmp_path: Path, key: str) -> None:
    """Of what these add nothing is known: a classifier's 9 tokens for two words are no finding, and no pass; nor are an
    agent's whose first turn broke off before it called a tool."""
    body = b'{"messages":[{"role":"user","content":"hello world"}],"%b":[]}' % key.encode()
    rows = {"arms": [{"arm": "rag", "model": "m", "ratio": "1.5", "calibrated": True}]}
    records = [record("a", turns=(turn(prompt=("p",), usage=Usage(input=9), purpose="classify"),))]
    one = found(tmp_path, "prompt tokens of trials", *records, prompts={"p": body}, estimate=rows)
    assert one.verdict == "not checked"


@pytest.mark.parametrize(
    ("output", "thinking", "ratio", "verdict"),
    [(2, None, "1", "passed"), (1, None, "1", "failed"), (9, 8, "1", "failed"), (2, 0, "1.5", "failed")],
)
def test_reported_output_is_held_against_the_text_that_came(
    tmp_path: Path, output: int, thinking: int | None, ratio: str, verdict: str
) -> None:
    """A-81: 'hello world' is two tokens here: one is half, and so is nine of which eight are thinking; where the
    provider's own ratio is 1.5, two are below .7 of three."""
    one = turn(text="hello world", usage=Usage(input=3, output=output, thinking=thinking))
    rows = {"arms": [{"arm": "rag", "model": "m", "ratio": ratio, "calibrated": True}]}
    told = found(tmp_path, "output tokens", record("a", turns=(one,)), estimate=rows)
    assert told.verdict == verdict


def test_no_text_or_no_report_is_no_pass(tmp_path: Path) -> None:
    """A-81: a reply without a text, and one that reported no output."""
    turns = (turn(usage=Usage(input=3, output=5)), turn(text="hello world", usage=Usage(input=3)))
    assert found(tmp_path, "output tokens", record("a", turns=turns)).verdict == "not checked"


def test_a_resumed_run_has_the_worst_of_its_probes(tmp_path: Path) -> None:
    """A-80: cut in the first session, whole in the second: its figures are of both, so it failed."""
    rows = [{"name": "context probe", "verdict": v, "sentence": v, "of": "m"} for v in ("failed", "passed")]
    assert found(tmp_path, "context probe", record("a"), safeguards=rows).verdict == "failed"


def test_artefacts_have_the_worst_verdict_of_their_checks(tmp_path: Path) -> None:
    """A-140: all four are listed, each from checks that exist; a starved answer shows as the ceiling's artefact."""
    starved = record("a", outcome="unanswered", reason="starved", answer="")
    summary = summarize(read_run(tmp_path, [starved], crediting_rule=CREDITING_RULE))
    assert [(one.name, one.verdict) for one in summary.artefacts] == [
        ("output ceiling", "failed"), ("crediting rule", "passed"), ("silent truncation", "not checked"),
        ("cache that was not off", "not checked"),
    ]  # fmt: skip
    names = {one.name for one in summary.safeguards}
    assert all(check in names for _, _, checks in ARTEFACTS for check in checks)


def test_the_worst_of_several_verdicts() -> None:
    """Failed before warned before not checked before passed; of none, not checked."""
    assert worst(["passed", "not checked"]) == "not checked"
    assert worst(["not checked", "warned", "passed"]) == "warned"
    assert worst([]) == "not checked"


def test_the_verdicts_are_in_the_summary_as_json(tmp_path: Path) -> None:
    """Name, verdict, sentence, figures and model of each, for programs."""
    summary = summarize(read_run(tmp_path, [record("a")]))
    rows = json.loads(write(read_run(tmp_path, []), summary).read_text())["safeguards"]
    assert set(rows[0]) == {"name", "verdict", "sentence", "figures", "of"}
