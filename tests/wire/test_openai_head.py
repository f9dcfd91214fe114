"""The head of chat completions: what every server looks at as the official SDK sends it, and nothing more."""

from __future__ import annotations

import openai
import pytest
from asking import KEY, PROMPT, new_engine, run
from chat_events import reply
from scripted_server import Script, serving

from loadrig.wire.head import OURS
from loadrig.wire.turn import Asker, Target, resolve
from loadrig.words.errors import InputError
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

MODEL = ModelSettings(id="m-1", provider="openai", max_tokens=100)
NOT_SENT = ("user-agent", "x-stainless-")  # by which the SDK tells about itself; the first is our own


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A test's environment holds what the test puts there."""
    ours = ("OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_BASE_URL", "OPENAI_ORG_ID")
    for name in (*ours, "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def resolved(base_url: str | None = "http://127.0.0.1:9/v1") -> Target:
    return run(resolve(MODEL, base_url))


def parts(request: bytes) -> tuple[bytes, list[tuple[bytes, bytes]], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    return line, [(name, value) for name, _, value in (header.partition(b": ") for header in headers)], body


def shared(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept = [pair for pair in headers if pair[0].lower().decode() not in OURS]
    return [pair for pair in kept if not pair[0].lower().decode().startswith(NOT_SENT)]


def test_over_a_socket_we_send_what_the_untouched_sdk_sends(clean: pytest.MonkeyPatch) -> None:
    """Request line, header names, case, order and values, and the body: equal but for the headers that are listed."""
    clean.setenv("OPENAI_API_KEY", KEY)

    async def both() -> list[bytes]:
        async with serving(Script([(0, reply())])) as server, new_engine() as engine:
            target = await resolve(MODEL, f"{server.url}/v1")
            await Asker(engine, target, LimitSettings(), RetrySettings()).ask(PROMPT, trace="t1.1")
            async with openai.AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1") as client:
                stream = await client.chat.completions.create(
                    model="m-1", max_tokens=100, stream=True, stream_options={"include_usage": True},
                    messages=[{"role": "system", "content": "Answer."}, {"role": "user", "content": "Question: what?"}],
                )  # fmt: skip
                async for _ in stream:
                    pass
            return server.requests

    (line, ours, body), (sdk_line, theirs, sdk_body) = map(parts, run(both()))
    assert (line, body) == (sdk_line, sdk_body)
    assert shared(ours) == shared(theirs)
    assert {name.decode().lower() for name, _ in theirs} >= {"user-agent", "x-stainless-lang"}
    assert (b"x-loadrig-attempt", b"t1.1.1") in ours
    assert (b"Accept-Encoding", b"identity") in ours


@pytest.mark.parametrize(("base_url", "target", "host"), [
    ("http://127.0.0.1:9/v1", "/v1/chat/completions", "127.0.0.1:9"),
    ("http://127.0.0.1:9/v1/", "/v1/chat/completions", "127.0.0.1:9"),
    ("https://h.example/openai/v1?api-version=1", "/openai/v1/chat/completions?api-version=1", "h.example"),
    ("http://[::1]:80", "/chat/completions", "[::1]"),
])  # fmt: skip
def test_the_base_url_is_written_as_for_the_sdk(base_url: str, target: str, host: str) -> None:
    """Its path comes first, a query last; the host without a port that goes without saying."""
    lines = resolved(base_url).head.lines

    assert lines.startswith(f"POST {target} HTTP/1.1\r\nHost: {host}\r\n".encode())


def test_the_environment_does_not_change_a_run(clean: pytest.MonkeyPatch) -> None:
    """What the SDK would have taken from there is ignored and named."""
    quiet = resolved().head
    clean.setenv("OPENAI_BASE_URL", "http://elsewhere")
    clean.setenv("OPENAI_ORG_ID", "org-1")

    assert resolved().head.lines == quiet.lines
    assert [warning.split()[0] for warning in resolved().warnings] == ["OPENAI_BASE_URL", "OPENAI_ORG_ID"]


def test_no_key_for_the_providers_own_endpoint_is_an_input_error() -> None:
    """It names the variable to set, before anything is sent."""
    with pytest.raises(InputError, match="OPENAI_API_KEY") as caught:
        resolved(None)
    assert "OPENAI_API_KEY_FILE" in caught.value.remedy


def test_a_key_may_stand_in_a_file(clean: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """As with every provider, by the variable with _FILE; the provider's own endpoint is then asked over TLS."""
    path = tmp_path_factory.mktemp("key") / "key"
    path.write_text(f"{KEY}\n")
    clean.setenv("OPENAI_API_KEY_FILE", str(path))
    head = resolved(None).head

    assert head.origin == ("https", "api.openai.com", 443)
    assert head.url == "https://api.openai.com:443/v1/chat/completions"
    assert f"authorization: Bearer {KEY}\r\n".encode() in head.lines
    assert KEY not in repr(head)


def test_a_key_of_two_lines_is_an_input_error(clean: pytest.MonkeyPatch) -> None:
    """It would end its header and begin another."""
    clean.setenv("OPENAI_API_KEY", "a\r\nx-evil: 1")

    with pytest.raises(InputError, match="one line"):
        resolved(None)


def test_loopback_needs_no_key_and_a_foreign_host_is_warned_of() -> None:
    """A placeholder goes out where a key cannot matter; elsewhere this is said."""
    assert (b"Bearer no-key" in resolved().head.lines, resolved().warnings) == (True, ())
    assert "placeholder" in " ".join(resolved("http://models.example:8000/v1").warnings)
