"""Faults met in the trade, whole: from the server's bytes through socket, worker and record to the summary.

The finer points of each (which read, which event, which bound) are held in `tests/wire/test_faults_*.py`; here a number
that was right on the wire must still be right in the file and in the report. One run, a model for each fault, asked
four times; prices a million tokens: input 3.00, output 15.00, writes 3.75 and 6.00, reads 0.30. `docs/faults.md` lists
them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from records import plain
from scripted_server import Script
from small_run import Fired, fire
from stream_events import blk, delta, end, event, json_, piece, ping, reply, signature, start, stop, think, txt

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


def done(reason: str = "end_turn", usage: dict[str, Any] | None = None, index: int = 0) -> bytes:
    return end(index) + delta(reason, usage) + stop()


def counted(first: dict[str, Any], *last: dict[str, Any], model: str = "m-1") -> tuple[bytes, ...]:
    """A plain reply with these counters at its start and in each message_delta."""
    between = b"".join(delta(None, usage) for usage in last[:-1])
    return (start(model, **first) + blk("text") + txt("a"), between + done(usage=last[-1]))


OPEN = start() + blk("text")
BARE = b"".join(b"data: " + frame.partition(b"data: ")[2] for frame in reply("Hello").split(b"event: ")[1:])
NEWS = event({"type": "brand_new"}) + piece({"type": "odd_delta"}) + blk("novelty", 1) + end(1)
TWO_LINES = b'data: {"type":"content_block_delta","index":0,\ndata: "delta":{"type":"text_delta","text":"Hi"}}\n\n'
LUMP = OPEN + b"".join(txt(f"{n} ") for n in range(40)) + done()
HIDDEN = start() + blk("thinking") + signature() + end() + blk("text", 1)
THOUGHT = {"output_tokens": 120, "output_tokens_details": {"thinking_tokens": 80}}
SPLIT = {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 3000}
WRITTEN = {"input_tokens": 20, "cache_creation_input_tokens": 4000}

CASES = {
    "A1": Case((start(), blk("text"), txt(""), txt("Yes"), done()), "Yes", first=(3, 3)),
    "A2": Case((start(), ping(), b": hold\n\n", OPEN[len(start()):], txt("Blue"), done()), "Blue", first=(4, 4)),
    "A3": Case((start(), blk("thinking"), think("Let"), end() + blk("text", 1), txt("42", 1), done(index=1)), "42",
               first=(2, 4)),
    "A4": Case((start(), blk("tool_use"), json_('{"q":'), json_('"x"}'), done("tool_use")), "", first=(2, None),
               summary={"ttfat.successes.p50": None}),
    "A5": Case((start(), delta("end_turn", {"output_tokens": 1}), stop()), "", "unanswered", first=(None, None),
               summary={"ttft.successes.p50": None, "ttft.ok": 0}),
    "A7": Case((start(), blk("thinking") + signature(), end() + blk("redacted_thinking", 1, data="x") + end(1)
                + blk("text", 2), txt("Ok", 2), done(index=2)), "Ok", first=(3, 3)),
    "A8": Case((b": open\n\n", LUMP), "".join(f"{n} " for n in range(40)), first=(1, 1), every_ms=40,
               summary={"gap_max.p50": None, "tpot.p50": None}),
    "B1": Case((OPEN, txt("a"), txt("b"), txt("c"), txt("d"), done(usage={"output_tokens": 31})), "abcd", every_ms=30),
    "B4": Case((OPEN, txt("a"), done(usage=THOUGHT)),
               "a", usage={"output": 120, "thinking": 80},
               summary={"tokens_per_question.output": 120, "tokens_per_question.thinking": 80}),
    "B4 hidden": Case((HIDDEN, txt("a", 1), txt("b", 1), done(usage=THOUGHT, index=1)), "ab", every_ms=60),
    "B4 unknown": Case((HIDDEN, txt("a", 1), txt("b", 1), done(usage={"output_tokens": 120}, index=1)), "ab",
                       every_ms=60, summary={"tpot.p50": None}),
    "B5": Case((OPEN, txt("a"), done(usage={"output_tokens": 1})), "a",
               summary={"tpot.p50": None, "gap_max.p50": None}),
    "C1 CRLF": Case((reply("Hello").replace(b"\n", b"\r\n"),), "Hello"),
    "C1 CR": Case((reply("Hello").replace(b"\n", b"\r"),), "Hello"),
    "C2": Case(tuple(reply("naïve \u2013 北")[at:at + 1] for at in range(len(reply("naïve \u2013 北")))),
               "naïve \u2013 北", every_ms=0),
    "C3": Case((reply("a\u2028b\u0085c"),), "a\u2028b\u0085c"),
    "C4": Case((OPEN, TWO_LINES, done()), "Hi"),
    "C5": Case((reply("Hello").replace(b": {", b":{"),), "Hello"),
    "C6": Case((b"\xef\xbb\xbf" + reply("Hello"),), "Hello", usage={"input": 9}),
    "C7": Case((reply("x" * 300_000),), "x" * 300_000),
    "C9": Case((OPEN, txt("Hi"), NEWS + done("tired", {"output_tokens": 7})), "Hi", "unanswered", usage={"output": 7}),
    "C10": Case((BARE,), "Hello"),
    "E1": Case(counted({"input_tokens": 90, "cache_read_input_tokens": 400, "output_tokens": 1},
                       {"input_tokens": 90, "cache_read_input_tokens": 400, "output_tokens": 55}), "a",
               usage={"input": 90, "cache_read": 400, "output": 55}, summary={"tokens_per_question.prompt": 490}),
    "E2": Case(counted({"input_tokens": 90, "output_tokens": 1}, {"output_tokens": 55}), "a",
               usage={"input": 90, "output": 55}),
    "E3 zero": Case(counted({"input_tokens": 90}, {"input_tokens": 0, "output_tokens": 55}), "a", usage={"input": 90}),
    "E3 null": Case(counted({"input_tokens": 90}, {"input_tokens": None, "output_tokens": 55}), "a",
                    usage={"input": 90}),
    "E4": Case(counted({"input_tokens": 90}, {"input_tokens": 130, "output_tokens": 55}), "a", usage={"input": 130}),
    "E5": Case(counted({"input_tokens": 9}, {"output_tokens": 20}, {"output_tokens": 55}), "a", usage={"output": 55}),
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


def broken_off(name: str) -> bool:
    return name == "E6"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Fired:
    """All of them at once, on the loop that runs use."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "prices.toml").write_text(ROW.format(model="m-1") + ROW.format(model="m-20260101"))
    small = plan(
        model=tuple(ModelSettings(id=name) for name in CASES), repetitions=4, load={"concurrency": (len(CASES),)},
        questions=QuestionSettings(path="questions/tiny.jsonl", limit=1),
        prices=PriceSettings(path=str(folder / "prices.toml")),
    )  # fmt: skip
    scripts = {
        name: [Script([(n * case.every_ms, sent) for n, sent in enumerate(case.events)],
                      end="reset" if broken_off(name) else "keep")]
        for name, case in CASES.items()
    }  # fmt: skip
    return fire(small, scripts, folder, loop="uvloop")


