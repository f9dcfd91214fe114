"""TLS: verified, timed apart, its errors told apart."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import threading
from collections import Counter
from pathlib import Path

import pytest
from asking import LOOPS, PROMPT, asker, new_engine, run, until
from scripted_server import OK, Script, serving
from stream_events import reply, start
from threaded_server import read_request, self_signed, server_context, threaded

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
def test_many_streams_use_their_connections_again(certificate: tuple[Path, Path], loop: str) -> None:
    """Sixty-four at once, three times: one handshake each, the attempts after it on what was there."""

    async def go() -> tuple[Counter[bool], int, int]:
        script = Script([(0, start()), (30, reply()), (31, b": the end of the message follows\n\n")])
        async with serving(script, context=server_context(certificate)) as server, new_engine(certificate[0]) as engine:
            one, reused = asker(engine, server.url), Counter[bool]()
            for lap in range(3):
                turns = await asyncio.gather(*(one.ask(PROMPT, trace=f"{lap}-{number}.1") for number in range(64)))
                reused.update(asked.turn.attempts[0].reused for asked in turns)
            return reused, len(server.peers), engine.open_connections

    assert run(asyncio.wait_for(go(), 20), loop) == ({False: 64, True: 128}, 64, 64)


@both_loops
@pytest.mark.parametrize("politely", [True, False])
def test_a_close_that_the_loop_has_not_seen_yet_is_found_before_use(
    certificate: tuple[Path, Path], loop: str, politely: bool
) -> None:
    """With a close_notify or without, while the loop was busy: the next turn takes a fresh connection at once."""
    hung_up = threading.Event()

    def play(sock: socket.socket) -> None:
        read_request(sock)
        sock.sendall(OK.replace(b"transfer-encoding: chunked", b"content-length: %d" % len(reply())) + reply())
        if politely:
            assert isinstance(sock, ssl.SSLSocket)
            with contextlib.suppress(OSError):
                sock.setblocking(False)
                sock.unwrap()
        sock.close()
        hung_up.set()

    async def go(port: int) -> Asked:
        async with new_engine(certificate[0]) as engine:
            one = asker(engine, f"https://127.0.0.1:{port}")
            await one.ask(PROMPT, trace="t.1")
            hung_up.wait(5)  # holds the loop on purpose
            return await one.ask(PROMPT, trace="t.2")

    with threaded(play, server_context(certificate)) as port:
        turn = run(asyncio.wait_for(go(port), 10), loop).turn
    assert (turn.outcome, turn.attempts[0].reused, turn.notes) == ("answered", False, ())


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
