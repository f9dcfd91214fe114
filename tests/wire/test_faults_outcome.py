"""Over a socket: what became of a request. What the target does wrong is a failure with its reason, never a crash."""

from __future__ import annotations

from types import ModuleType
from typing import Literal

import pytest
from asking import KEY, LOOPS, PROMPT, ask, asker, new_engine, run
from scripted_server import OK, Script, serving
from stream_events import blk, delta, end, signature, start, stop
from unfriendly_hosts import closed

from loadrig.words.record import Failure, Turn
from loadrig.words.settings import LimitSettings, RetrySettings

both_loops = pytest.mark.parametrize("loop", LOOPS)
MS = 1_000_000


def part(say: ModuleType) -> bytes:
    return bytes(say.start() + say.blk("text") + say.txt("Part"))


def status(code: int, body: bytes = b"", *headers: bytes) -> Script:
    lines = b"".join(header + b"\r\n" for header in headers)
    head = b"HTTP/1.1 %d Odd\r\ncontent-length: %d\r\n%b\r\n" % (code, len(body), lines)
    return Script([(0, body)], head=head, chunked=False)


def api_error(kind: str, message: str = "told so", code: str | None = None) -> bytes:
    details = "" if code is None else f',"details":{{"error_code":"{code}"}}'
    return f'{{"type":"error","error":{{"type":"{kind}","message":"{message}"{details}}}}}'.encode()


def failure(*scripts: Script, limits: LimitSettings | None = None, total_s: float | None = None) -> Failure:
    found = turn(*scripts, limits=limits, total_s=total_s).attempts[-1].failure
    assert found is not None
    return found


def turn(
    *scripts: Script,
    limits: LimitSettings | None = None,
    retry: RetrySettings | None = None,
    total_s: float | None = None,
) -> Turn:
    return ask(*scripts, limits=limits, retry=retry, total_s=total_s)[0].turn


def several(*scripts: Script) -> list[Turn]:
    async def go() -> list[Turn]:
        async with serving(*scripts) as server, new_engine() as engine:
            one = asker(engine, server.url)
            return [(await one.ask(PROMPT, trace=f"t.{number}")).turn for number in range(len(scripts))]

    return run(go())


@both_loops
def test_d1_an_error_inside_a_200_reply_is_a_failure(say: ModuleType, loop: str) -> None:
    """Reason and HTTP 200 are noted, what had come is kept, and it is in no success latency."""
    asked, _ = ask(Script([(0, part(say)), (10, say.error("overloaded_error", "busy"))], end="close"), loop=loop)

    found = asked.turn
    assert (found.outcome, found.reason, found.text, asked.reply) == ("failed", "overloaded", "Part", None)
    assert found.attempts[0].failure == Failure("overloaded", "overloaded_error: busy", http_status=200)
    assert (found.ttft_ns, found.service_ns) == (None, None)


@pytest.mark.parametrize(
    ("kind", "reason"), [("api_error", "stream_error"), ("rate_limit_error", "rate_limited"), ("odd", "stream_error")]
)
def test_d1_the_error_type_gives_the_reason(say: ModuleType, kind: str, reason: str) -> None:
    """Whatever type an error event has, it is a failure with the endpoint's own words."""
    assert failure(Script([(0, part(say) + say.error(kind))])) == Failure(reason, f"{kind}: told so", http_status=200)


@both_loops
def test_d2_a_stream_that_just_ends_is_incomplete(say: ModuleType, loop: str) -> None:
    """A polite end without a stop reason is no success."""
    asked, _ = ask(Script([(0, part(say)), (10, say.txt("ial"))]), loop=loop)

    assert (asked.turn.outcome, asked.turn.reason, asked.turn.text) == ("failed", "incomplete", "Partial")


STATUSES = [
    (400, "invalid_request_error", "http_4xx"), (401, "authentication_error", "http_4xx"),
    (408, "timeout", "http_4xx"), (413, "request_too_large", "http_4xx"), (429, "rate_limit_error", "rate_limited"),
    (500, "api_error", "http_5xx"), (503, "unavailable", "http_5xx"), (529, "overloaded_error", "overloaded"),
    (503, "overloaded_error", "overloaded"),
]  # fmt: skip


