"""What hundreds of connections that begin together look up and load: each thing once."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import pytest
from asking import head, new_engine, run
from scripted_server import Script, serving
from stream_events import reply

from loadrig.providers import load
from loadrig.wire.exchange import Exchange, Request
from loadrig.words.settings import LimitSettings

COUNT = 40


def connected(scheme: str, host: str) -> list[Exchange]:
    """Forty exchanges that begin in one turn of the loop, with a server that speaks no TLS."""

    async def go() -> list[Exchange]:
        async with serving(Script([(0, reply())])) as server, new_engine() as engine:
            url = f"{scheme}://{host}:{server.port}"
            each = [Exchange(Request(head(url), "", (b"{}",)), load("anthropic").reader()) for _ in range(COUNT)]
            await asyncio.gather(*(engine.run(one, LimitSettings(connect=0.5)) for one in each))
            return each

    return run(go())


def test_a_name_is_looked_up_once_for_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty connections to one name: one lookup, forty replies."""
    asked: list[Any] = []
    look_up = socket.getaddrinfo

    def counted(host: Any, *further: Any, **named: Any) -> Any:
        asked.extend([host] if host == "localhost" else [])
        return look_up("127.0.0.1" if host == "localhost" else host, *further, **named)

    monkeypatch.setattr(socket, "getaddrinfo", counted)
    assert [one.status for one in connected("http", "localhost")] == [200] * COUNT
    assert asked == ["localhost"]


def test_a_name_without_an_address_fails_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty connections to a name that there is not: one lookup, and each has its failure, of connecting."""
    asked: list[Any] = []
    look_up = socket.getaddrinfo

    def nowhere(host: Any, *further: Any, **named: Any) -> Any:
        if host != "nowhere.test":
            return look_up(host, *further, **named)
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    failures = [one.failure for one in connected("http", "nowhere.test")]
    assert [failure.reason for failure in failures if failure is not None] == ["connect"] * COUNT
    assert asked == ["nowhere.test"]


def test_certificates_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty connections over TLS: the system's store is loaded once, not forty times at some 20 ms of CPU."""
    made: list[ssl.SSLContext] = []
    make = ssl.create_default_context

    def counted() -> ssl.SSLContext:
        made.append(make())
        return made[-1]

    monkeypatch.setattr(ssl, "create_default_context", counted)
    connected("https", "127.0.0.1")
    assert len(made) == 1
