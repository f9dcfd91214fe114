"""A model's path, headers and certificates, over real sockets: what is sent, who is trusted, and what is told of it."""

from __future__ import annotations

import asyncio
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from asking import LOOPS, PROMPT, new_engine, run
from own_authority import Authority, authority
from proxy_server import proxy_server
from scripted_server import Script, Server, serving
from stream_events import reply

from loadrig.config import read_plan
from loadrig.cost import Prices
from loadrig.doctor.examine import examine
from loadrig.doctor.findings import Examination
from loadrig.execution.calibration import counted
from loadrig.execution.folder import plan_as_json
from loadrig.wire.anthropic_client import anthropic_client
from loadrig.wire.turn import Asked, Asker, Target, resolve
from loadrig.words.errors import InputError
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

both_loops = pytest.mark.parametrize("loop", LOOPS)
SECRET = "gateway-secret-that-nobody-may-see"
MODEL = ModelSettings(id="m-1", max_tokens=100)
needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificates with openssl")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_FILE", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GATEWAY_KEY", SECRET)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authority"))


def ask(
    model: ModelSettings, *, own: Authority | None = None, asks: bool = False, base: str = "", loop: str = "asyncio",
    script: Script | None = None,
) -> tuple[Asked, Server, Target]:  # fmt: skip
    """One turn as the model's settings have it: over TLS where there is an authority, which `asks` for a client's."""
    context = None if own is None else own.context(asks=asks)

    async def go() -> tuple[Asked, Server, Target]:
        async with serving(script or Script([(0, reply())]), context=context) as server, new_engine() as engine:
            target = await resolve(model, server.url + base)
            asked = await Asker(engine, target, LimitSettings(), RetrySettings()).ask(PROMPT, trace="t.1")
            return asked, server, target

    return run(asyncio.wait_for(go(), 10), loop)


def lines_of(server: Server) -> list[bytes]:
    return server.requests[0].partition(b"\r\n\r\n")[0].split(b"\r\n")


def test_a_path_takes_the_place_of_the_dialects() -> None:
    """Behind what the base URL has, with its query; the tokens are counted beside it."""
    asked, server, target = ask(replace(MODEL, path="/gate/chat?v=2"), base="/base")
    assert (asked.turn.outcome, lines_of(server)[0]) == ("answered", b"POST /base/gate/chat?v=2 HTTP/1.1")
    assert target.base_url == f"{server.url}/base"
    assert target.count_url == f"{server.url}/base/gate/chat/count_tokens?v=2"


def test_headers_are_added_replaced_and_taken_out() -> None:
    """A variable's text stands where the plan names it, each header once; an empty one is not sent."""
    headers = {"X-Gateway-Key": "$GATEWAY_KEY", "anthropic-version": "2023-06-01", "authorization": "", "x-a": "b"}
    _, server, _ = ask(replace(MODEL, headers=headers))
    sent = lines_of(server)
    assert f"X-Gateway-Key: {SECRET}".encode() in sent
    assert [line for line in sent if line.lower().startswith(b"anthropic-version")] == [
        b"anthropic-version: 2023-06-01"
    ]
    assert b"x-a: b" in sent
    assert not any(line.lower().startswith(b"authorization") for line in sent)


def test_a_headers_secret_is_told_nowhere(tmp_path: Path) -> None:
    """Not by the target's repr or warnings, the plan on file, or what a gateway repeats of it in an error."""
    script = Script(
        [(0, SECRET.encode())], head=b"HTTP/1.1 403 No\r\ncontent-length: %d\r\n\r\n" % len(SECRET), chunked=False
    )
    asked, _, target = ask(replace(MODEL, headers={"x-key": "$GATEWAY_KEY"}), script=script)
    failure = asked.turn.attempts[0].failure
    assert failure is not None
    assert "[key]" in failure.detail
    assert SECRET not in repr(asked) + repr(target) + " ".join(target.warnings)
    assert any("have headers of the plan: x-key" in warning for warning in target.warnings)
    assert pickle.loads(pickle.dumps(target)) == target


def test_an_unset_variable_stops_before_anything_is_sent_but_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a placeholder goes out, and is said, so that a plan can be tried on the simulator without its secrets."""
    monkeypatch.delenv("GATEWAY_KEY")
    model = replace(MODEL, headers={"x-key": "$GATEWAY_KEY"})
    with pytest.raises(InputError, match="GATEWAY_KEY is not set: the header x-key needs it"):
        run(resolve(model, "https://models.example"))
    _, server, target = ask(model)
    assert b"x-key: no-key" in lines_of(server)
    assert any("GATEWAY_KEY not set" in warning for warning in target.warnings)


def test_an_authorization_of_the_plan_is_no_placeholder() -> None:
    """The warning of a missing key would be wrong then."""
    target = run(resolve(replace(MODEL, headers={"Authorization": "Bearer $GATEWAY_KEY"}), "http://models.example"))
    assert not any("placeholder" in warning for warning in target.warnings)
    assert "placeholder" in " ".join(run(resolve(MODEL, "http://models.example")).warnings)


@needs_openssl
@both_loops
def test_a_server_that_asks_for_a_clients_certificate_gets_it(own: Authority, loop: str) -> None:
    """With the plan's authority trusted; certificate and key in two files or in one."""
    for cert, key in ((own.client[0], own.client[1]), (own.both, None)):
        model = replace(MODEL, ca_file=str(own.ca), client_cert=str(cert), client_key=key and str(key))
        asked, _, _ = ask(model, own=own, asks=True, loop=loop)
        assert (asked.turn.outcome, (asked.turn.attempts[0].tls_ns or 0) > 0) == ("answered", True)


