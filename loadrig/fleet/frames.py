"""What driver and worker send each other: MessagePack, over the socket of a worker process in frames that begin with
four bytes of length, over Ray as the bytes of a call.

One thing in a frame is a pickle, the setup: a plan may hold anybody's arms. It comes from the process that started the
worker, over a socket that nobody else has.
"""

from __future__ import annotations

import asyncio
import struct

import msgspec

from loadrig.worker.messages import Batch, Order

_LENGTH = struct.Struct("<I")


class Start(msgspec.Struct, frozen=True):
    """All a worker process is told first. `paths` is the driver's `sys.path`, for a plan's modules may lie anywhere on
    it; `setup` a pickled `Setup`; `begun` the file in which it counts the trials it begins."""

    paths: tuple[str, ...]
    setup: bytes
    begun: str


class Asked(msgspec.Struct, frozen=True):
    """An exchange; `number` tells its answer from those of others."""

    number: int
    order: Order


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The worker can take trials."""


class Answer(msgspec.Struct, frozen=True, tag=True):
    """The batch of an exchange."""

    number: int
    batch: Batch


class Broken(msgspec.Struct, frozen=True, tag=True):
    """What ended the worker, in words."""

    detail: str


Said = Ready | Answer | Broken

_encoder = msgspec.msgpack.Encoder()
packed = _encoder.encode
order_decoder = msgspec.msgpack.Decoder(Order)
batch_decoder = msgspec.msgpack.Decoder(Batch)
start_decoder = msgspec.msgpack.Decoder(Start)
asked_decoder = msgspec.msgpack.Decoder(Asked)
said_decoder: msgspec.msgpack.Decoder[Said] = msgspec.msgpack.Decoder(Said)


def frame(message: Start | Asked | Said) -> bytes:
    """A message as it goes over the socket."""
    payload = packed(message)
    return _LENGTH.pack(len(payload)) + payload


async def read(reader: asyncio.StreamReader) -> bytes | None:
    """The payload of the next frame; None when the other side is gone, even if in the middle of one."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