@pytest.mark.usefixtures("say")
@pytest.mark.parametrize(("code", "kind", "reason"), STATUSES)
def test_an_error_status_is_a_failure_with_the_endpoints_words(code: int, kind: str, reason: str) -> None:
    """429, 529 and a 5xx that says so have reasons of their own, the others their class."""
    assert failure(status(code, api_error(kind))) == Failure(reason, f"{kind}: told so", http_status=code)


@pytest.mark.usefixtures("say")
@pytest.mark.parametrize(("body", "detail"), [
    (b"<html>bad</html>", "a page of HTML: bad"), (b"", "HTTP 502 without a body"), (b"x" * 100_000, "x" * 300),
])  # fmt: skip
def test_a_foreign_error_body_is_kept_within_bounds(body: bytes, detail: str) -> None:
    """A proxy's page becomes the detail, cut; none is said to be none."""
    assert failure(status(502, body)) == Failure("http_5xx", detail, http_status=502)


def test_a_redirect_is_not_followed_and_said() -> None:
    """A POST must not wander off with its key."""
    found = failure(status(307, b"", b"location: http://elsewhere/"))

    assert found == Failure("protocol", "redirect to http://elsewhere/ not followed", http_status=307)


@pytest.mark.usefixtures("say")
def test_a_page_instead_of_a_stream_is_a_protocol_failure() -> None:
    """Its content type is named."""
    page = Script(
        [(0, b"<html></html>")],
        head=b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n",
        chunked=False,
    )

    assert failure(page) == Failure("protocol", "the reply is text/html, not an event stream", http_status=200)


def test_a_compressed_reply_is_a_protocol_failure() -> None:
    """It was not asked for, and its timing means nothing."""
    gzip = Script([(0, b"\x1f\x8b")], head=OK[:-2] + b"content-encoding: gzip\r\n\r\n")

    assert failure(gzip).detail == "the reply is gzip-encoded although identity was asked for"


