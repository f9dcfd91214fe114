"""The null target: known bytes at known times, over real sockets, and a log that says what really happened."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from loadrig.selftest.null import Schedule, null_target, truth
from loadrig.simulator.null.transcript import pieces

MS = 1_000_000
PACED = Schedule(tokens=4, first_ms=60, step_ms=40)


def request(attempt: str, body: bytes = b"{}") -> bytes:
    return b"POST /v1/messages HTTP/1.1\r\nX-Loadrig-Attempt: %b\r\nContent-Length: %d\r\n\r\n%b" % (
        attempt.encode(), len(body), body,
    )  # fmt: skip


@contextmanager
def connected(url: str, context: ssl.SSLContext | None = None) -> Iterator[socket.socket]:
    place = urlsplit(url)
    with socket.create_connection((str(place.hostname), place.port or 0), timeout=5) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is None:
            yield raw
        else:
            with context.wrap_socket(raw, server_hostname=place.hostname) as wrapped:
                yield wrapped


def reply_on(connection: socket.socket) -> tuple[bytes, list[int]]:
    """All bytes up to the end of the chunked body, and the instant of each read that held a token."""
    got, stamps = b"", []
    while not got.endswith(b"0\r\n\r\n"):
        read = connection.recv(1 << 20)
        stamps += [time.perf_counter_ns()] * read.count(b"text_delta")
        got += read
        assert read
    return got, stamps


def test_a_reply_is_the_transcript_byte_for_byte_and_the_connection_stays() -> None:
    """Two requests on one connection, the second cut in two: the same bytes twice, both in the log in order."""
    with null_target(Schedule(3), model="m-1") as url, connected(url) as connection:
        connection.sendall(request("a.1.1"))
        first, _ = reply_on(connection)
        whole = request("b.1.1", b"x" * 5000)
        connection.sendall(whole[:60])
        connection.sendall(whole[60:])
        second, _ = reply_on(connection)
        log = truth(url)
    assert first == second == b"".join(pieces(3, "m-1"))
    assert list(log) == ["a.1.1", "b.1.1"]


def test_the_transcript_has_the_events_it_says() -> None:
    """1,000 tokens are 1,000 text deltas, 1,006 events and an output count of 1,000; every chunk says its length."""
    whole = b"".join(pieces(1000, "m"))
    assert (whole.count(b"\r\nevent: "), whole.count(b"text_delta")) == (Schedule(1000).events, 1000)
    assert b'"output_tokens":1000}' in whole
    body = whole[whole.index(b"\r\n\r\n") + 4 :]
    while size := int(body[: body.index(b"\r\n")], 16):
        at = body.index(b"\r\n") + 2
        assert body[at + size : at + size + 2] == b"\r\n"
        body = body[at + size + 2 :]


def test_tokens_come_one_by_one_when_they_are_due() -> None:
    """First token 60 ms after the request, then one each 40 ms, never early, and the log agrees with the reader."""
    with null_target(PACED) as url, connected(url) as connection:
        connection.sendall(request("a.1.1"))
        _, stamps = reply_on(connection)
        row = truth(url)["a.1.1"]
    assert len(set(stamps)) == 4
    assert row["first_token_ns"] - row["received_ns"] >= 60 * MS
    assert row["last_token_ns"] - row["first_token_ns"] >= (120 - 20) * MS  # a late token does not delay the next
    assert row["first_token_ns"] <= stamps[0]
    assert row["end_ns"] <= stamps[-1]


def test_a_client_that_goes_away_costs_nobody_else_a_token() -> None:
    """One of two leaves in mid-reply: the other's reply is whole and only it is in the log."""
    with null_target(PACED) as url, connected(url) as stays:
        with connected(url) as leaves:
            leaves.sendall(request("leaves"))
            leaves.recv(1)
        stays.sendall(request("stays"))
        got, _ = reply_on(stays)
        log = truth(url)
    assert re.findall(rb'"text":"(\S* ?\w+)"', got) == [b" one", b" word", b" after", b" the"]
    assert list(log) == ["stays"]


def test_a_reply_larger_than_any_buffer_arrives_whole() -> None:
    """60,000 tokens, 9 MB in one write: the end leaves later than the beginning."""
    with null_target(Schedule(60_000)) as url, connected(url) as connection:
        connection.sendall(request("a.1.1"))
        got, _ = reply_on(connection)
        log = truth(url)
    assert got == b"".join(pieces(60_000, "null"))
    assert log["a.1.1"]["end_ns"] > log["a.1.1"]["first_token_ns"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificate with openssl")
def test_it_speaks_tls(tmp_path: Path) -> None:
    """The same bytes through TLS, twice on one connection."""
    pem = tmp_path / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=null", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(pem), "-out", str(pem)],
        check=True, capture_output=True,
    )  # fmt: skip
    with null_target(PACED, certificate=pem) as url:
        context = ssl.create_default_context(cafile=str(pem))
        with connected(url, context) as connection:
            for name in ("a.1.1", "b.1.1"):
                connection.sendall(request(name))
                got, stamps = reply_on(connection)
                assert (got, len(set(stamps))) == (b"".join(pieces(4, "null")), 4)