@needs_openssl
@both_loops
def test_without_a_certificate_the_server_that_asks_refuses(own: Authority, loop: str) -> None:
    """A failure of the turn, and no crash; nothing was answered."""
    asked, server, _ = ask(replace(MODEL, ca_file=str(own.ca)), own=own, asks=True, loop=loop)
    assert asked.turn.outcome == "failed"
    assert asked.turn.reason in ("tls", "incomplete")
    assert server.requests == []


@needs_openssl
def test_a_wrong_authority_is_a_tls_failure(own: Authority, tmp_path: Path) -> None:
    """Another authority's file opens nothing, nor does none at all."""
    other = authority(tmp_path / "other")
    for ca_file in (str(other.ca), None):
        asked, _, _ = ask(replace(MODEL, ca_file=ca_file), own=own)
        failure = asked.turn.attempts[0].failure
        assert failure is not None
        assert (failure.reason, "certificate verify failed" in failure.detail) == ("tls", True)


@needs_openssl
@both_loops
def test_two_models_with_other_files_share_no_connection(own: Authority, loop: str) -> None:
    """One engine, one address: who may come in as one does not let the other in."""
    shown = replace(MODEL, ca_file=str(own.ca), client_cert=str(own.both))
    bare = replace(MODEL, ca_file=str(own.ca))

    async def go() -> list[str]:
        async with serving(Script([(0, reply())]), context=own.context(asks=True)) as server, new_engine() as engine:
            outcomes = []
            for model in (shown, bare, shown):
                asker = Asker(engine, await resolve(model, server.url), LimitSettings(), RetrySettings())
                turn = (await asker.ask(PROMPT, trace="t.1")).turn
                outcomes.append(f"{turn.outcome} {turn.attempts[0].reused}")
            return outcomes

    assert run(asyncio.wait_for(go(), 10), loop) == ["answered False", "failed False", "answered True"]


@needs_openssl
@both_loops
def test_a_client_certificate_goes_through_a_tunnel(own: Authority, loop: str) -> None:
    """The proxy grants the way and sees neither header nor certificate."""
    with proxy_server() as proxy:
        model = replace(
            MODEL, ca_file=str(own.ca), client_cert=str(own.both), proxy=proxy.url, headers={"x-key": "$GATEWAY_KEY"}
        )
        asked, server, _ = ask(model, own=own, asks=True, loop=loop)
    assert asked.turn.outcome == "answered"
    assert f"x-key: {SECRET}".encode() in lines_of(server)
    assert SECRET.encode() not in b"".join(proxy.heads)


@needs_openssl
def test_a_file_that_cannot_be_used_is_named_before_anything_is_sent(own: Authority, tmp_path: Path) -> None:
    """Missing, not PEM, a key of another certificate, a key with a passphrase, a key alone."""
    noise = tmp_path / "noise.pem"
    noise.write_text("nothing of the kind")
    locked = tmp_path / "locked.key"
    locked.write_text(
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGrMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg=\n"
        "-----END ENCRYPTED PRIVATE KEY-----\n"
    )
    client, server_key = str(own.client[0]), str(own.server[1])
    for wrong, told in (
        ({"ca_file": str(tmp_path / "gone.pem")}, "ca_file: No such file"),
        ({"ca_file": str(noise)}, "ca_file: "),
        ({"client_cert": str(tmp_path / "gone.pem")}, "client_cert: No such file"),
        ({"client_cert": client, "client_key": str(tmp_path / "gone")}, "client_key: No such file"),
        ({"client_cert": client, "client_key": server_key}, "client_cert and its key: "),
        ({"client_cert": client, "client_key": str(locked)}, "client_cert and its key: "),
        ({"client_key": server_key}, "client_key without client_cert"),
    ):
        with pytest.raises(InputError, match=told) as caught:
            run(resolve(replace(MODEL, **wrong), "https://models.example"))
        assert caught.value.path is not None


