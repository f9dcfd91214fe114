"""Proxies: which one is taken, what is said to it, how it is timed, and what comes of one that refuses or fails."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from asking import LOOPS, PROMPT, head, new_engine, run
from proxy_server import proxy_server
from scripted_server import Script, serving
from stream_events import reply
from threaded_server import self_signed, server_context, threaded
from unfriendly_hosts import closed

from loadrig.execution.folder import plan_as_json
from loadrig.providers import load
from loadrig.wire.head import Head
from loadrig.wire.proxy import is_exempt, proxy_of, through, told_url
from loadrig.wire.turn import Asked, Asker, Target, resolve
from loadrig.words.errors import InputError
from loadrig.words.record import Failure
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings
from plans import plan

both_loops = pytest.mark.parametrize("loop", LOOPS)
MODEL = ModelSettings(id="m-1", max_tokens=100)
CREDENTIALS = "kim:pass%20word"
BASIC = b"Proxy-Authorization: Basic a2ltOnBhc3Mgd29yZA=="  # kim:pass word
MS = 1_000_000


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("proxy"))


def ask_through(
    proxy: str, *, certificate: tuple[Path, Path] | None = None, loop: str = "asyncio", turns: int = 1,
    limits: LimitSettings | None = None, retry: RetrySettings | None = None,
) -> tuple[list[Asked], list[bytes]]:  # fmt: skip
    """Turns one after the other, through the proxy that the plan names, and what the target was sent."""
    context = None if certificate is None else server_context(certificate)

    async def go() -> tuple[list[Asked], list[bytes]]:
        ca_file = None if certificate is None else certificate[0]
        async with serving(Script([(0, reply())]), context=context) as server, new_engine(ca_file) as engine:
            target = Target(MODEL, load("anthropic"), through(head(server.url), proxy, {}))
            one = Asker(engine, target, limits or LimitSettings(), retry or RetrySettings())
            asked = [await one.ask(PROMPT, trace=f"t.{number}") for number in range(turns)]
            return asked, server.requests

    return run(asyncio.wait_for(go(), 10), loop)


def failure(answer: bytes | None, certificate: tuple[Path, Path] | None, credentials: str = "") -> tuple[Failure, str]:
    """What comes of a proxy that answers so, and its address."""
    with proxy_server(answer) as proxy:
        asked, _ = ask_through(f"http://{credentials}127.0.0.1:{proxy.port}", certificate=certificate)
    found = asked[0].turn.attempts[0].failure
    assert found is not None
    return found, proxy.url


@both_loops
def test_an_https_target_is_reached_through_a_tunnel(certificate: tuple[Path, Path], loop: str) -> None:
    """One CONNECT with the credentials for two turns; the target's own request is untouched and theirs is not in it."""
    with proxy_server() as proxy:
        asked, requests = ask_through(
            f"http://{CREDENTIALS}@127.0.0.1:{proxy.port}", certificate=certificate, loop=loop, turns=2
        )
    assert [(one.turn.outcome, one.turn.attempts[0].reused) for one in asked] == [
        ("answered", False), ("answered", True)
    ]  # fmt: skip
    first, *lines = proxy.heads[0].split(b"\r\n")
    assert (len(proxy.heads), first.split(b" ")[0], BASIC in lines) == (1, b"CONNECT", True)
    assert requests[0].startswith(b"POST /v1/messages HTTP/1.1\r\n")
    assert b"proxy" not in requests[0].lower()
    assert asked[0].turn.attempts[0].stamp == ("read" if loop.endswith("read") else "kernel")


@both_loops
def test_the_time_of_a_tunnel_is_in_connect_and_not_in_tls(certificate: tuple[Path, Path], loop: str) -> None:
    """A proxy that takes 80 ms to grant it: they stand in connect_ns, TLS is timed from there on."""
    with proxy_server(wait_s=0.08) as proxy:
        asked, _ = ask_through(proxy.url, certificate=certificate, loop=loop)
    attempt = asked[0].turn.attempts[0]
    assert (attempt.connect_ns or 0) >= 80 * MS
    assert 0 < (attempt.tls_ns or 0) < 80 * MS


@both_loops
def test_an_http_target_is_asked_for_in_absolute_form(loop: str) -> None:
    """The proxy gets the whole URL and the credentials; the connection to it is kept."""
    with proxy_server() as proxy:
        asked, requests = ask_through(f"http://{CREDENTIALS}@127.0.0.1:{proxy.port}", loop=loop)
    (first, *lines), port = proxy.heads[0].split(b"\r\n"), requests[0].split(b"127.0.0.1:")[1].split(b"\r\n")[0]
    assert (asked[0].turn.outcome, first) == ("answered", b"POST http://127.0.0.1:%b/v1/messages HTTP/1.1" % port)
    assert BASIC in lines


