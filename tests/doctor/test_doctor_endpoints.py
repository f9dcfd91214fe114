"""The doctor at real endpoints: the simulator, a proxy that buffers, a web server, TLS, and sockets that misbehave."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from examined import MODEL, answering, between, by_check, examined, simulator, web_server
from own_authority import authority
from scripted_server import Script, serving
from stream_events import blk, delta, end, reply, start, stop, txt
from unfriendly_hosts import closed, deaf, plain_speaking

from loadrig.cost import Prices
from loadrig.doctor.examine import LIMIT_S, REQUESTS, first_model, foreseen
from loadrig.doctor.findings import Examination
from loadrig.doctor.reaching import connection, reached
from loadrig.wire.turn import resolve

EVERYTHING = (
    "connection", "key", "dialect", "streaming", "measured turn", "first byte", "usage", "cached tokens",
    "thinking tokens", "model name", "price", "max_tokens", "tools", "structured output", "caching", "count_tokens",
    "keep-alive", "clock", "limits", "errors",
)  # fmt: skip
ERROR = b'{"type":"error","error":{"type":"%b","message":"no"}}'


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_FILE", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with simulator(tmp_path_factory.mktemp("simulator")) as url:
        yield url


@pytest.fixture(scope="module")
def healthy(target: str) -> Examination:
    return examined(target)


def states(found: Examination) -> dict[str, str]:
    return {one.check: one.state for one in found.findings}


def test_at_the_simulator_all_but_wrong_models_can_be_told(healthy: Examination) -> None:
    """Every check ends, in its order; the simulator takes any model's name, which is said."""
    assert tuple(states(healthy)) == EVERYTHING
    odd = {check: state for check, state in states(healthy).items() if state != "ok"}
    assert odd == {"errors": "not there", "thinking tokens": "not there"}
    assert (healthy.makes_sense, healthy.verdict) == (True, "A run makes sense here.")


def test_no_model_of_the_table_is_dear_to_examine() -> None:
    """As the page says: from a tenth of a cent to thirteen cents, by what is foreseen."""
    prices = Prices.load()
    found = [foreseen(replace(MODEL, id=name), prices).cost for name in {row.model for row in prices.rows}]
    costs = sorted(float(cost) for cost in found if cost is not None)
    assert (len(costs) == len(found), round(costs[0], 3), round(costs[-1], 2)) == (True, 0.001, 0.13)


def test_chat_completions_are_examined_alike(target: str) -> None:
    """The same checks of the other dialect, which counts no tokens beforehand, keeps no prefix when asked to, and tells
    usage at the end."""
    found = examined(f"{target}/v1", replace(MODEL, provider="openai"))
    assert tuple(states(found)) == EVERYTHING
    odd = {check: state for check, state in states(found).items() if state != "ok"}
    assert odd == dict.fromkeys(("errors", "count_tokens", "caching"), "not there")
    assert "(at the end)" in by_check(found)["usage"].said


def test_it_sends_no_more_than_it_said(healthy: Examination) -> None:
    """Neither requests nor tokens, and what it cost is reckoned from what the replies told."""
    before = foreseen(MODEL, Prices.load())
    assert before.cost is not None
    assert healthy.requests == REQUESTS - 3 <= before.requests  # none of those that are sent where something is odd
    assert 0 < (healthy.tokens or 0) <= before.prompt_tokens + before.output_tokens
    assert 0 < float(healthy.cost or 0) <= float(before.cost) < 0.05


@pytest.mark.parametrize(("way", "said"), [("whole", "buffered on the way"), ("length", "it was whole before it left")])
def test_a_buffer_on_the_way_is_found_and_nothing_else_is_blamed(target: str, way: str, said: str) -> None:
    """First-token times cannot be measured there; answers, tokens and costs can."""
    with between(target, way) as url:  # type: ignore[arg-type]
        found = examined(url)
    assert by_check(found)["streaming"].state == "broken"
    assert said in by_check(found)["streaming"].said
    assert (found.makes_sense, found.verdict) == (True, "A run makes sense here, without first-token times.")
    assert states(found)["usage"] == states(found)["caching"] == "ok"


