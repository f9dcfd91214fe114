"""A dialect that nothing here was written for goes through the same wire, by its place alone."""

from __future__ import annotations

import pytest
from asking import LOOPS, PROMPT, new_engine, run
from scripted_server import Script, serving

from loadrig.wire.turn import Asked, Asker, resolve
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

STREAM = [
    (5.0, b'data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n'),
    (15.0, b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'),
    (25.0, b'data: {"choices":[{"delta":{"content":" there"}}],"usage":{"prompt_tokens":7,"completion_tokens":2}}\n\n'),
    (30.0, b"data: [DONE]\n\n"),
]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_second_dialect_needs_no_change_of_the_wire(loop: str) -> None:
    """Named as `module:attr`, it brings head, path, body and reader; marks, outcome and record are the same for all."""

    async def go() -> tuple[Asked, bytes, int | None]:
        async with serving(Script(STREAM)) as server, new_engine() as engine:
            target = await resolve(ModelSettings(id="toy-1", provider="toy_dialect:CHAT"), server.url)
            asked = await Asker(engine, target, LimitSettings(), RetrySettings()).ask(PROMPT, trace="t.1")
            return asked, server.requests[0], server.step_of(asked.turn.attempts[0].first_token_ns)

    asked, request, first = run(go(), loop)
    assert request.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert (asked.turn.outcome, asked.turn.text, first) == ("answered", "Hi there", 1)
    assert asked.turn.usage is not None
    assert (asked.turn.usage.input, asked.turn.usage.output) == (7, 2)
