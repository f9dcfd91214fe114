"""Plays one planned reply onto an ASGI connection, each event at its due time, and stamps what left when."""

from __future__ import annotations

import hashlib
import time
from asyncio import Task
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from loadrig.simulator.latency import Due
from loadrig.simulator.metronome import Lateness, Metronome
from loadrig.simulator.reply import Reply, Text
from loadrig.simulator.truth import Row

Send = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Stage:
    """What all streams share: the clockwork and the record of its lateness."""

    metronome: Metronome
    lateness: Lateness


async def play(stage: Stage, dues: list[Due], send: Send, *, gone: Task[None], row: Row) -> int:
    """Send each event at `row.service_ns` + its offset; the number sent (fewer when the client has gone).

    The hot path: some ten thousand events a second pass here, so stamps stay in locals until the end.
    """
    assert row.service_ns is not None
    start_ns, metronome, late, now = row.service_ns, stage.metronome, stage.lateness.add, time.perf_counter_ns
    first_token_ns = first_text_ns = last_token_ns = None
    sent = 0
    for due in dues:
        due_ns = start_ns + due.offset_ns
        at_ns = now()
        if at_ns < due_ns:
            await metronome.until(due_ns)
            at_ns = now()
        if gone.done():
            break
        event = due.event
        await send({"type": "http.response.body", "body": event.data, "more_body": True})
        late(at_ns - due_ns)
        if event.kind in ("text", "input"):
            last_token_ns = at_ns
            first_token_ns = first_token_ns or at_ns
            if event.kind == "text":
                first_text_ns = first_text_ns or at_ns
        if not sent:
            row.first_event_ns = at_ns
        sent += 1
        row.end_ns = at_ns
    row.first_token_ns, row.first_text_ns, row.last_token_ns = first_token_ns, first_text_ns, last_token_ns
    return sent


def settle(row: Row, sent: list[Due], reply: Reply) -> None:
    """Fill in what follows from the events sent: their number, the tokens they carry, the digest of their text."""
    row.events = len(sent)
    row.output = sum(due.event.steps for due in sent)
    row.thinking = min(row.output, reply.thinking_tokens)
    texts = sum(due.event.kind == "text" for due in sent)
    answered = [block for block in reply.blocks if isinstance(block, Text)]
    row.spans = sum(block.spans for block in answered)
    row.fabricated = sum(block.fabricated for block in answered)
    row.misplaced = sum(block.misplaced for block in answered)
    said = [piece for block in answered for piece in block.pieces]
    if texts:
        row.text_sha256 = hashlib.sha256("".join(said[:texts]).encode()).hexdigest()
