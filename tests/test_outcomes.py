"""Every outcome and reason, whole: a server that misbehaves, the socket, the worker, the record, the summary.

One run asks one question, twice, of as many models as there are cases; each model is a server of its own with a fault
of its own. What a case expects stands in its line. (Twice, so that the first time is measured under full load.)
`lost`, and what a killed driver leaves, is in `test_fleet_run.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from records import plain
from scripted_server import OK, Script, Step
from small_run import Fired, fire
from stream_events import blk, delta, end, error, json_, ping, reply, signature, start, stop, think, txt
from unfriendly_hosts import closed, deaf, plain_speaking

from loadrig.arms.agentic import Agentic
from loadrig.arms.control import Control
from loadrig.arms.instructions import DIRECT, ask_for
from loadrig.words.arm import Answer, Client
from loadrig.words.corpus import Corpus, Question
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.record import Record
from loadrig.words.settings import BudgetSettings, LimitSettings, ModelSettings, QuestionSettings
from plans import plan

PART = start() + blk("text") + txt("Part")
LIMITS = LimitSettings(connect=0.6, first_byte=0.5, first_token=0.6, gap=0.4, total=1.2)


@dataclass(frozen=True)
class Case:
    """A server's behaviour and what must be on record. `text` is what is kept of the reply."""

    script: Script | str
    outcome: str
    reason: str | None = None
    phase: str | None = None
    status: int | None = 200
    text: str = ""


def whole(*events: bytes, ended: str = "end_turn") -> Script:
    return Script([(0, b"".join(events) + delta(ended) + stop())])


def status(code: int, kind: str = "api_error", *headers: bytes) -> Script:
    body = f'{{"type":"error","error":{{"type":"{kind}","message":"told so"}}}}'.encode()
    lines = b"".join(header + b"\r\n" for header in headers)
    return Script(
        [(0, body)], head=b"HTTP/1.1 %d Odd\r\ncontent-length: %d\r\n%b\r\n" % (code, len(body), lines), chunked=False
    )


def raw(sent: bytes, *, head: bytes = b"") -> Script:
    return Script([(0, sent)], head=head, chunked=False, end="close")


def every(event: bytes, count: int, *, first: bytes = b"", step_ms: float = 40) -> list[Step]:
    return [(0, first + event), *((number * step_ms, event) for number in range(1, count))]


PLAIN_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n"
EARLY = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
THOUGHT = start() + blk("thinking") + think("hm") + end()

