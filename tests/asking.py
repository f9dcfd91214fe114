"""Asks a scripted server one prompt, over a real socket, on either event loop and with either source of stamps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, TypeVar

import uvloop
from scripted_server import Script, Server, serving

from loadrig.providers import load
from loadrig.wire.engine import Engine
from loadrig.wire.head import Head, head_lines, origin_of
from loadrig.wire.turn import Asked, Asker, Target
from loadrig.words.clock import SystemClock
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.record import Stamp
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

T = TypeVar("T")

# Event loop, and whose stamps the engine takes: the kernel's, or the reads' own over the loop's own transports.
LOOPS = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
    "asyncio-read": asyncio.new_event_loop,
    "uvloop-read": uvloop.new_event_loop,
}
_stamps: ContextVar[Stamp] = ContextVar("stamps", default="kernel")
_provider: ContextVar[str] = ContextVar("provider", default="anthropic")
PROMPT = Prompt("Answer.", (Ask((Part("Question: what?"),)),))
MODEL = ModelSettings(id="m-1", max_tokens=100)
KEY = "key-that-nobody-may-see"


def run(work: Coroutine[Any, Any, T], loop: str = "asyncio") -> T:
    context = copy_context()
    context.run(_stamps.set, "read" if loop.endswith("-read") else "kernel")
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        return runner.run(work, context=context)


def new_engine(ca_file: Path | None = None) -> Engine:
    """An engine that takes its stamps as `run` was told."""
    return Engine(SystemClock(), ca_file=None if ca_file is None else str(ca_file), stamps=_stamps.get())


@contextmanager
def speaking(provider: str) -> Iterator[None]:
    """Askers made meanwhile speak this dialect."""
    before = _provider.set(provider)
    try:
        yield
    finally:
        _provider.reset(before)


async def until(condition: Callable[[], bool]) -> None:
    """Lets the loop turn until something that another party does has been done."""
    while not condition():  # noqa: ASYNC110 - what is waited for is a socket's state, which has no event
        await asyncio.sleep(0.001)


def head(url: str) -> Head:
    """A head that asks no SDK."""
    origin = origin_of(url)
    headers = [(b"Host", f"{origin[1]}:{origin[2]}".encode()), (b"Authorization", b"Bearer " + KEY.encode())]
    return Head(origin, head_lines(b"POST", b"/v1/messages", headers), (KEY,))


def asker(engine: Engine, url: str, limits: LimitSettings | None = None, retry: RetrySettings | None = None) -> Asker:
    target = Target(MODEL, load(_provider.get()), head(url))
    return Asker(engine, target, limits or LimitSettings(), retry or RetrySettings())


def ask(
    *scripts: Script, loop: str = "asyncio", limits: LimitSettings | None = None, retry: RetrySettings | None = None,
    total_s: float | None = None,
) -> tuple[Asked, Server]:  # fmt: skip
    """One turn against these scripts; what was asked, and the server that answered."""

    async def go() -> tuple[Asked, Server]:
        async with serving(*scripts) as server, new_engine() as engine:
            deadline_ns = None if total_s is None else engine.clock.now_ns() + int(total_s * 1e9)
            asked = await asker(engine, server.url, limits, retry).ask(PROMPT, trace="t1.1", deadline_ns=deadline_ns)
            return asked, server

    return run(go(), loop)
