"""The prompt cache read off a run: by tokens, warm and cold apart, and a reason for every request that read nothing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from records import MS, attempt, plain, record, turn, write_run
from rich.console import Console

from loadrig import log
from loadrig.analysis.caching import ArmCaching, caching
from loadrig.analysis.prefixes import Prefixes
from loadrig.analysis.summary import summarize
from loadrig.reports.caching import tables
from loadrig.reports.markdown import render
from loadrig.reports.terminal import show
from loadrig.words.record import Record, Usage

MARK = b',"cache_control":{"type":"ephemeral"}}'
HOUR = b',"cache_control":{"type":"ephemeral","ttl":"1h"}}'
PROMPTS = {
    "open": b'{"max_tokens":2000,"messages":[{"role":"user","content":[', "one": b'{"max_tokens":1,"messages":[',
    "docs": b'{"type":"text","text":"' + b"d" * 900 + b'"' + MARK, "edit": b'{"type":"text","text":"e"' + MARK,
    "long": b'{"type":"text","text":"d"' + HOUR,
    "q1": b',{"type":"text","text":"Question: 1"}]}', "q2": b',{"type":"text","text":"Question: 2"}]}',
    "end": b'],"model":"m","stream":true,"system":"s"}', "other": b'],"model":"m","stream":true,"system":"t"}',
    "whole": b'],"model":"m","cache_control":{"type":"ephemeral"},"stream":true,"system":"s"}',
}  # fmt: skip
CACHES = {
    "caches": [
        {"model": "m", "minimum": 512, "pays_from": {"5m": 5, "1h": 9}, "pays_from_unprimed": {"5m": 2, "1h": 3}},
        {"model": "n", "minimum": 1024, "pays_from_unprimed": {"5m": 4, "1h": 8}},
    ]
}  # fmt: skip
READ, NOTHING = {"input": 10, "cache_read": 90}, {"input": 100, "cache_read": 0}
WROTE = {"input": 10, "cache_read": 0, "cache_write_5m": 90}


def label(at_s: float) -> str:
    """A wall time so many seconds after noon."""
    minutes, seconds = divmod(at_s, 60)
    return f"2026-11-20T{12 + int(minutes) // 60:02d}:{int(minutes) % 60:02d}:{seconds:09.6f}Z"


def call(at_s: float, usage: dict[str, int], prompt: str = "docs q1 end", **given: Any) -> Record:
    """A trial of one call that began so many seconds after noon, whose response began a second later."""
    made = attempt(
        began_at=label(at_s), begin_ns=5, headers_ns=5 + 1000 * MS, cost=given.get("cost"),
        usage=Usage(output=7, **usage),
    )  # fmt: skip
    fragments = tuple(prompt.split()) if prompt.startswith("one") else ("open", *prompt.split())
    asked = turn(attempts=(made,), prompt=fragments, usage=made.usage, purpose=given.pop("purpose", "answer"))
    return record(f"t{at_s}{prompt}{given.get('arm', '')}", **{"turns": (asked,), **given})


def found(folder: Path, *records: Record, probes: tuple[Record, ...] = (), **manifest: Any) -> tuple[ArmCaching, ...]:
    write_run(folder, records, prompts=PROMPTS, **CACHES, **manifest)
    with log.RunLog(folder) as written:
        for probe in probes:
            written.probe(probe, {})
    return caching(log.read_run(folder), PROMPTS)


def reasons(folder: Path, *records: Record) -> list[tuple[str, str, int]]:
    return [(miss.when, miss.reason, miss.n) for one in found(folder, *records) for miss in one.misses]


def test_the_hit_share_is_by_tokens(tmp_path: Path) -> None:
    """C-07: two of three calls hit, yet 90 + 10 of 100 + 1,000 + 100 prompt tokens were read: 1/12."""
    (one,) = found(
        tmp_path,
        call(0, {"input": 10, "cache_read": 90}),
        call(10, {"input": 100, "cache_read": 0, "cache_write_5m": 900}),
        call(20, {"input": 90, "cache_read": 10}),
    )
    assert (one.requests, one.told, one.hits, one.writes) == (3, 3, 2, 1)
    assert (one.read, one.prompt, one.hit_share) == (100, 1200, 100 / 1200)
    assert (one.written_5m, one.written_1h, one.minimum, one.pays_from, one.lifetime_s) == (900, 0, 512, 2, 300)


def test_the_first_request_writes_and_the_second_reads(tmp_path: Path) -> None:
    """One miss, and why."""
    assert reasons(tmp_path, call(0, WROTE), call(10, READ, "docs q2 end")) == [("trials", "first", 1)]


def test_a_request_beside_the_one_that_writes_cannot_read(tmp_path: Path) -> None:
    """Begun half a second after the first, whose response began after one: concurrent. One begun 1.5 s after would have
    had to find it: unknown."""
    told = reasons(tmp_path, call(0, WROTE), call(0.5, WROTE), call(1.5, WROTE))
    assert told == [("trials", "concurrent", 1), ("trials", "first", 1), ("trials", "unknown", 1)]


def test_a_prefix_expires_a_lifetime_after_it_was_last_used(tmp_path: Path) -> None:
    """Written at 0, read at 200 s, gone at 500 s, and not at 499.9; of an hour's prefix only after an hour."""
    assert reasons(tmp_path / "1", call(0, WROTE), call(200, READ), call(500, WROTE)) == [
        ("trials", "expired", 1), ("trials", "first", 1),
    ]  # fmt: skip
    soon = reasons(tmp_path / "2", call(0, WROTE), call(200, READ), call(499.9, WROTE))
    assert ("trials", "unknown", 1) in soon
    wrote = {"input": 10, "cache_read": 0, "cache_write_1h": 90}
    hours = [call(at, wrote, "long q1 end") for at in (0, 3599, 3599 + 3600)]
    assert reasons(tmp_path / "3", *hours) == [
        ("trials", "expired", 1), ("trials", "first", 1), ("trials", "unknown", 1),
    ]  # fmt: skip


