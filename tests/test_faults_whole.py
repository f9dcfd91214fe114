"""Faults met in the trade, whole: from the server's bytes through socket, worker and record to the summary.

The finer points of each (which read, which event, which bound) are held in `tests/wire/test_faults_*.py`; here a number
that was right on the wire must still be right in the file and in the report. One run a dialect, a model for each fault,
asked four times; prices a million tokens: input 3.00, output 15.00, writes 3.75 and 6.00, reads 0.30. `docs/faults.md`
lists them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import chat_events
import pytest
import stream_events
from records import plain
from scripted_server import Script
from small_run import Fired, fire
from stream_events import blk, end, event, piece, reply

from loadrig.arms.agentic import Agentic
from loadrig.words.settings import LimitSettings, ModelSettings, PriceSettings, QuestionSettings
from plans import plan

MS = 1_000_000
ROW = """[[price]]
model = "{model}"
effective_from = 2020-01-01
source = "invented"
seen = 2026-11-01
currency = "$"
input = "3.00"
output = "15.00"
cache_write_5m = "3.75"
cache_write_1h = "6.00"
cache_read = "0.30"
"""


@dataclass(frozen=True)
class Case:
    """What the server sends, each event so many milliseconds after the last, and what must be on record.

    `first` are the numbers of the sent events that were the first token and the first answer token; `usage` names
    counters of the record; `summary` is a path of keys in the arm's figures -> value.
    """

    events: tuple[bytes, ...]
    text: str = ""
    outcome: str = "answered"
    first: tuple[int | None, int | None] | None = None
    usage: dict[str, int | None] = field(default_factory=dict)
    cost: str | None = None
    summary: dict[str, Any] = field(default_factory=dict)
    every_ms: float = 15


def ended(say: ModuleType, reason: str = "end_turn", usage: dict[str, Any] | None = None, index: int = 0) -> bytes:
    return bytes(say.end(index) + say.delta(reason, usage) + say.stop())


def told(say: ModuleType, first: dict[str, Any], *last: dict[str, Any], model: str = "m-1") -> tuple[bytes, ...]:
    """A plain reply with these counters at its start and in each message_delta."""
    between = b"".join(say.delta(None, usage) for usage in last[:-1])
    return (say.start(model, **first) + say.blk("text") + say.txt("a"), between + ended(say, usage=last[-1]))


BARE = b"".join(b"data: " + frame.partition(b"data: ")[2] for frame in reply("Hello").split(b"event: ")[1:])
NEWS = event({"type": "brand_new"}) + piece({"type": "odd_delta"}) + blk("novelty", 1) + end(1)
TWO_LINES = b'data: {"type":"content_block_delta","index":0,\ndata: "delta":{"type":"text_delta","text":"Hi"}}\n\n'
THOUGHT = {"output_tokens": 120, "output_tokens_details": {"thinking_tokens": 80}}
SPLIT = {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 3000}
WRITTEN = {"input_tokens": 20, "cache_creation_input_tokens": 4000}


def cases(say: ModuleType) -> dict[str, Case]:
    """By fault, as a dialect says it."""
    start, blk, txt, think, json_ = say.start, say.blk, say.txt, say.think, say.json_
    signature, end, delta, stop, ping, reply = say.signature, say.end, say.delta, say.stop, say.ping, say.reply
    done, counted = partial(ended, say), partial(told, say)
    opening = start() + blk("text")
    lump = opening + b"".join(txt(f"{n} ") for n in range(40)) + done()
    hidden = start() + blk("thinking") + signature() + end() + blk("text", 1)
    return {
        "A1": Case((start(), blk("text"), txt(""), txt("Yes"), done()), "Yes", first=(3, 3)),
        "A2": Case((start(), ping(), b": hold\n\n", blk("text"), txt("Blue"), done()), "Blue", first=(4, 4)),
        "A3": Case((start(), blk("thinking"), think("Let"), end() + blk("text", 1), txt("42", 1), done(index=1)), "42",
                   first=(2, 4)),
        "A4": Case((start(), blk("tool_use"), json_('{"q":'), json_('"x"}'), done("tool_use")), "", first=(2, None),
                   summary={"ttfat.successes.p50": None}),
        "A5": Case((start(), delta("end_turn", {"output_tokens": 1}), stop()), "", "unanswered", first=(None, None),
                   summary={"ttft.successes.p50": None, "ttft.ok": 0}),
        "A7": Case((start(), blk("thinking") + signature(), end() + blk("redacted_thinking", 1, data="x") + end(1)
                    + blk("text", 2), txt("Ok", 2), done(index=2)), "Ok", first=(3, 3)),
        "A8": Case((b": open\n\n", lump), "".join(f"{n} " for n in range(40)), first=(1, 1), every_ms=40,
                   summary={"gap_max.p50": None, "tpot.p50": None}),
        "B1": Case((opening, txt("a"), txt("b"), txt("c"), txt("d"), done(usage={"output_tokens": 31})), "abcd",
                   every_ms=30),
        "B4": Case((opening, txt("a"), done(usage=THOUGHT)),
                   "a", usage={"output": 120, "thinking": 80},
                   summary={"tokens_per_question.output": 120, "tokens_per_question.thinking": 80}),
        "B4 hidden": Case((hidden, txt("a", 1), txt("b", 1), done(usage=THOUGHT, index=1)), "ab", every_ms=60),
        "B4 unknown": Case((hidden, txt("a", 1), txt("b", 1), done(usage={"output_tokens": 120}, index=1)), "ab",
                           every_ms=60, summary={"tpot.p50": None}),
        "B5": Case((opening, txt("a"), done(usage={"output_tokens": 1})), "a",
                   summary={"tpot.p50": None, "gap_max.p50": None}),
        "C1 CRLF": Case((reply("Hello").replace(b"\n", b"\r\n"),), "Hello"),
        "C1 CR": Case((reply("Hello").replace(b"\n", b"\r"),), "Hello"),
        "C2": Case(tuple(reply("naïve \u2013 北")[at:at + 1] for at in range(len(reply("naïve \u2013 北")))),
                   "naïve \u2013 北", every_ms=0),
        "C3": Case((reply("a\u2028b\u0085c"),), "a\u2028b\u0085c"),
        "C4": Case((opening, TWO_LINES, done()), "Hi"),
        "C5": Case((reply("Hello").replace(b": {", b":{"),), "Hello"),
        "C6": Case((b"\xef\xbb\xbf" + reply("Hello"),), "Hello", usage={"input": 9}),
        "C7": Case((reply("x" * 300_000),), "x" * 300_000),
        "C9": Case((opening, txt("Hi"), NEWS + done("tired", {"output_tokens": 7})), "Hi", "unanswered",
                   usage={"output": 7}),
        "C10": Case((BARE,), "Hello"),
        "E1": Case(counted({"input_tokens": 90, "cache_read_input_tokens": 400, "output_tokens": 1},
                           {"input_tokens": 90, "cache_read_input_tokens": 400, "output_tokens": 55}), "a",
                   usage={"input": 90, "cache_read": 400, "output": 55}, summary={"tokens_per_question.prompt": 490}),
        "E2": Case(counted({"input_tokens": 90, "output_tokens": 1}, {"output_tokens": 55}), "a",
                   usage={"input": 90, "output": 55}),
        "E3 zero": Case(counted({"input_tokens": 90}, {"input_tokens": 0, "output_tokens": 55}), "a",
                        usage={"input": 90}),
        "E3 null": Case(counted({"input_tokens": 90}, {"input_tokens": None, "output_tokens": 55}), "a",
                        usage={"input": 90}),
        "E4": Case(counted({"input_tokens": 90}, {"input_tokens": 130, "output_tokens": 55}), "a",
                   usage={"input": 130}),
        "E5": Case(counted({"input_tokens": 9}, {"output_tokens": 20}, {"output_tokens": 55}), "a",
                   usage={"output": 55}),
        "E6": Case((start(input_tokens=90, output_tokens=1) + blk("text") + b"".join(txt("a") for _ in range(12)),),
                   "a" * 12, "failed", usage={"input": 90, "output": 1}, cost="0.000285",
                   summary={"cost.total.at_least": True}),
        "E8": Case(counted({"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 8000},
                           {"output_tokens": 5}), "a", usage={"input": 12, "cache_read": 8000},
                   summary={"tokens_per_question.prompt": 8012, "tokens_per_question.uncached": 12}),
        "E9": Case(counted({"input_tokens": -5, "cache_read_input_tokens": "12"}, {"output_tokens": 5}), "a",
                   usage={"input": None, "cache_read": None, "output": 5}, summary={"cost.total.at_least": True}),
        "F1": Case(counted({"input_tokens": 12, "cache_creation_input_tokens": 8000,
                            "cache_creation": {"ephemeral_5m_input_tokens": 8000}}, {"output_tokens": 200}), "a",
                   cost="0.033036", summary={"cost.per_asked": "0.033036"}),
        "F2 F3": Case(counted({"input_tokens": 12, "cache_read_input_tokens": 8000}, {"output_tokens": 200}), "a",
                      cost="0.005436", summary={"cost.per_asked": "0.005436"}),
        "F4 F5": Case(counted({**WRITTEN, "cache_creation": SPLIT}, {"output_tokens": 100}), "a", cost="0.02331",
                      usage={"cache_write_5m": 1000, "cache_write_1h": 3000},
                      summary={"cost.per_asked": "0.02331", "tokens_per_question.cache_write": 4000}),
        "F4 no split": Case(counted(WRITTEN, {"output_tokens": 100}), "a", cost="0.01656"),
        "F6": Case(counted({"input_tokens": 9}, {"output_tokens": 5}, model="unpriced"), "a", cost=None,
                   summary={"cost.total.amount": None, "cost.total.unknown": 4, "cost.per_asked": None}),
        "F7": Case(counted({"input_tokens": 9}, {"output_tokens": 5}, model="m-20260101"), "a", cost="0.000102"),
        "F8": Case(counted({"input_tokens": 1, "cache_read_input_tokens": 1}, {"output_tokens": 1}), "a",
                   cost="0.0000183", summary={"cost.total.amount": "0.0000732"}),
    }  # fmt: skip


# Faults of what the Messages API alone has: blocks, event types, cache writes that are told with their lifetime.
OF_MESSAGES = {"A7", "B4 unknown", "C4", "C9", "C10", "F1", "F4 F5", "F4 no split"}
CASES = {
    "anthropic": cases(stream_events),
    "openai": {name: case for name, case in cases(chat_events).items() if name not in OF_MESSAGES},
}
BOTH = [(provider, name) for provider, found in CASES.items() for name in found]
both_dialects = pytest.mark.parametrize("provider", CASES)


def broken_off(name: str) -> bool:
    return name == "E6"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fired]:
    """All of a dialect's at once, on the loop that runs use."""
    return {provider: fired(provider, tmp_path_factory.mktemp("faults")) for provider in CASES}