@pytest.mark.parametrize("name", CASES)
def test_the_record_is_right(ran: Fired, name: str) -> None:
    """Outcome, text, the events that were the first tokens, counters, money: in all four records of the fault."""
    case = CASES[name]
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


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.summary])
def test_the_summary_is_right(ran: Fired, name: str) -> None:
    """The figures of the fault's model, as summary.json has them: null where nothing was to measure."""
    (figures,) = (arm for arm in plain(ran.summary)["arms"] if arm["model"] == name)
    for path, expected in CASES[name].summary.items():
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


def test_a3_the_two_first_tokens_are_two_figures_of_the_summary(ran: Fired) -> None:
    """First token and first answer are 30 ms apart on the wire, and in the summary."""
    found = figures_of(ran, "A3")
    apart_ns = found["ttfat"]["successes"]["p50"]["value_ns"] - found["ttft"]["successes"]["p50"]["value_ns"]
    assert 15 * MS < apart_ns < 120 * MS


def test_a7_hidden_thinking_is_counted_where_first_tokens_are_shown(ran: Fired) -> None:
    """Every timed first turn of that model had it; of A3, whose thinking was shown, none."""
    hidden, shown = (figures_of(ran, name)["first_turns"] for name in ("A7", "A3"))
    assert hidden["hidden_thinking"] == hidden["n"] > 0
    assert shown["hidden_thinking"] == 0