CASES = {
    "a reply": Case(Script([(0, reply("Yes"))]), "answered", text="Yes"),
    "informational responses first": Case(Script([(0, reply("Yes"))], head=EARLY + OK), "answered", text="Yes"),
    "cut after the stop reason": Case(
        Script([(0, PART + end() + delta("end_turn") + stop()[:20])], end="close"), "answered", text="Part"),
    "token limit, with text": Case(whole(PART, ended="max_tokens"), "unanswered", "cut_off", text="Part"),
    "token limit, thinking only": Case(whole(THOUGHT, ended="max_tokens"), "unanswered", "starved"),
    "context used up": Case(
        whole(PART, ended="model_context_window_exceeded"), "unanswered", "cut_off", text="Part"),
    "refusal without content": Case(whole(start(), ended="refusal"), "unanswered", "refused"),
    "refusal in mid-answer": Case(whole(PART, ended="refusal"), "unanswered", "refused", text="Part"),
    "nothing said": Case(whole(start()), "unanswered", "empty"),
    "blanks only": Case(whole(start(), blk("text"), txt(" \n")), "unanswered", "empty", text=" \n"),
    "hidden thinking only": Case(whole(start(), blk("thinking"), signature()), "unanswered", "empty"),
    "unknown stop reason": Case(whole(PART, ended="tired"), "unanswered", "other", text="Part"),
    "error after 200": Case(Script([(0, PART + error("api_error"))]), "failed", "stream_error", text="Part"),
    "overload after 200": Case(Script([(0, PART + error("overloaded_error"))]), "failed", "overloaded", text="Part"),
    "rate limit after 200": Case(
        Script([(0, PART + error("rate_limit_error"))]), "failed", "rate_limited", text="Part"),
    "clean end too early": Case(Script([(0, PART)]), "failed", "incomplete", text="Part"),
    "reset in mid-event": Case(
        Script([(0, PART), (30, txt("lost")[:-9])], end="reset"), "failed", "incomplete", text="Part"),
    "closed in mid-event": Case(
        Script([(0, PART), (30, txt("lost")[:-9])], end="close"), "failed", "incomplete", text="Part"),
    "closed without a word": Case(Script([], end="close"), "failed", "incomplete", status=None),
    "length too long": Case(raw(PART, head=PLAIN_HEAD % 9999), "failed", "incomplete", text="Part"),
    "length too short": Case(raw(PART, head=PLAIN_HEAD % 10), "failed", "incomplete"),
    "broken JSON": Case(Script([(0, PART + b"data: {oops\n\n")]), "failed", "protocol", text="Part"),
    "garbage status line": Case(raw(b"SSH-2.0-OpenSSH_9\r\n"), "failed", "protocol", status=None),
    "another protocol": Case(
        raw(b"HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"), "failed", "protocol", status=None),
    "gzip not asked for": Case(
        Script([(0, b"\x1f\x8b")], head=OK[:-2] + b"content-encoding: gzip\r\n\r\n"), "failed", "protocol"),
    "a page": Case(
        raw(b"<html>", head=b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n"),
        "failed", "protocol"),
    "redirect": Case(status(307, "x", b"location: http://127.0.0.1:9/"), "failed", "protocol", status=307),
    "400": Case(status(400, "invalid_request_error"), "failed", "http_4xx", status=400),
    "401": Case(status(401, "authentication_error"), "failed", "http_4xx", status=401),
    "413": Case(status(413, "request_too_large"), "failed", "http_4xx", status=413),
    "429": Case(status(429, "rate_limit_error"), "failed", "rate_limited", status=429),
    "500": Case(status(500), "failed", "http_5xx", status=500),
    "503": Case(raw(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"), "failed", "http_5xx", status=503),
    "529": Case(status(529, "overloaded_error"), "failed", "overloaded", status=529),
    "silence after accept": Case(Script([], end="hold"), "failed", "timeout", "first_byte", status=None),
    "slow headers": Case(
        Script(every(b"x: y\r\n", 40), head=b"HTTP/1.1 200 OK\r\n", chunked=False, end="hold"),
        "failed", "timeout", "first_token", status=None),
    "pings for ever": Case(Script(every(ping(), 40, first=start())), "failed", "timeout", "first_token"),
    "pings after some text": Case(Script(every(ping(), 40, first=PART)), "failed", "timeout", "gap", text="Part"),
    "text for ever": Case(Script(every(txt("a"), 40, first=start() + blk("text"))), "failed", "timeout", "total"),
    "nobody listens": Case("closed", "failed", "connect", status=None),
    "never accepted": Case("deaf", "failed", "timeout", "connect", status=None),
    "no TLS": Case("plain", "failed", "tls", status=None),
}  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fired]:
    """All cases at once, on the loop that runs use."""
    models = tuple(ModelSettings(id=name) for name in CASES)
    small = plan(
        model=models, limits=LIMITS, load={"concurrency": (len(CASES),)},
        questions=QuestionSettings(path="questions/tiny.jsonl", limit=1), repetitions=2,
    )  # fmt: skip
    with ExitStack() as stack:
        unfriendly = {"closed": closed(), "deaf": deaf(), "plain": plain_speaking()}
        hosts = {name: stack.enter_context(host) for name, host in unfriendly.items()}
        scripts = {
            name: hosts.get(case.script, case.script) if isinstance(case.script, str) else [case.script]
            for name, case in CASES.items()
        }
        yield fire(small, scripts, tmp_path_factory.mktemp("outcomes"), loop="uvloop")


@pytest.mark.parametrize("name", CASES)
def test_it_is_on_record(ran: Fired, name: str) -> None:
    """Outcome, reason, phase and status, and the text that had come; a request a trial, for nothing is retried."""
    case = CASES[name]
    record = ran.records(name)[0]
    failure, attempt = record.failure, record.turns[0].attempts[-1]
    assert (record.outcome, record.reason) == (case.outcome, case.reason), failure
    assert (attempt.http_status, failure.phase if failure else None) == (case.status, case.phase)
    assert case.phase == "total" or record.answer == case.text
    if name in ran.servers:
        assert len(ran.servers[name].requests) == 2
        assert len(record.turns[0].attempts) == 1


@pytest.mark.parametrize("name", CASES)
def test_it_is_counted_in_the_summary(ran: Fired, name: str) -> None:
    """Both trials of its model, with their outcome; in the latency of successes only if they are, then with a value."""
    case = CASES[name]
    summary = plain(ran.summary)
    (figures,) = (arm for arm in summary["arms"] if arm["model"] == name)
    assert figures["outcomes"] == [{"outcome": case.outcome, "reason": case.reason, "phase": case.phase, "n": 2}]
    is_success = case.outcome == "answered" or case.reason == "cut_off"
    assert (figures["service"]["ok"] > 0) is is_success
    assert (figures["ttft"]["successes"]["p50"] is not None) is is_success


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.outcome == "failed"])
def test_a_failure_has_no_latency_and_says_what_happened(ran: Fired, name: str) -> None:
    """No turn figures, a reason in words, and a bill that is open when tokens had been reported."""
    record = ran.records(name)[0]
    (turn,) = record.turns
    assert (turn.ttft_ns, turn.tpot_ns, turn.gaps) == (None, None, None)
    assert record.failure is not None
    assert record.failure.detail
    assert record.usage is None or not record.usage.exact


