"""How a TLS connection ends and what goes on below the reply: told apart, answered, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import random
import socket
import ssl
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from asking import LOOPS, PROMPT, asker, head, new_engine, run, until
from scripted_server import OK, Script, serving
from stream_events import blk, delta, end, reply, start, stop, txt
from threaded_server import read_request, reset, self_signed, server_context, threaded

from loadrig.providers import load
from loadrig.wire.exchange import Exchange, Request
from loadrig.wire.tls import Tls
from loadrig.wire.turn import Asked
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.record import Failure
from loadrig.words.settings import LimitSettings

both_loops = pytest.mark.parametrize("loop", LOOPS)
on_our_own_socket = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
BODY = OK.replace(b"transfer-encoding: chunked", b"connection: close")
PART = BODY + start() + blk("text") + txt("Part")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("tls-ends"))


def notify(sock: socket.socket) -> None:
    """A close_notify, then the end."""
    assert isinstance(sock, ssl.SSLSocket)
    with contextlib.suppress(OSError):
        sock.unwrap()


def cut(sock: socket.socket) -> None:
    """The end without a word of TLS."""
    socket.socket.shutdown(sock, socket.SHUT_RDWR)


def ask_ten_times(finish: Callable[[socket.socket], None], loop: str, certificate: tuple[Path, Path]) -> list[Asked]:
    """Ten turns, one after the other, each on a connection that ends in mid-reply; none is left open."""

    def play(sock: socket.socket) -> None:
        read_request(sock)
        sock.sendall(PART)
        finish(sock)

    async def go(port: int) -> list[Asked]:
        async with new_engine(certificate[0]) as engine:
            one = asker(engine, f"https://127.0.0.1:{port}")
            asked = [await one.ask(PROMPT, trace=f"t.{number}") for number in range(10)]
            await until(lambda: engine.open_connections == 0)
            return asked

    with threaded(play, server_context(certificate)) as port:
        return run(asyncio.wait_for(go(port), 10), loop)


ENDS = {notify: "(closed by the server)", cut: "without a TLS close_notify)", reset: "(ConnectionResetError"}


@on_our_own_socket
@pytest.mark.parametrize("finish", ENDS)
def test_ends_in_mid_reply_are_told_apart(
    finish: Callable[[socket.socket], None], loop: str, certificate: tuple[Path, Path]
) -> None:
    """Announced, cut off or reset: incomplete each time, with its own words, ten connections of ten."""
    asked = ask_ten_times(finish, loop, certificate)

    failures = [one.turn.attempts[0].failure or Failure("", "") for one in asked]
    assert {failure.reason for failure in failures} == {"incomplete"}
    assert [failure.detail for failure in failures if ENDS[finish] not in failure.detail] == []
    assert {one.turn.text for one in asked} == {"Part"}


@both_loops
def test_closing_says_goodbye(loop: str, certificate: tuple[Path, Path]) -> None:
    """An idle connection is closed with a close_notify: for the server the session ended, it was not cut."""
    heard: list[bytes | str] = []

    def play(sock: socket.socket) -> None:
        read_request(sock)
        sock.sendall(BODY.replace(b"connection: close", b"content-length: %d" % len(reply())) + reply())
        try:
            heard.append(sock.recv(100))
        except ssl.SSLError as error:
            heard.append(str(error.reason))

    async def go(port: int) -> None:
        async with new_engine(certificate[0]) as engine:
            await asker(engine, f"https://127.0.0.1:{port}").ask(PROMPT, trace="t.1")
            assert engine.open_connections == 1
        await until(lambda: bool(heard))

    with threaded(play, server_context(certificate)) as port:
        run(asyncio.wait_for(go(port), 10), loop)
    assert heard == [b""] or loop.endswith("-read")  # the loop's own transport just hangs up


@both_loops
def test_a_large_body_is_uploaded_whole_over_tls(loop: str, certificate: tuple[Path, Path]) -> None:
    """4 MB arrive byte for byte; the upload ends after the server has most of it and before it answers."""
    prompt = Prompt("", (Ask((Part("x" * 4_000_000, static=True), Part("Question: what?"))),))

    async def go() -> tuple[Asked, bytes]:
        context = server_context(certificate)
        async with (
            serving(Script([(0, reply())]), context=context) as server,
            new_engine(certificate[0]) as engine,
        ):
            asked = await asker(engine, server.url).ask(prompt, trace="t.1")
            return asked, server.requests[0].partition(b"\r\n\r\n")[2]

    asked, body = run(go(), loop)
    attempt = asked.turn.attempts[0]
    assert body == b"".join(asked.fragments[digest] for digest in asked.turn.prompt)
    assert 0 < (attempt.upload_ns or 0) <= (attempt.headers_ns or 0) - attempt.begin_ns


@contextlib.contextmanager
def paired(certificate: tuple[Path, Path]) -> Iterator[tuple[Tls, socket.socket, ssl.SSLSocket]]:
    """A client after its handshake, the socket it reads from, and the server's end."""
    near, far = socket.socketpair()
    near.setblocking(False)
    server: list[ssl.SSLSocket] = []
    accepting = threading.Thread(
        target=lambda: server.append(server_context(certificate).wrap_socket(far, server_side=True))
    )
    accepting.start()
    tls = Tls(ssl.create_default_context(cafile=str(certificate[0])), "127.0.0.1")
    run(tls.shake_hands(near))
    accepting.join()
    with near, server[0]:
        yield tls, near, server[0]