@pytest.mark.parametrize("noise", [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n", b"\x00\x01\x02"])
def test_what_is_not_http_is_a_protocol_failure(noise: bytes) -> None:
    """A garbage status line ends the exchange, not the rig."""
    assert failure(Script([(0, noise)], head=b"", chunked=False, end="hold")).reason == "protocol"


def test_endless_headers_are_a_protocol_failure() -> None:
    """Bounded memory: a quarter of a megabyte of headers is enough."""
    endless = Script(
        [(0, b"x-pad: " + b"y" * 1000 + b"\r\n")] * 300, head=b"HTTP/1.1 200 OK\r\n", chunked=False, end="hold"
    )

    assert failure(endless) == Failure("protocol", "more than 262144 bytes of headers")


def test_switching_protocols_is_a_protocol_failure() -> None:
    """101 was not asked for."""
    assert failure(status(101, b"", b"upgrade: x", b"connection: upgrade")).reason == "protocol"


@pytest.mark.parametrize("length", [b"1000", b"10"])
def test_a_wrong_content_length_is_incomplete(say: ModuleType, length: bytes) -> None:
    """Too long or too short, the stream has no end of its own."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: " + length + b"\r\n\r\n"

    assert failure(Script([(0, part(say))], head=head, chunked=False, end="close")).reason == "incomplete"


@pytest.mark.parametrize("noise", [b"HTTP/1.1 200 OK\r\n", b"\x00noise"])
def test_bytes_behind_the_end_do_not_unmake_a_reply(say: ModuleType, noise: bytes) -> None:
    """The reply stands; its connection is not used again."""
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(say.reply())
    turns = several(Script([(0, say.reply() + noise)], head=head, chunked=False), Script([(0, say.reply())]))

    assert [(turn.outcome, turn.attempts[0].reused) for turn in turns] == [("answered", False), ("answered", False)]


@both_loops
def test_connection_refused_is_a_connect_failure(loop: str) -> None:
    """Nobody listens: said at once, with the system's words."""

    async def go() -> Turn:
        with closed() as url:
            async with new_engine() as engine:
                return (await asker(engine, url).ask(PROMPT, trace="t.1")).turn

    found = run(go(), loop)
    assert (found.outcome, found.reason, found.usage) == ("failed", "connect", None)
    assert "refused" in (found.attempts[0].failure or Failure("", "")).detail.lower()


def test_an_unknown_host_is_a_connect_failure() -> None:
    """A name that does not resolve is data too."""

    async def go() -> Turn:
        async with new_engine() as engine:
            return (await asker(engine, "http://no-such-host.invalid:1").ask(PROMPT, trace="t.1")).turn

    assert run(go()).reason == "connect"


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_connection_that_ends_without_a_reply_is_incomplete(how: Literal["close", "reset"]) -> None:
    """Accepted, read, and gone: failed, and not sent again in secret."""
    asked, server = ask(Script([], end=how))

    assert (asked.turn.reason, len(server.requests)) == ("incomplete", 1)


def test_d6_retries_are_ours_and_counted(say: ModuleType) -> None:
    """Two requests at the server, two attempts here; the good one's latency alone is the turn's; the wait is apart."""
    overloaded = status(529, api_error("overloaded_error"), b"retry-after: 0.1")
    asked, server = ask(
        overloaded,
        Script([(0, say.start() + say.blk("text")), (50, say.txt("Hi") + say.delta("end_turn") + say.stop())]),
        retry=RetrySettings(attempts=2),
    )

    found = asked.turn
    first, second = found.attempts
    assert (len(server.requests), found.outcome) == (2, "answered")
    assert [b"x-loadrig-attempt: t1.1.1" in server.requests[0], b"x-loadrig-attempt: t1.1.2" in server.requests[1]] == [
        True,
        True,
    ]
    assert (first.backoff_ns, second.backoff_ns) == (0, 100 * MS)
    assert second.begin_ns - first.end_ns >= 100 * MS
    assert found.service_ns == second.end_ns - second.begin_ns
    assert found.ttft_ns == (second.first_token_ns or 0) - second.begin_ns


def test_d6_by_default_nothing_is_retried(say: ModuleType) -> None:
    """One request, one attempt."""
    asked, server = ask(status(529, api_error("overloaded_error")), Script([(0, say.reply())]))

    assert (len(server.requests), len(asked.turn.attempts), asked.turn.reason) == (1, 1, "overloaded")


def test_d7_a_wait_over_the_ceiling_fails_with_that_reason() -> None:
    """Not kept for ever, not shortened: said."""
    found = turn(status(429, api_error("rate_limit_error"), b"retry-after: 900"), retry=RetrySettings(attempts=3))

    assert (len(found.attempts), found.reason) == (1, "rate_limited")
    assert found.notes == ("retry-after 900 s is over the ceiling of 60 s",)


def test_d7_a_wait_beyond_the_trials_end_is_not_begun() -> None:
    """The trial's own limit would cut it off anyway."""
    found = turn(status(429, b"", b"retry-after: 30"), retry=RetrySettings(attempts=3), total_s=5)

    assert (len(found.attempts), found.notes) == (1, ("no time left for another attempt",))


def test_d8_a_budget_spent_on_thinking_is_starved(say: ModuleType) -> None:
    """Its own outcome, with tokens counted."""
    thought = (
        say.start()
        + say.blk("thinking")
        + say.think("hm")
        + say.end()
        + say.delta("max_tokens", {"output_tokens": 100})
        + say.stop()
    )
    found = turn(Script([(0, thought)]))

    assert (found.outcome, found.reason, found.usage and found.usage.output) == ("unanswered", "starved", 100)


def test_d9_a_refusal_is_refused_with_its_category() -> None:
    """HTTP 200, no content: neither a failure nor a blank answer, and not tried again."""
    details = {"type": "refusal", "category": "cyber", "explanation": None}
    asked, server = ask(
        Script([(0, start() + delta("refusal", stop_details=details) + stop())]), retry=RetrySettings(attempts=3)
    )

    assert (asked.turn.outcome, asked.turn.reason, len(server.requests)) == ("unanswered", "refused", 1)
    assert asked.turn.stop_details == '{"type":"refusal","category":"cyber","explanation":null}'
    assert asked.reply is not None


PHASES = ("first_byte", "first_token", "gap")


def short(say: ModuleType, phase: str) -> Script:
    """Silence; pings for ever before a token; pings for ever after one."""
    pings = [(n * 20.0, say.ping()) for n in range(1, 75)]
    first = {"first_byte": [], "first_token": pings, "gap": [(0.0, part(say)), *pings]}
    return Script(first[phase], end="hold")


@both_loops
@pytest.mark.parametrize("phase", PHASES)
def test_each_phase_has_its_limit_and_pings_do_not_feed_it(say: ModuleType, phase: str, loop: str) -> None:
    """Silence, pings for ever before a token, pings for ever after one: each ends after 0.1 s with its phase."""
    limits = LimitSettings(**{phase: 0.1})
    asked, _ = ask(short(say, phase), limits=limits, loop=loop, total_s=3)

    attempt = asked.turn.attempts[0]
    assert attempt.failure is not None
    assert (attempt.failure.reason, attempt.failure.phase) == ("timeout", phase)
    assert 90 * MS < attempt.end_ns - attempt.begin_ns < 1000 * MS


def test_slow_headers_end_with_the_first_token_limit() -> None:
    """A byte now and then is a first byte, and no more."""
    drip = Script([(n * 20, b"x: y\r\n") for n in range(20)], head=b"HTTP/1.1 200 OK\r\n", chunked=False, end="hold")

    assert failure(drip, limits=LimitSettings(first_token=0.1)).phase == "first_token"


def test_content_keeps_a_stream_alive(say: ModuleType) -> None:
    """Texts 40 ms apart never meet a gap limit of 100 ms, however long the reply."""
    steps = [(40.0 * n, say.txt("a")) for n in range(1, 8)]
    found = turn(
        Script([(0, part(say)), *steps, (320, say.delta("end_turn") + say.stop())]), limits=LimitSettings(gap=0.1)
    )

    assert found.outcome == "answered"


def test_the_trials_limit_cuts_whatever_is_going_on(say: ModuleType) -> None:
    """The outer deadline has a phase of its own."""
    assert failure(Script([(0, part(say))], end="hold"), total_s=0.1).phase == "total"


def test_the_trials_limit_holds_while_connecting(say: ModuleType) -> None:
    """A deadline that has passed lets nothing out."""
    assert failure(Script([(0, say.reply())]), total_s=-1).phase == "total"


@pytest.mark.usefixtures("say")
def test_m4_a_key_is_in_no_detail() -> None:
    """An endpoint that repeats the key has it taken out."""
    asked, _ = ask(status(401, api_error("authentication_error", f"bad key {KEY}")))

    assert (
        failure(status(401, api_error("authentication_error", f"bad key {KEY}"))).detail
        == "authentication_error: bad key [key]"
    )
    assert KEY not in repr(asked)


def test_rate_limit_headers_and_request_id_are_kept() -> None:
    """What an endpoint says about its limits goes into the attempt, from good replies and bad."""
    headers = (b"Anthropic-RateLimit-Requests-Remaining: 7", b"retry-after: 3", b"request-id: req_9", b"x-other: 1")
    attempt = turn(status(429, b"", *headers)).attempts[0]

    assert attempt.request_id == "req_9"
    assert attempt.rate_limit == (("anthropic-ratelimit-requests-remaining", "7"), ("retry-after", "3"))


def test_an_unreadable_event_is_a_protocol_failure(say: ModuleType) -> None:
    """Broken JSON in mid-stream is told with its beginning."""
    found = failure(Script([(0, part(say) + b"data: {oops\n\n")]))

    assert (found.reason, found.detail.endswith("{oops")) == ("protocol", True)


def test_a_reply_ends_with_its_own_end(say: ModuleType) -> None:
    """A server that holds the connection open after message_stop does not hold the turn."""
    asked, server = ask(Script([(0, say.reply()), (300, b": late\n\n")]))

    assert asked.turn.outcome == "answered"
    assert (asked.turn.service_ns or 0) < 250 * MS
    assert server.step_of(asked.turn.attempts[0].end_ns) == 0


def test_e6_a_broken_stream_has_an_inexact_count(say: ModuleType) -> None:
    """Input is known; output is "at least 1", not 1 as a fact."""
    opening = say.start(input_tokens=90, output_tokens=1) + say.blk("text")
    found = turn(Script([(0.0, opening), *((1.0, say.txt("a")) for _ in range(12))], end="reset"))

    assert found.usage is not None
    assert (found.reason, found.usage.input, found.usage.output, found.usage.exact) == ("incomplete", 90, 1, False)


USAGE = {
    "E1": ({"input_tokens": 90, "cache_read_input_tokens": 400, "output_tokens": 1},
           {"input_tokens": 90, "cache_read_input_tokens": 400, "output_tokens": 55}, (90, 400, 55)),
    "E2": ({"input_tokens": 90, "output_tokens": 1}, {"output_tokens": 55}, (90, None, 55)),
    "E3 zero": ({"input_tokens": 90}, {"input_tokens": 0, "output_tokens": 55}, (90, None, 55)),
    "E3 null": ({"input_tokens": 90}, {"input_tokens": None, "output_tokens": 55}, (90, None, 55)),
    "E4": ({"input_tokens": 90}, {"input_tokens": 130, "output_tokens": 55}, (130, None, 55)),
    "E8": ({"input_tokens": 12, "cache_read_input_tokens": 8000}, {"output_tokens": 5}, (12, 8000, 5)),
    "E9": ({"input_tokens": -5, "cache_read_input_tokens": "12"}, {"output_tokens": 5}, (None, None, 5)),
}  # fmt: skip


@pytest.mark.parametrize(("first", "last", "expected"), USAGE.values(), ids=USAGE)
def test_e_counters_arrive_in_the_record(
    say: ModuleType, first: dict[str, object], last: dict[str, object], expected: tuple[int | None, ...]
) -> None:
    """Input, cache read and output of the turn, and of the attempt they belong to."""
    found = turn(
        Script(
            [
                (
                    0,
                    say.start(**first)
                    + say.blk("text")
                    + say.txt("a")
                    + say.end()
                    + say.delta("end_turn", last)
                    + say.stop(),
                )
            ]
        )
    )

    assert found.usage is not None
    assert (found.usage.input, found.usage.cache_read, found.usage.output) == expected
    assert found.attempts[0].usage == found.usage


def test_e5_several_counts_are_not_summed(say: ModuleType) -> None:
    """The last of two message_delta events stands."""
    found = turn(
        Script(
            [
                (
                    0,
                    part(say)
                    + say.delta(None, {"output_tokens": 20})
                    + say.delta("end_turn", {"output_tokens": 55})
                    + say.stop(),
                )
            ]
        )
    )

    assert found.usage is not None
    assert found.usage.output == 55


def test_e7_each_turn_has_its_own_count(say: ModuleType) -> None:
    """Three turns of 60, 70 and 120 output tokens are three figures; nothing leaks from one into the next."""
    outputs = [60, 70, 120]
    scripts = [Script([(0, part(say) + say.delta("end_turn", {"output_tokens": n}) + say.stop())]) for n in outputs]

    assert [t.usage and t.usage.output for t in several(*scripts)] == outputs


def test_signature_only_replies_are_empty() -> None:
    """Hidden thought and nothing else, ended by the model: empty, and labelled."""
    found = turn(Script([(0, start() + blk("thinking") + signature() + end() + delta("end_turn") + stop())]))

    assert (found.reason, found.hidden_thinking) == ("empty", True)