ANSWERS = [
    (b"HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=x\r\n\r\n", 407,
     "the proxy {} refused: HTTP 407 Who are you; it wants Basic realm=x; user and password belong in its URL"),
    (b"HTTP/1.1 403 Forbidden\r\n\r\n", 403, "the proxy {} refused: HTTP 403 Forbidden"),
    (b"HTTP/1.0 502 \r\n\r\n<html>", 502, "the proxy {} refused: HTTP 502"),
    (b"", None, "the proxy {} closed the connection before it had answered"),
    (b"SSH-2.0-x\r\n\r\n", None, "the proxy {} did not answer in HTTP/1: SSH-2.0-x"),
    (b"HTTP/1.1 200 OK\r\n\r\nnoise", None, "the proxy {} sent 5 bytes behind its answer"),
    (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 12_000, None,
     "the proxy {} answered with more than 65536 bytes of headers"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "status", "told"), ANSWERS, ids=lambda value: str(value)[:12])
def test_a_tunnel_that_is_not_granted_is_a_connect_failure(
    certificate: tuple[Path, Path], answer: bytes, status: int | None, told: str
) -> None:
    """With the proxy named, and its status where it gave one."""
    found, url = failure(answer, certificate)

    assert found == Failure("connect", told.format(url), http_status=status)


def test_wrong_credentials_for_an_http_target_are_a_connect_failure() -> None:
    """The 407 is the proxy's answer, not the target's, and what it repeats of the password is taken out."""
    found, url = failure(
        b"HTTP/1.1 407 No\r\nproxy-authenticate: Basic realm=pass word\r\ncontent-length: 0\r\n\r\n",
        None,
        f"{CREDENTIALS}@",
    )
    assert found == Failure(
        "connect", f"the proxy {url} refused: HTTP 407; it wants Basic realm=[key]", http_status=407
    )


def test_an_error_for_an_http_target_names_the_proxy_too() -> None:
    """Whose 502 it is cannot be told."""
    found, url = failure(b"HTTP/1.1 502 Bad\r\ncontent-length: 0\r\n\r\n", None)

    assert found == Failure("http_5xx", f"HTTP 502 without a body (through the proxy {url})", http_status=502)


@both_loops
def test_a_proxy_that_is_not_there_is_a_connect_failure(certificate: tuple[Path, Path], loop: str) -> None:
    """It is named, for nothing else is known of the target."""
    with closed() as url:
        found = ask_through(url, certificate=certificate, loop=loop)[0][0].turn.attempts[0].failure
    assert found is not None
    assert (found.reason, found.detail.startswith("ConnectionRefusedError")) == ("connect", True)
    assert found.detail.endswith(f"(through the proxy {url})")


@both_loops
def test_a_silent_proxy_ends_with_the_connect_limit(certificate: tuple[Path, Path], loop: str) -> None:
    """Accepted, and not a byte: timeout, phase connect, the proxy named."""

    def play(sock: socket.socket) -> None:
        while sock.recv(65_536):
            pass

    with threaded(play) as port:
        limits = LimitSettings(connect=0.1)
        asked, _ = ask_through(f"http://127.0.0.1:{port}", certificate=certificate, loop=loop, limits=limits)
    told = f"no connection within 0.1 s (through the proxy http://127.0.0.1:{port})"
    assert asked[0].turn.attempts[0].failure == Failure("timeout", told, "connect")


@pytest.mark.parametrize(("status", "attempts"), [(502, 2), (403, 1), (407, 1)])
def test_a_refusal_that_will_not_pass_is_not_tried_again(
    certificate: tuple[Path, Path], status: int, attempts: int
) -> None:
    """With [retry] a tunnel is asked for again after a 502, not after 403 or 407."""
    with proxy_server(b"HTTP/1.1 %d X\r\n\r\n" % status) as proxy:
        retry = RetrySettings(attempts=1, ceiling_s=0.01)
        asked, _ = ask_through(proxy.url, certificate=certificate, retry=retry)
    assert len(asked[0].turn.attempts) == attempts


ELSEWHERE, PLAIN, HERE = "https://api.example", "http://llm.example:8000", "http://127.0.0.1:9"