def test_of_those_that_find_it_expired_the_first_did_and_the_others_were_beside_it(tmp_path: Path) -> None:
    """Two calls half a second apart after ten minutes of silence: one expired, one concurrent."""
    told = reasons(tmp_path, call(0, WROTE), call(600, WROTE), call(600.5, WROTE))
    assert told == [("trials", "concurrent", 1), ("trials", "expired", 1), ("trials", "first", 1)]


@pytest.mark.parametrize("prompt", ["edit q1 end", "docs q1 other"])
def test_other_bytes_in_the_prefix_are_told(tmp_path: Path, prompt: str) -> None:
    """Other documents, or other instructions before them: changed, and not the first of the run."""
    told = reasons(tmp_path, call(0, WROTE), call(10, WROTE, prompt))
    assert told == [("trials", "changed", 1), ("trials", "first", 1)]


def test_a_call_that_was_turned_away_neither_wrote_nor_changed_the_prefix(tmp_path: Path) -> None:
    """Overloaded, and asked again with the same bytes: the second writes as the first of the run would have."""
    refused = attempt(began_at=label(0), begin_ns=5, headers_ns=6, http_status=529)
    again = attempt(began_at=label(2), begin_ns=7, headers_ns=8, usage=Usage(output=7, **WROTE))
    asked = turn(attempts=(refused, again), prompt=("open", "docs", "q1", "end"), usage=again.usage)
    assert reasons(tmp_path, record("t", turns=(asked,))) == [("trials", "first", 1)]


def test_a_conversation_that_is_kept_whole_begins_anew_in_every_trial(tmp_path: Path) -> None:
    """The mark stands behind all messages: another question is another conversation, no change of this one."""
    told = reasons(tmp_path, call(0, WROTE, "docs q1 whole"), call(10, WROTE, "docs q2 whole"))
    assert told == [("trials", "first", 2)]


def test_another_callers_prefix_is_a_first_one(tmp_path: Path) -> None:
    """C-13: what one caller asked for is no change of what another did."""
    told = reasons(tmp_path, call(0, WROTE), call(10, WROTE, "docs q1 other", caller=("red",)))
    assert told == [("trials", "first", 2)]


