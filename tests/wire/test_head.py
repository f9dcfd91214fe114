"""The request head: the SDK's own but for the listed headers, deaf to the environment, and silent about the key."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import pickle

import anthropic
import pytest
from asking import KEY, PROMPT, new_engine, run
from scripted_server import Script, serving
from stream_events import reply

from loadrig.wire.head import OURS, is_loopback, origin_of
from loadrig.wire.turn import Asked, Asker, Target, resolve
from loadrig.words.errors import InputError
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

MODEL = ModelSettings(id="m-1", max_tokens=100)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A test's environment holds what the test puts there."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def resolved(base_url: str | None = "http://127.0.0.1:9") -> Target:
    return run(resolve(MODEL, base_url))


def parts(request: bytes) -> tuple[bytes, list[tuple[bytes, bytes]], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    return line, [(name, value) for name, _, value in (header.partition(b": ") for header in headers)], body


def test_over_a_socket_we_send_what_the_untouched_sdk_sends(clean: pytest.MonkeyPatch) -> None:
    """Request line, header names, case, order and values, and the body: equal but for the headers in `OURS`."""
    clean.setenv("ANTHROPIC_API_KEY", KEY)

    async def both() -> list[bytes]:
        async with serving(Script([(0, reply())])) as server, new_engine() as engine:
            target = await resolve(MODEL, server.url)
            await Asker(engine, target, LimitSettings(), RetrySettings()).ask(PROMPT, trace="t1.1")
            async with anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url) as client:
                messages = [{"role": "user", "content": [{"type": "text", "text": "Question: what?"}]}]
                stream = await client.messages.create(
                    model="m-1", max_tokens=100, system="Answer.", messages=messages, stream=True
                )
                async for _ in stream:
                    pass
            return server.requests

    (line, ours, body), (sdk_line, theirs, sdk_body) = map(parts, run(both()))
    shared = [pair for pair in ours if pair[0].lower().decode() not in OURS]
    assert (line, body) == (sdk_line, sdk_body)
    assert shared == [pair for pair in theirs if pair[0].lower().decode() not in OURS]
    assert {name.lower().decode() for name, _ in set(ours) ^ set(theirs)} == {"accept-encoding", "x-loadrig-attempt"}
    assert (b"x-loadrig-attempt", b"t1.1.1") in ours
    assert (b"Accept-Encoding", b"identity") in ours


def test_the_path_of_a_base_url_is_kept() -> None:
    """A server behind a prefix is asked there."""
    assert resolved("http://127.0.0.1:9/anthropic").head.lines.startswith(b"POST /anthropic/v1/messages HTTP/1.1\r\n")


def test_the_environment_does_not_change_a_run(clean: pytest.MonkeyPatch) -> None:
    """Base URL, headers, tokens and profiles found there are ignored and named, and stay set."""
    quiet = resolved().head
    leaks = {
        "ANTHROPIC_BASE_URL": "http://elsewhere", "ANTHROPIC_CUSTOM_HEADERS": "x-odd: 1", "ANTHROPIC_AUTH_TOKEN": "t",
        "ANTHROPIC_PROFILE": "p", "ANTHROPIC_LOG": "debug",
    }  # fmt: skip
    for name, value in leaks.items():
        clean.setenv(name, value)
    head = resolved().head

    assert head.lines == quiet.lines
    assert sorted(leaks) == sorted(warning.split()[0] for warning in head.warnings)
    assert not any(value in warning for warning in head.warnings for value in ("elsewhere", "x-odd"))
    assert resolved().warnings == head.warnings


def test_no_key_for_the_providers_own_endpoint_is_an_input_error() -> None:
    """It names the variable to set, before anything is sent."""
    with pytest.raises(InputError, match="ANTHROPIC_API_KEY") as caught:
        resolved(None)
    assert "ANTHROPIC_API_KEY" in caught.value.remedy


def test_the_providers_own_endpoint_is_asked_over_tls(clean: pytest.MonkeyPatch) -> None:
    """With a key and no base URL the provider's own is used."""
    clean.setenv("ANTHROPIC_API_KEY", KEY)

    assert resolved(None).head.origin == ("https", "api.anthropic.com", 443)


def test_loopback_needs_no_key_and_a_foreign_host_is_warned_of() -> None:
    """A placeholder goes out where a key cannot matter; elsewhere this is said."""
    assert (b"Bearer no-key" in resolved().head.lines, resolved().warnings) == (True, ())
    assert "placeholder" in " ".join(resolved("http://models.example:8000").warnings)


def test_a_key_is_in_no_repr(clean: pytest.MonkeyPatch) -> None:
    """Head, target and whatever holds them can be printed and logged."""
    clean.setenv("ANTHROPIC_API_KEY", KEY)
    target = resolved()

    assert KEY.encode() in target.head.lines
    assert KEY not in repr(target)
    assert target.head.redacted(f"bad key {KEY}") == "bad key [key]"
    assert target.head.redacted(f"bad key {KEY[:-1]} it is") == "bad key [key] it is"
    assert target.head.redacted(f"bad key {KEY[:8]}") == "bad key [key]"
    assert target.head.redacted(f"bad key {KEY[:8]} ...") == "bad key [key] ..."


def test_a_target_travels_to_another_process() -> None:
    """A driver resolves once; workers get the target by pickle and need no SDK."""
    target = resolved()

    assert pickle.loads(pickle.dumps(target)) == target


def test_m4_with_debug_logging_no_key_is_logged(clean: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Everything logs at its loudest, the connection is refused: the key is in no line and no record."""
    clean.setenv("ANTHROPIC_API_KEY", KEY)
    clean.setenv("ANTHROPIC_LOG", "debug")
    caplog.set_level(logging.DEBUG)

    async def go() -> Asked:
        async with new_engine() as engine:
            target = await resolve(MODEL, "http://127.0.0.1:9")
            return await Asker(engine, target, LimitSettings(), RetrySettings()).ask(PROMPT, trace="t.1")

    asked = run(go())
    assert asked.turn.reason == "connect"
    assert caplog.records
    assert KEY not in caplog.text + repr(asked)


@pytest.mark.parametrize("url", ["simulator", "ftp://x", "http://", "http://x:port", "//x", ""])
def test_a_wrong_base_url_is_an_input_error(url: str) -> None:
    """Said before the run, with the shape that is wanted."""
    with pytest.raises(InputError, match="base URL"):
        origin_of(url)


@pytest.mark.parametrize(("host", "local"), [
    ("127.0.0.1", True), ("::1", True), ("localhost", True), ("10.0.0.1", False), ("api.anthropic.com", False),
])  # fmt: skip
def test_loopback_is_known_by_name_and_address(host: str, local: bool) -> None:
    """Only these need no key."""
    assert local == is_loopback(host)


def test_an_unknown_provider_is_an_input_error() -> None:
    """The known ones are named."""
    with pytest.raises(InputError, match="nobody") as caught:
        asyncio.run(resolve(dataclasses.replace(MODEL, provider="nobody"), None))
    assert "anthropic" in caught.value.remedy