def fired(provider: str, folder: Path) -> Fired:
    wanted = CASES[provider]
    (folder / "prices.toml").write_text(ROW.format(model="m-1") + ROW.format(model="m-20260101"))
    small = plan(
        model=tuple(ModelSettings(id=name, provider=provider) for name in wanted), repetitions=4,
        load={"concurrency": (len(wanted),)},
        questions=QuestionSettings(path="questions/tiny.jsonl", limit=1),
        prices=PriceSettings(path=str(folder / "prices.toml")),
    )  # fmt: skip
    scripts = {
        name: [Script([(n * case.every_ms, sent) for n, sent in enumerate(case.events)],
                      end="reset" if broken_off(name) else "keep")]
        for name, case in wanted.items()
    }  # fmt: skip
    return fire(small, scripts, folder, loop="uvloop")


@pytest.mark.parametrize(("provider", "name"), BOTH)
def test_the_record_is_right(runs: dict[str, Fired], provider: str, name: str) -> None:
    """Outcome, text, the events that were the first tokens, counters, money: in all four records of the fault."""
    case, ran = CASES[provider][name], runs[provider]
    for place, record in enumerate(ran.records(name)):
        attempt = record.turns[0].attempts[0]
        assert (record.outcome, record.answer) == (case.outcome, case.text)
        if case.first is not None:
            order = [r.trial for r in sorted(ran.records(name), key=lambda r: r.begin_ns or 0)]
            step = ran.servers[name].step_of
            stamps = (attempt.first_token_ns, attempt.first_answer_ns)
            assert tuple(step(stamp, order.index(record.trial)) for stamp in stamps) == case.first, place
        assert {counter: getattr(record.usage, counter) for counter in case.usage} == case.usage
        if case.cost is not None or name == "F6":
            assert (record.cost and Decimal(record.cost)) == (case.cost and Decimal(case.cost))
            assert record.currency == "$"