@needs_openssl
def test_a_file_that_has_gone_since_is_a_failure_and_no_crash(own: Authority, tmp_path: Path) -> None:
    """Workers read it when they first connect, be it on another machine."""
    copy = tmp_path / "ca.pem"
    shutil.copy(own.ca, copy)

    async def go() -> Asked:
        async with serving(Script([(0, reply())]), context=own.context()) as server, new_engine() as engine:
            target = await resolve(replace(MODEL, ca_file=str(copy)), server.url)
            copy.unlink()
            return await Asker(engine, target, LimitSettings(), RetrySettings()).ask(PROMPT, trace="t.1")

    failure = run(asyncio.wait_for(go(), 10)).turn.attempts[0].failure
    assert failure is not None
    assert (failure.reason, str(copy) in failure.detail) == ("tls", True)


@needs_openssl
def test_counting_and_the_sdks_client_go_the_same_way(own: Authority) -> None:
    """Path, header and certificate are theirs, too."""
    count = Script(
        [(0, b'{"input_tokens": 7}')],
        head=b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 19\r\n\r\n",
        chunked=False,
    )
    model = replace(
        MODEL, ca_file=str(own.ca), client_cert=str(own.both), path="/gate", headers={"x-key": "$GATEWAY_KEY"}
    )

    async def go() -> tuple[int, int, list[bytes]]:
        async with serving(count, context=own.context(asks=True)) as server, new_engine() as engine:
            target = await resolve(model, server.url)
            ours = await asyncio.to_thread(counted, PROMPT, target)
            async with anthropic_client(engine, target) as client:
                said = await client.messages.count_tokens(model="m-1", messages=[{"role": "user", "content": "x"}])
            return ours, said.input_tokens, server.requests

    ours, theirs, requests = run(asyncio.wait_for(go(), 20))
    assert (ours, theirs) == (7, 7)
    assert [one.split(b" HTTP")[0] for one in requests] == [b"POST /gate/count_tokens"] * 2
    assert all(f"x-key: {SECRET}".encode() in one for one in requests)


PLAN = """
corpus = { path = "c" }
questions = { path = "q" }
[[model]]
id = "m"
path = "/gate"
ca_file = "ca.pem"
[model.headers]
x-team = "search"
Authorization = "Bearer $GATEWAY_KEY"
[[arm]]
kind = "control"
"""


def test_a_plan_has_them_and_the_manifest_tells_names_only(tmp_path: Path) -> None:
    """What is on file is what the plan says: the variable, not what it holds."""
    (tmp_path / "plan.toml").write_text(PLAN)
    found = plan_as_json(read_plan(tmp_path / "plan.toml"))["model"][0]
    assert found["headers"] == {"x-team": "search", "Authorization": "Bearer $GATEWAY_KEY"}
    assert (found["path"], found["ca_file"], found["client_cert"]) == ("/gate", "ca.pem", None)


@pytest.mark.parametrize(("line", "number", "problem"), [
    ('Host = "x"', 9, "the header Host belongs to the connection"),
    ('x-api-key = "abcdef"', 9, "the header x-api-key is one that a secret stands in"),
])  # fmt: skip
def test_a_wrong_header_is_an_input_error_with_its_line(tmp_path: Path, line: str, number: int, problem: str) -> None:
    """And a remedy, before anything is sent."""
    (tmp_path / "plan.toml").write_text(PLAN.replace('x-team = "search"', line))
    with pytest.raises(InputError, match=problem) as caught:
        read_plan(tmp_path / "plan.toml")
    assert caught.value.line == number
    assert caught.value.remedy


@pytest.mark.parametrize("path", ["gate", "/ga te", "/g\\u00e4te", ""])
def test_a_path_that_cannot_be_asked_for_is_an_input_error(tmp_path: Path, path: str) -> None:
    """With the plan's file."""
    (tmp_path / "plan.toml").write_text(PLAN.replace('"/gate"', f'"{path}"'))
    with pytest.raises(InputError) as caught:
        read_plan(tmp_path / "plan.toml")
    assert caught.value.path == tmp_path / "plan.toml"


@needs_openssl
def test_the_doctor_goes_the_same_way(own: Authority) -> None:
    """Through the proxy, with the certificate and the header: all of it is found, and none of the secret told."""
    with proxy_server() as proxy:
        model = replace(
            MODEL, ca_file=str(own.ca), client_cert=str(own.both), proxy=proxy.url, headers={"x-key": "$GATEWAY_KEY"}
        )

        async def go() -> tuple[Examination, list[bytes]]:
            async with serving(Script([(0, reply())]), context=own.context(asks=True)) as server:
                return await examine(model, server.url, Prices.load(), limit_s=10), server.requests

        found, requests = run(asyncio.wait_for(go(), 30))
    states = {one.check: one.state for one in found.findings}
    ways = ("connection", "proxy", "TLS", "key", "dialect", "measured turn", "keep-alive")
    assert {way: states[way] for way in ways} == dict.fromkeys(ways, "ok")
    assert all(f"x-key: {SECRET}".encode() in one for one in requests)
    assert (len(requests), found.requests) == (found.requests, len(requests))
    assert SECRET not in repr(found)
    assert all(head.startswith(b"CONNECT 127.0.0.1:") for head in proxy.heads)