def test_a8_bursts_are_counted(ran: Fired) -> None:
    """All timed replies of that model came in one burst."""
    found = figures_of(ran, "A8")["first_turns"]
    assert found["burst"] == found["n"] > 0


def test_b1_b2_b3_gaps_and_rates_keep_their_units(ran: Fired) -> None:
    """Four texts 30 ms apart, 31 tokens: three gaps of about 30 ms, (90 ms) / 30 = 3 ms a token, never 30 or 120."""
    for record in ran.records("B1"):
        (turn,) = record.turns
        assert turn.gaps is not None
        assert turn.tpot_ns is not None
        assert turn.gaps.count == 3
        assert 2 * MS < turn.tpot_ns < 6 * MS


def test_b4_hidden_thinking_is_not_among_the_visible_tokens(ran: Fired) -> None:
    """Two texts 60 ms apart, 120 tokens of which 80 were hidden: 60 / 39 = 1.5 ms a token, not 60 / 119 = 0.5."""
    for record in ran.records("B4 hidden"):
        assert MS < (record.turns[0].tpot_ns or 0) < 3 * MS


def test_f4_the_rule_for_an_unknown_split_is_told(ran: Fired) -> None:
    """The note of all four requests stands among the summary's warnings; so does F6's reason."""
    told = ran.summary.warnings
    assert "cost of 4 requests: write split unknown: 5-minute price" in told
    assert "cost of 4 requests: no price for model 'unpriced'" in told


def test_f7_both_ids_are_on_record(ran: Fired) -> None:
    """What was asked for and what answered."""
    assert {(r.model, r.reply_model) for r in ran.records("F7")} == {("F7", "m-20260101")}


def test_f_the_lines_of_the_bill_are_its_total(ran: Fired) -> None:
    """Over all the faults at once, to the last digit."""
    bill = ran.summary.bill
    lines = [Decimal(line.money.amount) for line in bill.lines if line.money.amount]
    assert sum(lines) == Decimal(bill.total.amount or "nan")


def test_d11_one_hanging_trial_costs_no_other(tmp_path: Path) -> None:
    """Four questions, the last of which hangs past the limit: three answers are kept, one has timed out."""
    small = plan(model=(ModelSettings(id="m-1"),), limits=LimitSettings(total=0.4), load={"concurrency": (1,)})
    good = Script([(0, reply("Yes"))])
    found = fire(small, {"m-1": [good, good, good, Script([(0, OPEN)], end="hold")]}, tmp_path)
    assert [(r.outcome, r.reason) for r in found.run.records] == [("answered", None)] * 3 + [("failed", "timeout")]


def test_e7_a_trials_tokens_are_the_sum_of_its_turns(tmp_path: Path) -> None:
    """Three turns of 60, 70 and 120 output tokens: each in its turn's row, 250 in the record and in the summary."""
    call = start() + blk("tool_use", name="search") + json_('{"query":"key"}')
    scripts = [Script([(0, call + done("tool_use", {"output_tokens": n}))]) for n in (60, 70)]
    scripts.append(Script([(0, OPEN + txt("Yes") + done(usage={"output_tokens": 120}))]))
    small = plan(
        Agentic(), model=(ModelSettings(id="m-1"),), questions=QuestionSettings(path="questions/tiny.jsonl", limit=1)
    )
    found = fire(small, {"m-1": scripts}, tmp_path)
    (record,) = found.run.records
    assert [turn.usage and turn.usage.output for turn in record.turns] == [60, 70, 120]
    assert record.usage is not None
    assert record.usage.output == found.summary.arms[0].tokens_per_question.output == 250
    assert [turn.output for turn in found.summary.arms[0].by_turn] == [60, 70, 120]