@pytest.mark.parametrize(("url", "wanted", "environment", "taken"), [
    (ELSEWHERE, None, {}, None),
    (ELSEWHERE, None, {"HTTPS_PROXY": "http://a:1"}, "http://a:1"),
    (ELSEWHERE, None, {"HTTPS_PROXY": "http://a:1", "https_proxy": "http://b:2"}, "http://b:2"),
    (ELSEWHERE, None, {"HTTPS_PROXY": "http://a:1", "https_proxy": ""}, None),
    (ELSEWHERE, None, {"HTTP_PROXY": "http://a:1"}, None),
    (ELSEWHERE, None, {"all_proxy": "a:1"}, "http://a:1"),
    (ELSEWHERE, None, {"ALL_PROXY": "http://c:3", "HTTPS_PROXY": "http://a:1"}, "http://a:1"),
    (ELSEWHERE, None, {"HTTPS_PROXY": "http://a"}, "http://a:80"),
    (ELSEWHERE, None, {"HTTPS_PROXY": "http://a:1", "NO_PROXY": "example"}, None),
    (ELSEWHERE, "off", {"HTTPS_PROXY": "http://a:1"}, None),
    (ELSEWHERE, "http://[::1]:3128", {"HTTPS_PROXY": "http://a:1", "no_proxy": "*"}, "http://[::1]:3128"),
    (PLAIN, None, {"HTTP_PROXY": "http://a:1", "HTTPS_PROXY": "http://b:2"}, "http://a:1"),
    (HERE, None, {"HTTP_PROXY": "http://a:1", "ALL_PROXY": "socks5://b:2"}, None),
    (HERE, "http://a:1", {}, "http://a:1"),
])  # fmt: skip
def test_the_plan_decides_and_then_the_environment(
    url: str, wanted: str | None, environment: dict[str, str], taken: str | None
) -> None:
    """The usual names in the usual order; this machine's own addresses only by the plan's word."""
    proxy = through(head(url), wanted, environment).proxy

    assert (None if proxy is None else str(proxy)) == taken


@pytest.mark.parametrize(("entries", "exempt"), [
    ("*", True), ("api.example", True), ("example", True), (".example", True), ("*.example", True), ("le", False),
    ("other, api.example:443", True), ("api.example:80", False), ("10.0.0.0/8", False), ("", False), (" , ", False),
    ("API.example", True), ("x.api.example", False),
])  # fmt: skip
def test_no_proxy_names_hosts_and_what_is_below_them(entries: str, exempt: bool) -> None:
    """With or without a leading dot or a port; a part of a name is no name."""
    assert is_exempt("api.example", 443, entries) is exempt


@pytest.mark.parametrize(("entries", "exempt"), [
    ("10.1.2.3", True), ("10.0.0.0/8", True), ("10.1.2.3:443", True), ("10.1.2.3:80", False), ("10.1.2", False),
    ("11.0.0.0/8 fe80::/10", False),
])  # fmt: skip
def test_no_proxy_names_addresses_and_networks(entries: str, exempt: bool) -> None:
    """As numbers, not as text."""
    assert is_exempt("10.1.2.3", 443, entries) is exempt


@pytest.mark.parametrize("url", [
    "https://kim:secret@proxy:1", "socks5://kim:secret@proxy:1", "http://kim:secret@", "http://kim:secret@proxy:port",
    "kim:secret@:80", "",
])  # fmt: skip
def test_a_proxy_of_another_kind_is_an_input_error(url: str) -> None:
    """Where it is named and what would do; of user and password nothing."""
    with pytest.raises(InputError, match="HTTPS_PROXY") as caught:
        proxy_of(url, "HTTPS_PROXY")
    assert 'proxy = "off"' in caught.value.remedy
    assert "secret" not in str(caught.value)
    assert "kim" not in str(caught.value)


def through_one(url: str) -> Head:
    return through(head(ELSEWHERE), url, {})


def test_a_proxy_is_said_and_its_credentials_are_not() -> None:
    """A warning names it and where it comes from; user and password are in no repr, warning, plan on file or detail."""
    found = through_one("http://kim:very%20secret@proxy.example:3128")
    (told,) = found.warnings
    assert told.startswith("requests to api.example go through the proxy http://proxy.example:3128 (the plan):")
    on_file = plan_as_json(plan(model=(ModelSettings(id="m", proxy="http://kim:very%20secret@proxy.example:3128"),)))
    assert on_file["model"][0]["proxy"] == "http://proxy.example:3128"
    everything = repr(found) + str(on_file) + told + repr(plan(model=(ModelSettings(id="m", proxy="kim:secret@a"),)))
    assert not any(secret in everything for secret in ("kim", "secret"))
    assert found.redacted("you sent a2ltOnZlcnkgc2VjcmV0, very secret") == "you sent [key], [key]"


def test_another_client_can_be_sent_the_same_way() -> None:
    """The URL it needs has user and password as they were."""
    proxy = through_one("http://k%40m:a%2Fb%3A@proxy.example:3128").proxy
    assert proxy is not None
    assert proxy.url == "http://k%40m:a%2Fb%3A@proxy.example:3128"
    assert told_url(proxy.url) == str(proxy)


def test_resolving_a_model_takes_the_environments_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning of the target says so, before anything is sent."""
    for name in ("https_proxy", "no_proxy", "NO_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    (told,) = run(resolve(MODEL, None)).warnings
    assert told.startswith("requests to api.anthropic.com go through the proxy http://proxy.example:3128 (HTTPS_PROXY)")