@pytest.mark.parametrize(("provider", "name"), [one for one in BOTH if CASES[one[0]][one[1]].summary])
def test_the_summary_is_right(runs: dict[str, Fired], provider: str, name: str) -> None:
    """The figures of the fault's model, as summary.json has them: null where nothing was to measure."""
    figures = figures_of(runs[provider], name)
    for path, expected in CASES[provider][name].summary.items():
        found: Any = figures
        for key in path.split("."):
            found = found[key]
        if isinstance(expected, str):
            assert Decimal(found) == Decimal(expected), path
        else:
            assert found == expected, path


def figures_of(ran: Fired, name: str) -> Any:
    (figures,) = (arm for arm in plain(ran.summary)["arms"] if arm["model"] == name)
    return figures


@both_dialects
def test_a3_the_two_first_tokens_are_two_figures_of_the_summary(runs: dict[str, Fired], provider: str) -> None:
    """First token and first answer are 30 ms apart on the wire, and in the summary."""
    ran = runs[provider]
    found = figures_of(ran, "A3")
    apart_ns = found["ttfat"]["successes"]["p50"]["value_ns"] - found["ttft"]["successes"]["p50"]["value_ns"]
    assert 15 * MS < apart_ns < 120 * MS


def test_a7_hidden_thinking_is_counted_where_first_tokens_are_shown(runs: dict[str, Fired]) -> None:
    """Every timed first turn of that model had it; of A3, whose thinking was shown, none."""
    ran = runs["anthropic"]
    hidden, shown = (figures_of(ran, name)["first_turns"] for name in ("A7", "A3"))
    assert hidden["hidden_thinking"] == hidden["n"] > 0
    assert shown["hidden_thinking"] == 0