@pytest.mark.parametrize("size", [1, 7, 4_096, 100_000])
def test_any_cut_of_the_ciphertext_gives_the_same_text(size: int, certificate: tuple[Path, Path]) -> None:
    """Records split over reads, several in one read: what comes out is what went in, whole records as they end."""
    text = random.Random(size).randbytes(40_000 if size > 1 else 2_000)
    with paired(certificate) as (tls, near, server):
        for begin in range(0, len(text), 9_000):
            server.sendall(text[begin : begin + 9_000])
        cipher = near.recv(200_000)
        pieces = [tls.opened(cipher[begin : begin + size]) for begin in range(0, len(cipher), size)]

    assert b"".join(pieces) == text
    assert (tls.ended, tls.outgoing()) == (None, b"")
    assert len([piece for piece in pieces if piece]) <= len(range(0, len(text), 9_000))


def test_damaged_ciphertext_ends_it(certificate: tuple[Path, Path]) -> None:
    """The whole record before it comes out; the damaged one does not, and the end has its reason."""
    with paired(certificate) as (tls, near, server):
        server.sendall(b"whole")
        server.sendall(b"damaged")
        cipher = bytearray(near.recv(10_000))
        cipher[-1] ^= 1
        assert tls.opened(bytes(cipher)) == b"whole"

    assert "BAD_RECORD_MAC" in (tls.ended or "").upper().replace(" ", "_")


class SServer:
    """`openssl s_server`: what it is told goes to the client, `K` at the beginning asks for new keys on both sides."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self.said: list[bytes] = []
        self._listening = threading.Thread(target=lambda: self.said.extend(self._stdout))
        self._listening.start()

    async def say(self, text: bytes) -> None:
        """Told, and taken in by itself."""
        self._stdin.write(text.replace(b"\r\n", b"\n"))  # it makes them CRLF
        self._stdin.flush()
        unread = bytearray(4)
        await until(lambda: fcntl.ioctl(self._stdin, termios.FIONREAD, unread) == 0 and not any(unread))

    async def wait_said(self, text: bytes, times: int = 1) -> None:
        await until(lambda: sum(text in line for line in self.said) >= times)

    def close(self) -> None:
        self._stdin.close()
        self._listening.join()


@contextlib.contextmanager
def s_server(certificate: tuple[Path, Path]) -> Iterator[tuple[SServer, int]]:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", str(certificate[0])]
    command += ["-key", str(certificate[1]), "-tls1_3", "-crlf", "-msg"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        server = SServer(process)
        try:
            yield server, port
            process.wait(5)
        finally:
            process.kill()
            server.close()


@on_our_own_socket
def test_new_keys_in_mid_reply_change_nothing(loop: str, certificate: tuple[Path, Path]) -> None:
    """The server asks for new keys between two tokens: the reply goes on under them, and so does the next request,
    with our own new keys announced before it."""
    ending = b"\n" + txt(" and rest") + end() + delta("end_turn") + stop()
    events = (start() + blk("text") + txt("Part") + ending).replace(b"\n", b"\r\n")
    opening = OK.replace(b"transfer-encoding: chunked", b"content-length: %d" % len(events))
    opening += start() + blk("text") + txt("Part")

    async def go(server: SServer, port: int) -> list[Exchange]:
        done: list[Exchange] = []
        await server.wait_said(b"ACCEPT")
        async with new_engine(certificate[0]) as engine:
            for number in range(2):
                request = Request(head(f"https://127.0.0.1:{port}"), f"t.1.{number}", (b"{}\n",))
                exchange = Exchange(request, load("anthropic").reader())
                task = asyncio.ensure_future(engine.run(exchange, LimitSettings()))
                await server.wait_said(b"{}", number + 1)
                await server.say(opening)
                await until(lambda exchange=exchange: exchange.marks.last_content_ns is not None)  # type: ignore[misc]
                await server.say(b"K\n")
                await server.say(ending)
                await task
                done.append(exchange)
            await server.say(b"Q\n")
        return done

    with s_server(certificate) as (server, port):
        exchanges = run(asyncio.wait_for(go(server, port), 10), loop)
    assert [exchange.reader.heard().text for exchange in exchanges] == ["Part and rest"] * 2
    assert [exchange.reused for exchange in exchanges] == [False, True]
    assert [line[:3] for line in server.said if b"KeyUpdate" in line][:3] == [b">>>", b"<<<", b">>>"]