def test_a_first_reply_that_is_late_is_no_buffer(tmp_path: Path) -> None:
    """All of it at once after half a second, as from a server that was asleep; the second is as they all are."""
    whole = start() + blk("text") + txt("x ") * 20 + end() + delta("end_turn") + stop()
    with simulator(tmp_path) as target, between(target, "strip", first=whole, wait_s=0.5) as url:
        found = examined(url)
    assert (states(found)["streaming"], found.requests) == ("ok", REQUESTS - 2)


def test_a_compressed_stream_ends_the_examination(target: str) -> None:
    """A run would refuse it, so there is no sense in one."""
    with between(target, "gzip") as url:
        found = examined(url)
    assert by_check(found)["dialect"].said.startswith("the reply is gzip-encoded although identity was asked for")
    assert not found.makes_sense


def test_what_a_gateway_leaves_out_is_said(target: str) -> None:
    """Neither Date nor limits, and a new connection for every request; the run makes sense all the same."""
    with between(target, "strip") as url:
        found = examined(url)
    assert {check: states(found)[check] for check in ("clock", "limits", "keep-alive", "streaming")} == {
        "clock": "not there", "limits": "not there", "keep-alive": "not there", "streaming": "ok",
    }  # fmt: skip
    assert found.makes_sense


def test_an_endpoint_that_does_less_is_told_so(tmp_path: Path) -> None:
    """It counts no tokens and keeps no prefix; or tells half as many tokens again as it counts."""
    with simulator(tmp_path, counts_tokens="false", cache_minimum_tokens=1_000_000) as url:
        found = examined(url)
    assert (states(found)["count_tokens"], states(found)["caching"]) == ("not there", "not there")
    assert found.makes_sense
    with simulator(tmp_path, reports_input=1.5) as url:
        told = by_check(examined(url))["count_tokens"]
    assert (told.state, "(-33%)" in told.said) == ("broken", True)


def test_a_web_server_is_no_endpoint() -> None:
    """One sentence that says what to check; nothing further is asked."""
    with web_server() as url:
        found = examined(url)
    (last,) = (one for one in found.findings if one.check == "dialect")
    assert (last.state, found.makes_sense, found.requests) == ("broken", False, 1)
    assert "HTTP 501" in found.verdict