@both_dialects
def test_a8_bursts_are_counted(runs: dict[str, Fired], provider: str) -> None:
    """All timed replies of that model came in one burst."""
    ran = runs[provider]
    found = figures_of(ran, "A8")["first_turns"]
    assert found["burst"] == found["n"] > 0


@both_dialects
def test_b1_b2_b3_gaps_and_rates_keep_their_units(runs: dict[str, Fired], provider: str) -> None:
    """Four texts 30 ms apart, 31 tokens: three gaps of about 30 ms, (90 ms) / 30 = 3 ms a token, never 30 or 120."""
    ran = runs[provider]
    for record in ran.records("B1"):
        (turn,) = record.turns
        assert turn.gaps is not None
        assert turn.tpot_ns is not None
        assert turn.gaps.count == 3
        assert 2 * MS < turn.tpot_ns < 6 * MS


@both_dialects
def test_b4_hidden_thinking_is_not_among_the_visible_tokens(runs: dict[str, Fired], provider: str) -> None:
    """Two texts 60 ms apart, 120 tokens of which 80 were hidden: 60 / 39 = 1.5 ms a token, not 60 / 119 = 0.5."""
    ran = runs[provider]
    for record in ran.records("B4 hidden"):
        assert MS < (record.turns[0].tpot_ns or 0) < 3 * MS


def test_f4_the_rule_for_an_unknown_split_is_told(runs: dict[str, Fired]) -> None:
    """The note of all four requests stands among the summary's warnings; so does F6's reason."""
    ran = runs["anthropic"]
    warnings = ran.summary.warnings
    assert "cost of 4 requests: write split unknown: 5-minute price" in warnings
    assert "cost of 4 requests: no price for model 'unpriced'" in warnings


@both_dialects
def test_f7_both_ids_are_on_record(runs: dict[str, Fired], provider: str) -> None:
    """What was asked for and what answered."""
    ran = runs[provider]
    assert {(r.model, r.reply_model) for r in ran.records("F7")} == {("F7", "m-20260101")}


@both_dialects
def test_f_the_lines_of_the_bill_are_its_total(runs: dict[str, Fired], provider: str) -> None:
    """Over all the faults at once, to the last digit."""
    ran = runs[provider]
    bill = ran.summary.bill
    lines = [Decimal(line.money.amount) for line in bill.lines if line.money.amount]
    assert sum(lines) == Decimal(bill.total.amount or "nan")


def test_d11_one_hanging_trial_costs_no_other(say: ModuleType, tmp_path: Path) -> None:
    """Four questions, the last of which hangs past the limit: three answers are kept, one has timed out."""
    small = plan(
        model=(ModelSettings(id="m-1", provider=say.PROVIDER),),
        limits=LimitSettings(total=0.4),
        load={"concurrency": (1,)},
    )
    good = Script([(0, say.reply("Yes"))])
    found = fire(small, {"m-1": [good, good, good, Script([(0, say.start() + say.blk("text"))], end="hold")]}, tmp_path)
    assert [(r.outcome, r.reason) for r in found.run.records] == [("answered", None)] * 3 + [("failed", "timeout")]


def test_e7_a_trials_tokens_are_the_sum_of_its_turns(say: ModuleType, tmp_path: Path) -> None:
    """Three turns of 60, 70 and 120 output tokens: each in its turn's row, 250 in the record and in the summary."""
    call = say.start() + say.blk("tool_use", name="search") + say.json_('{"query":"key"}')
    scripts = [Script([(0, call + ended(say, "tool_use", {"output_tokens": n}))]) for n in (60, 70)]
    scripts.append(
        Script([(0, say.start() + say.blk("text") + say.txt("Yes") + ended(say, usage={"output_tokens": 120}))])
    )
    small = plan(
        Agentic(),
        model=(ModelSettings(id="m-1", provider=say.PROVIDER),),
        questions=QuestionSettings(path="questions/tiny.jsonl", limit=1),
    )
    found = fire(small, {"m-1": scripts}, tmp_path)
    (record,) = found.run.records
    assert [turn.usage and turn.usage.output for turn in record.turns] == [60, 70, 120]
    assert record.usage is not None
    assert record.usage.output == found.summary.arms[0].tokens_per_question.output == 250
    assert [turn.output for turn in found.summary.arms[0].by_turn] == [60, 70, 120]