def test_all_of_them_balance(ran: Fired) -> None:
    """Planned is answered + unanswered + failed + not run, with nothing missing."""
    counts = ran.summary.counts[0]
    expected = Counter(case.outcome for case in CASES.values())
    assert (counts.planned, counts.balanced, counts.not_run) == (2 * len(CASES), True, 0)
    assert (counts.answered, counts.unanswered, counts.failed) == (
        2 * expected["answered"], 2 * expected["unanswered"], 2 * expected["failed"],
    )  # fmt: skip


def test_a_refused_redirect_names_where_it_led(ran: Fired) -> None:
    """Not followed, and said."""
    record = ran.records("redirect")[0]
    assert record.failure is not None
    assert record.failure.detail == "redirect to http://127.0.0.1:9/ not followed"


def test_no_trial_outlives_its_limit(ran: Fired) -> None:
    """Whatever the server did, each trial was over a moment after the 1.2 s it had at most."""
    assert max(record.service_ns or 0 for record in ran.run.records) < 2_200_000_000


CALL = start() + blk("tool_use", name="search") + json_('{"query":"key"}') + end() + delta("tool_use") + stop()


def test_an_agent_that_never_answers_ends_at_its_cap(tmp_path: Path) -> None:
    """Three turns allowed, a tool call in each: unanswered/turn_cap after exactly three requests, tokens of all."""
    small = plan(
        Agentic(turn_cap=3), model=(ModelSettings(id="m-1"),),
        questions=QuestionSettings(path="questions/tiny.jsonl", limit=1),
    )  # fmt: skip
    found = fire(small, {"m-1": [Script([(0, CALL)])]}, tmp_path)
    (record,) = found.run.records
    assert (record.outcome, record.reason, len(record.turns)) == ("unanswered", "turn_cap", 3)
    assert len(found.servers["m-1"].requests) == 3
    assert record.usage is not None
    assert record.usage.output == 15
    assert found.summary.arms[0].tools.capped == 1


@dataclass(frozen=True, slots=True)
class Thrifty:
    """An arm that gives up after one turn because its own budget is used up."""

    name: str = "thrifty"
    retrievers: tuple[str, ...] = ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        return 100

    async def answer(self, question: Question, client: Client) -> Answer:
        asked = Prompt(DIRECT, (Ask((Part(ask_for(question.question)),)),))
        return Answer(await client.ask(asked), stopped="budget")


def test_an_arm_that_stops_for_its_budget_is_no_answer(tmp_path: Path) -> None:
    """Unanswered/budget, paid and counted."""
    found = fire(plan(Thrifty(), model=(ModelSettings(id="m-1"),)), {"m-1": [Script([(0, reply())])]}, tmp_path)
    assert {(r.outcome, r.reason) for r in found.run.records} == {("unanswered", "budget")}
    assert found.summary.counts[0].unanswered == 4


def test_what_a_budget_leaves_is_not_run(tmp_path: Path) -> None:
    """700 tokens and replies of 309: two fit, two are not_run/budget, and nothing was sent for them."""
    model, long = ModelSettings(id="m-1", max_tokens=300), delta("end_turn", {"output_tokens": 300}) + stop()
    small = plan(Control(), model=(model,), budget=BudgetSettings(tokens=700), load={"concurrency": (1,)})
    found = fire(small, {"m-1": [Script([(0, PART + end() + long)])]}, tmp_path)
    outcomes = Counter((r.outcome, r.reason) for r in found.run.records)
    assert outcomes == {("answered", None): 2, ("not_run", "budget"): 2}
    assert len(found.servers["m-1"].requests) == 2
    assert found.summary.counts[0].balanced


class StopAfter:
    """An observer that stops the run once so many records have come."""

    def __init__(self, number: int) -> None:
        self.number, self.stop = number, lambda: None

    def record(self, record: Record) -> None:
        self.number -= 1
        if self.number == 0:
            self.stop()

    def started(self, info: object) -> None: ...
    def pulse(self, pulse: object) -> None: ...
    def finished(self) -> None: ...


def test_a_stopped_run_cancels_what_is_in_flight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answered one stays, what is in flight for ever fails as cancelled with what had come, the sum holds."""
    monkeypatch.setattr("loadrig.fleet.driver.GRACE_S", 0.1)
    endless = Script([(0, PART)], end="hold")
    found = fire(
        plan(Control(), model=(ModelSettings(id="m-1"),)), {"m-1": [endless, Script([(0, reply())]), endless]},
        tmp_path, stopper=StopAfter(1),
    )  # fmt: skip
    outcomes = Counter((r.outcome, r.reason) for r in found.run.records)
    assert outcomes["answered", None] == 1
    assert outcomes["failed", "cancelled"] >= 1
    assert outcomes.total() == 4
    assert {r.answer for r in found.run.records if r.reason == "cancelled"} == {"Part"}
    assert found.summary.counts[0].balanced