def test_each_model_and_each_arm_has_prefixes_of_its_own(tmp_path: Path) -> None:
    """Another model's endpoint keeps nothing of the first one's, and has its own minimum and prices; other bytes of
    another arm are no change of the first one's."""
    wrote = {"input": 10, "cache_read": 0, "cache_write_1h": 90}
    rows = found(
        tmp_path,
        call(0, wrote, "long q1 end"), call(10, wrote, "long q1 other", model="n"),
        call(20, wrote, "long q1 end", model="n"), call(30, WROTE, arm="core"),
    )  # fmt: skip
    assert [(one.arm, one.model, one.minimum, one.pays_from, one.written_1h) for one in rows] == [
        ("rag", "m", 512, 3, 90), ("rag", "n", 1024, 8, 180), ("core", "m", 512, 2, 0),
    ]  # fmt: skip
    assert [[miss.reason for miss in one.misses] for one in rows] == [["first"], ["changed", "first"], ["first"]]


def test_too_short_a_prefix_is_told_for_silence_is_all_the_endpoint_gives(tmp_path: Path) -> None:
    """100 tokens, none written, none read, of at least 512: below minimum. Of 10,000 tokens it is not known why."""
    long = {"input": 10_000, "cache_read": 0}
    told = reasons(tmp_path, call(0, NOTHING), call(10, long, "docs q2 end"))
    assert told == [("trials", "below minimum", 1), ("trials", "unknown", 1)]


@pytest.mark.parametrize(("question", "system", "tokens", "reason"), [
    (b"q", b"s" * 2000, 600, "unknown"), (b"q" * 2000, b"s", 1200, "below minimum"),
])  # fmt: skip
def test_a_prefix_weighs_by_its_bytes_of_the_prompts_tokens(
    tmp_path: Path, question: bytes, system: bytes, tokens: int, reason: str
) -> None:
    """Some 3,000 bytes of 3,000: about 590 of 600 tokens, over the 512, as instructions are kept with the documents. Of
    1,200 tokens two thirds are a question behind them: about 380, below."""
    prompts = {**PROMPTS, "q": b',{"text":"%b"}]}' % question, "s": b'],"system":"%b"}' % system}
    silent = {"input": tokens, "cache_read": 0}
    write_run(tmp_path, [call(0, silent, "docs q s")], prompts=prompts, **CACHES)
    (one,) = caching(log.read_run(tmp_path), prompts)
    assert [(miss.reason, miss.n) for miss in one.misses] == [(reason, 1)]


def test_the_last_breakpoint_of_a_fragment_is_the_prefixs() -> None:
    """Five minutes for the first block, an hour for all up to the second."""
    found = Prefixes({**PROMPTS, "two": PROMPTS["edit"] + b"," + PROMPTS["long"]}).of(("open", "two", "q1", "end"))
    assert found is not None
    assert found.lifetime_s == 3600


def test_a_call_that_tells_no_counters_is_neither_hit_nor_miss(tmp_path: Path) -> None:
    """Asked once and not told: no share, which is not a share of nothing."""
    (one,) = found(tmp_path, call(0, {"input": 100}))
    assert (one.requests, one.told, one.hit_share, one.misses) == (1, 0, None, ())


def test_priming_and_warm_up_stand_apart(tmp_path: Path) -> None:
    """The call beforehand has another limit of its reply and no question, and writes what the trial reads all the same;
    figures are the trials' alone."""
    primer = call(0, WROTE, "one docs end", purpose="prime", phase="probe", cost="0.05")
    (one,) = found(tmp_path, call(20, READ), call(10, READ, phase="warmup"), probes=(primer,))
    assert [(miss.when, miss.reason, miss.n, miss.written) for miss in one.misses] == [("priming", "first", 1, 90)]
    assert (one.requests, one.hits, one.prefixes, one.primed, one.priming.amount) == (1, 1, 1, 1, "0.05")


def test_a_cache_pays_from_so_many_questions_by_whether_it_was_primed(tmp_path: Path) -> None:
    """By another arm's call too, as the prefix is one; not by a call that nobody replied to, nor of another prefix."""
    primer, elsewhere = (
        call(0, WROTE, f"one {prefix} end", purpose="prime", phase="probe", arm="other") for prefix in ("docs", "edit")
    )
    refused = attempt(began_at=label(0), http_status=529)
    unheard = msgspec.structs.replace(
        primer, turns=(turn(attempts=(refused,), prompt=primer.turns[0].prompt, purpose="prime"),)
    )
    pays = []
    for number, primers in enumerate([(), (primer,), (unheard,), (elsewhere,)]):
        (one,) = found(tmp_path / str(number), call(20, READ), probes=primers)
        pays.append(one.pays_from)
    assert pays == [2, 5, 2, 2]


