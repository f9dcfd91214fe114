"""TLS: verified, timed apart, its errors told apart."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from asking import LOOPS, PROMPT, asker, new_engine, run, until
from scripted_server import Script, serving
from stream_events import reply
from threaded_server import self_signed, server_context

from loadrig.wire.turn import Asked
from loadrig.words.record import Failure
from loadrig.words.settings import LimitSettings

both_loops = pytest.mark.parametrize("loop", LOOPS)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("tls"))


def ask_over_tls(certificate: tuple[Path, Path], *, trusted: bool, loop: str, host: str = "127.0.0.1") -> list[Asked]:
    context = server_context(certificate)

    async def go() -> list[Asked]:
        ca_file = certificate[0] if trusted else None
        async with serving(Script([(0, reply())]), context=context) as server, new_engine(ca_file) as engine:
            one = asker(engine, server.url.replace("127.0.0.1", host))
            return [await one.ask(PROMPT, trace=f"t.{number}") for number in range(2)]

    return run(go(), loop)


@both_loops
def test_a_trusted_certificate_is_accepted_and_tls_timed_apart(certificate: tuple[Path, Path], loop: str) -> None:
    """Connect and TLS have a figure each; a reused connection has neither."""
    first, second = (asked.turn.attempts[0] for asked in ask_over_tls(certificate, trusted=True, loop=loop))

    assert (first.failure, second.failure, second.reused) == (None, None, True)
    assert (first.connect_ns or 0) > 0
    assert (first.tls_ns or 0) > 0
    assert second.tls_ns is None


@both_loops
def test_an_unknown_certificate_is_a_tls_failure(certificate: tuple[Path, Path], loop: str) -> None:
    """Verification is on; the reason names it."""
    asked = ask_over_tls(certificate, trusted=False, loop=loop)[0]

    found = asked.turn.attempts[0].failure or Failure("", "")
    assert found.reason == "tls"
    assert "certificate verify failed" in found.detail


def test_a_certificate_for_another_name_is_a_tls_failure(certificate: tuple[Path, Path]) -> None:
    """Trusted, but not for this host."""
    asked = ask_over_tls(certificate, trusted=True, loop="asyncio", host="localhost")[0]

    assert asked.turn.reason == "tls"


def test_ssl_cert_file_is_honoured(certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual variable names the certificates to trust."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))

    assert ask_over_tls(certificate, trusted=False, loop="asyncio")[0].turn.outcome == "answered"


@both_loops
def test_a_server_that_speaks_no_tls_is_a_tls_failure(loop: str) -> None:
    """Plain HTTP on the other side: connected, no handshake."""

    async def go() -> Asked:
        def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad\r\n\r\n")
            writer.close()

        plain = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with plain, new_engine() as engine:
            port = plain.sockets[0].getsockname()[1]
            return await asker(engine, f"https://127.0.0.1:{port}").ask(PROMPT, trace="t.1")

    assert run(go(), loop).turn.reason == "tls"


@both_loops
def test_a_silent_handshake_ends_with_the_connect_limit(loop: str) -> None:
    """Accepted, and not a byte: timeout, phase connect, and no socket is left for long."""

    async def go() -> Asked:
        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            while await reader.read(1000):
                pass
            writer.close()

        silent = await asyncio.start_server(hold, "127.0.0.1", 0)
        async with silent, new_engine() as engine:
            port = silent.sockets[0].getsockname()[1]
            before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
            one = asker(engine, f"https://127.0.0.1:{port}", LimitSettings(connect=0.1))
            asked = await one.ask(PROMPT, trace="t.1")
            await until(lambda: len(os.listdir("/proc/self/fd")) <= before)  # noqa: PTH208
            return asked

    found = run(asyncio.wait_for(go(), 5), loop).turn.attempts[0].failure or Failure("", "")
    assert (found.reason, found.phase) == ("timeout", "connect")