@pytest.mark.parametrize(("status", "kind", "check", "state"), [
    (401, b"authentication_error", "key", "broken"), (403, b"permission_error", "key", "broken"),
    (404, b"not_found_error", "dialect", "broken"), (400, b"invalid_request_error", "dialect", "broken"),
    (429, b"rate_limit_error", "dialect", "cannot tell"), (500, b"api_error", "dialect", "broken"),
])  # fmt: skip
def test_an_error_is_told_once_and_ends_it(status: int, kind: bytes, check: str, state: str) -> None:
    """In the endpoint's own words; no further request."""
    body = ERROR % kind
    with answering(b"HTTP/1.1 %d No\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)) as url:
        found = examined(url)
    assert (found.findings[-1].check, found.findings[-1].state, found.requests) == (check, state, 1)
    assert f"HTTP {status} {kind.decode()}: no" in found.findings[-1].said
    assert not found.makes_sense


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize("data", [
    b"", b"\x00\xff" * 50, b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\n\r\n",
    HEAD, HEAD + b"data: {\n\n", HEAD + b"data: 7\n\n",
    HEAD + reply()[:200], b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
    b"HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n", b"HTTP/1.1 101 Upgrade\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
])  # fmt: skip
def test_a_broken_server_is_data(data: bytes) -> None:
    """Whatever comes: a finding, a verdict, and no crash."""
    with answering(data) as url:
        found = examined(url, limit_s=2)
    assert (found.findings[-1].check, found.findings[-1].state) == ("dialect", "broken")
    assert not found.makes_sense
    assert found.verdict.startswith("A run makes no sense here: ")


def test_a_slow_stream_is_understood_though_its_end_was_not_waited_for() -> None:
    """Content came and our limit cut it off: the dialect is spoken; what could not be seen is not said to be so."""
    begun = HEAD + start() + blk("text") + txt("x ") * 9
    with answering(begun, hold=True) as url:
        found = examined(url, limit_s=0.4)
    said = by_check(found)["dialect"]
    assert (said.state, "a reply that came and had no end within 0.4 s" in said.said) == ("ok", True)
    assert (states(found)["tools"], states(found)["structured output"]) == ("cannot tell", "cannot tell")
    assert states(found)["measured turn"] == "broken"
    assert not found.makes_sense


def test_what_a_server_says_steers_no_terminal_and_is_cut_without_a_blank() -> None:
    """A page of escapes, in one word of a thousand characters: some of them are shown, none as they are."""
    body = b"\x1b]0;x\x07" + b"z" * 1000
    with answering(b"HTTP/1.1 500 No\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)) as url:
        found = examined(url).findings[-1]
    assert found.said.startswith("HTTP 500 ]0;x zzz")
    assert found.said.endswith("z ...")
    assert (len(found.said), found.said.isprintable()) == (160, True)
    assert "the server fails" in found.means


def test_a_redirect_is_told_with_its_place_and_not_followed() -> None:
    """A key goes nowhere else: one request."""
    with answering(b"HTTP/1.1 302 Found\r\nlocation: http://h/x\r\ncontent-length: 0\r\n\r\n") as url:
        found = examined(url)
    assert found.findings[-1].said == "HTTP 302, a redirect to http://h/x: not followed"
    assert found.requests == 1


def test_a_stream_without_an_end_is_not_read_to_it() -> None:
    """Nine megabytes of comments: what is kept is bounded, and it is told."""
    with answering(HEAD + b": and so on\n\n" * 700_000) as url:
        found = examined(url)
    assert "more than 4,000,000 bytes" in found.findings[-1].said
    assert not found.makes_sense


@pytest.mark.parametrize("data", [b"", HEAD, HEAD + reply()[:200], b"HTTP/1.1 200"])
def test_a_silent_server_ends_with_the_limit(data: bytes) -> None:
    """Half a second of it, wherever the silence begins."""
    with answering(data, hold=True) as url:
        begin = time.monotonic()
        found = examined(url, limit_s=0.5)
    assert found.findings[-1].said.endswith(" within 0.5 s")
    assert ("no reply came" in found.findings[-1].said) == ("sends no reply" in found.findings[-1].means)
    assert time.monotonic() - begin < 20


def test_an_address_without_a_server_is_no_connection() -> None:
    """Closed, deaf, and a name that nobody has."""
    for host in (closed, deaf):
        with host() as url:
            found = examined(url, limit_s=0.5)
        assert [(one.check, one.state) for one in found.findings] == [("connection", "broken")]
        assert (found.requests, found.makes_sense) == (0, False)
    assert "its name is not known" in examined("http://nobody.invalid", limit_s=5).findings[0].said


def test_plain_http_where_tls_was_meant_is_a_tls_finding() -> None:
    """Connected, no handshake."""
    with plain_speaking() as url:
        found = examined(url, limit_s=5)
    assert [(one.check, one.state) for one in found.findings] == [("connection", "ok"), ("TLS", "broken")]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificates with openssl")
def test_tls_is_told_with_the_days_that_are_left(tmp_path: Path) -> None:
    """Version and days of a certificate that lasts three more, which is soon; without its authority it is broken."""
    own = authority(tmp_path / "own", days=3)
    model = replace(MODEL, ca_file=str(own.ca), client_cert=str(own.both))

    async def go() -> list[tuple[str, str, str, str]]:
        found = []
        async with serving(Script([(0, reply())]), context=own.context(asks=True)) as server:
            for one in (model, MODEL):
                head = (await resolve(one, server.url)).head
                told = connection(await reached(head, 5), head, time.time())
                found += [(one.check, one.state, one.said, one.means) for one in told if one.check == "TLS"]
        return found

    good, bad = asyncio.run(go())
    assert (good[1], "TLSv1.3" in good[2], "lasts 3 days more" in good[2]) == ("ok", True, True)
    assert good[3].startswith("runs stop when it does")
    assert (bad[1], "certificate verify failed" in bad[2].lower()) == ("broken", True)


def test_the_first_model_that_is_listed_is_taken() -> None:
    """Where none is named; an endpoint that lists none, or nonsense, has none."""
    listed = b'{"data": [{"id": "a-model"}, {"id": "b"}]}'
    for body, name in ((listed, "a-model"), (b'{"data": []}', None), (b"[1]", None), (b"<html>", None)):
        with answering(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)) as url:
            assert asyncio.run(first_model(MODEL, url, limit_s=5)) == name


def test_a_request_has_thirty_seconds_unless_told_otherwise() -> None:
    """Time for a model that thinks, and an end for one that does not answer."""
    assert LIMIT_S == 30
