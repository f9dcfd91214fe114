"""Keeps the kernel stamping while a module's tests run, so that a first read has its stamp."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from loadrig.wire.kernel import ask_for_stamps, open_stamper
from loadrig.words.clock import SystemClock


@contextlib.contextmanager
def connected(*, stamped: bool) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a loopback connection; the first is asked for stamps."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as near:
        if stamped:
            ask_for_stamps(near)
        near.connect(listener.getsockname())
        far, _ = listener.accept()
        with far:
            yield near, far


@pytest.fixture(scope="module", autouse=True)
def stamping() -> Iterator[None]:
    """The kernel takes milliseconds to begin to stamp: waits for it, and keeps it on."""
    stamper = open_stamper(SystemClock())
    if stamper is None:  # a platform without
        yield
        return
    with contextlib.closing(stamper), connected(stamped=True) as (near, far):
        far.send(b"x")
        while stamper.read(near)[2] is None:
            far.send(b"x")
        yield