def test_a_run_that_an_earlier_one_has_warmed_says_so(tmp_path: Path) -> None:
    """The call beforehand read what it was to write: counted, and told with the remedy."""
    primer = call(0, READ, "one docs end", purpose="prime", phase="probe")
    (one,) = found(tmp_path, call(20, READ), probes=(primer,))
    assert (one.primed, one.primed_warm) == (1, 1)
    text = render(summarize(log.read_run(tmp_path)))
    assert (
        "rag: 1 of 1 priming calls found their prefix kept by an earlier run: the option cold keeps runs apart" in text
    )


def test_what_the_run_itself_has_kept_is_no_earlier_runs(tmp_path: Path) -> None:
    """Primed again as the run is taken up, the second call reads what the first wrote: of two none was warm before, and
    nobody is sent to an option that would not help. A first one that was turned away wrote nothing: then one was."""
    primers = [call(at, said, "one docs end", purpose="prime", phase="probe") for at, said in ((0, WROTE), (9, READ))]
    (one,) = found(tmp_path / "again", call(20, READ), probes=tuple(primers))
    assert (one.primed, one.primed_warm) == (2, 0)
    assert "kept by an earlier run" not in render(summarize(log.read_run(tmp_path / "again")))
    refused = turn(
        attempts=(attempt(began_at=label(0), http_status=529),), prompt=("one", "docs", "end"), purpose="prime"
    )
    primers[0] = msgspec.structs.replace(primers[0], turns=(refused,))
    (one,) = found(tmp_path / "refused", call(20, READ), probes=tuple(primers))
    assert (one.primed, one.primed_warm) == (2, 1)


def test_warm_and_cold_have_times_and_costs_of_their_own(tmp_path: Path) -> None:
    """C-07: a cold trial of 0.08 with its first token after 900 ms, two warm ones of 0.01 and 0.03 after 100 and 200:
    the cost on a miss is 0.08, on a hit 0.02."""
    (one,) = found(
        tmp_path,
        call(0, WROTE, cost="0.08", trial_ttft_ns=900 * MS),
        call(10, READ, cost="0.01", trial_ttft_ns=100 * MS),
        call(20, READ, cost="0.03", trial_ttft_ns=200 * MS),
    )
    assert (one.warm.n, one.warm.cost.per_asked, one.cold.n, one.cold.cost.per_asked) == (2, "0.02", 1, "0.08")
    p50, p95 = one.warm.ttft.successes.p50, one.warm.ttft.successes.p95
    assert p50 is not None
    assert p95 is not None
    assert (p50.value_ns, p95.value_ns) == (100 * MS, 200 * MS)


def test_a_try_that_was_lost_is_in_no_figure_of_the_trials(tmp_path: Path) -> None:
    """It wrote 90 and was asked again, beside two warm-up calls that wrote 90 each: all miss before the trial, whose
    one request read. Asked twice, it is warm, and not timed."""
    lost, *warmup = call(0, WROTE), *(call(at, WROTE, phase="warmup") for at in (0.5, 0.6))
    again = msgspec.structs.replace(call(10, READ), trial=lost.trial, try_no=2)
    (one,) = found(tmp_path, lost, *warmup, again)
    assert (one.requests, one.hits, one.writes) == (1, 1, 0)
    told = [(miss.when, miss.reason, miss.n, miss.written) for miss in one.misses]
    assert told == [("warmup", "concurrent", 2, 180), ("warmup", "first", 1, 90)]
    assert (one.warm.n, one.cold.n, one.warm.ttft.n) == (1, 0, 0)


def test_a_trial_whose_first_request_tells_nothing_is_neither_and_is_counted(tmp_path: Path) -> None:
    """Refused and asked again, it waited for its retry: one of two trials has a side, one has none."""
    refused = attempt(began_at=label(10), begin_ns=5, headers_ns=6, http_status=429)
    again = attempt(began_at=label(12), begin_ns=7, headers_ns=8, usage=Usage(output=7, **READ))
    asked = turn(attempts=(refused, again), prompt=("open", "docs", "q1", "end"), usage=again.usage)
    (one,) = found(tmp_path, call(0, READ), record("t2", turns=(asked,)))
    assert (one.warm.n, one.cold.n, one.neither) == (1, 0, 1)
    told = render(summarize(log.read_run(tmp_path)))
    assert f"{one.arm}: 1 trial is neither, for the first request told no counters" in told


def test_an_arm_that_keeps_for_two_lifetimes_has_neither_of_them(tmp_path: Path) -> None:
    """A router whose ways keep unlike long: no one lifetime, and no one number of questions from which it pays."""
    (one,) = found(tmp_path, call(0, READ), call(10, READ, "long q1 end"))
    assert (one.lifetime_s, one.pays_from, one.prefixes) == (None, None, 2)
    assert "| several |" in " ".join(render(summarize(log.read_run(tmp_path))).split())


def test_a_silent_cache_is_told_of_the_requests_that_told(tmp_path: Path) -> None:
    """Two of three requests say that nothing was written or read; of the third nobody knows."""
    write_run(tmp_path, [call(0, NOTHING), call(10, NOTHING), call(20, {"input": 100})], prompts=PROMPTS, **CACHES)
    text = render(summarize(log.read_run(tmp_path)))
    assert "rag: silent no-cache: nothing was written or read in 2 requests" in text
    assert "rag: 1 of 3 requests told no counters" in text


def test_a_run_without_a_cache_has_no_such_figures(tmp_path: Path) -> None:
    """Words of a document that look like the key are none: there the quotes are escaped."""
    text = {"text": b'{"type":"text","text":"say \\"cache_control\\": {}"}'}
    assert not Prefixes(text)
    write_run(
        tmp_path, [record("a", turns=(turn(prompt=("text",), usage=Usage(input=1, cache_read=0)),))], prompts=text
    )
    run = log.read_run(tmp_path)
    assert caching(run, text) == ()
    assert "Prompt cache" not in render(summarize(run))


def test_every_cache_figure_stands_in_its_column(tmp_path: Path) -> None:
    """Two prefixes primed for 0.05 each; two trials read 120 of 166 tokens at 0.01 and 0.02, one of them failing; one
    wrote 7 and 4 at 0.08."""
    failing = {"outcome": "failed", "reason": "timeout", "trial_ttft_ns": None}
    both = {"input": 5, "cache_read": 0, "cache_write_5m": 7, "cache_write_1h": 4}
    primers = [
        call(at, WROTE, f"one {what} end", purpose="prime", phase="probe", cost="0.05")
        for at, what in enumerate(("docs", "edit"))
    ]
    found(
        tmp_path,
        call(10, READ, cost="0.01", trial_ttft_ns=100 * MS),
        call(20, {"input": 20, "cache_read": 30}, cost="0.02", **failing),
        call(30, both, "edit q1 end", cost="0.08", trial_ttft_ns=900 * MS),
        probes=tuple(primers),
    )
    assert [table.rows for table in tables(summarize(log.read_run(tmp_path)))] == [
        (("rag", "5m", "2", "2/3", ".723", "120", "1", "11", "2: 0.1000 USD", "512", "5"),),
        (("rag", "2", "0.100*/0.100*", "1/2", "0.01500", "1", "0.900*/0.900*", "1/1", "0.08000"),),
        (
            ("rag", "priming", "changed", "1", "90"), ("rag", "priming", "first", "1", "90"),
            ("rag", "trials", "unknown", "1", "11"),
        ),
    ]  # fmt: skip


def test_the_report_and_the_terminal_tell_it(tmp_path: Path) -> None:
    """Both tables, the reasons, and by name the arm whose prefix is silently not cached."""
    write_run(
        tmp_path, [call(0, WROTE), call(10, READ), *(call(at, NOTHING, "edit q1 end", arm="core") for at in (20, 30))],
        prompts=PROMPTS, **CACHES,
    )  # fmt: skip
    summary = summarize(log.read_run(tmp_path))
    text = render(summary)
    (row,) = (line for line in text[text.index("## Prompt cache") :].split("\n## ")[0].splitlines() if "| rag" in line)
    assert row.replace(" ", "") == "|rag|5m|1|1/2|.450|90|1|90|-|512|2|"
    assert "core: silent no-cache: nothing was written or read in 2 requests" in text
    console = Console(file=io.StringIO(), width=110)
    show(summary, console)
    assert "Warm and cold" in console.file.getvalue()  # type: ignore[attr-defined]
    (check,) = (one for one in plain(summary)["safeguards"] if one["name"] == "cache")
    assert check["verdict"] == "warned"
    assert "no call of core read any of it (2 asked), nothing was written" in check["sentence"]
