"""An independent server: `llmock` (PyPI), which shares no code and no author with us, understands and is understood.

Install it into an environment of its own and put `llmock` on the PATH, or name it in LLMOCK.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from asking import new_engine, run

from loadrig.wire.turn import Asked, Asker, resolve
from loadrig.words.prompt import Ask, Part, Prompt, Said, Tool, ToolResult, ToolResults
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

PROGRAM = os.environ.get("LLMOCK") or shutil.which("llmock")
pytestmark = [
    pytest.mark.realserver,
    pytest.mark.skipif(PROGRAM is None, reason="llmock is not installed (not on PATH, LLMOCK not set)"),
]
SEARCH = Tool("search", "Searches.", '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}')
PLAIN = Prompt("Be brief.", (Ask((Part("Question: who are you?"),)),))
MS = 1_000_000


@contextmanager
def llmock(*options: str) -> Iterator[str]:
    """Its Anthropic base URL; the process ends with the block."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = [str(PROGRAM), "serve", "-h", "127.0.0.1", "-p", str(port), "--log-level", "warning", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 30
            while not is_listening(port) and time.monotonic() < until:
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/anthropic"
        finally:
            process.terminate()


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ask(url: str, *prompts: Prompt, limits: LimitSettings | None = None) -> list[Asked]:
    async def go() -> list[Asked]:
        target = await resolve(ModelSettings(id="claude-haiku-4-5", max_tokens=50), url)
        async with new_engine() as engine:
            asker = Asker(engine, target, limits or LimitSettings(), RetrySettings())
            return [await asker.ask(prompt, trace=f"t.{number}") for number, prompt in enumerate(prompts)]

    return run(go(), "uvloop")


def test_plain_replies_and_a_tool_call_answered() -> None:
    """Latency and chunk delay are seen as set; the tool's result leads to an answer; one connection serves."""
    with llmock("--latency-ms", "100", "--stream-chunk-delay-ms", "20", "--response-style", "varied") as url:
        question = Ask((Part("Question: who are you?"),))
        first, call = ask(url, PLAIN, Prompt("Use the tool.", (question,), (SEARCH,)))
        assert call.reply is not None
        (use,) = call.reply.tool_uses
        results = ToolResults((ToolResult(use.id, "nothing found"),))
        (last,) = ask(url, Prompt("Use the tool.", (question, Said(call.reply.said.content), results), (SEARCH,)))

    assert [asked.turn.outcome for asked in (first, call, last)] == ["answered"] * 3
    assert (call.reply.stop, use.name, use.arguments) == ("tools", "search", '{"query": "mock-query"}')
    assert (first.turn.ttft_ns or 0) >= 100 * MS
    assert first.turn.gaps is not None
    assert 15 * MS < first.turn.gaps.p50_ns < 60 * MS
    assert call.turn.attempts[0].reused


@pytest.mark.parametrize(
    ("code", "reason"),
    [(400, "http_4xx"), (429, "rate_limited"), (500, "http_5xx"), (503, "overloaded"), (529, "overloaded")],
)
def test_its_errors_have_our_reasons(code: int, reason: str) -> None:
    """Each injected status becomes its failure, in the endpoint's words: its 503 says itself that it is an overload."""
    with llmock("--error-rate", f"{code}=1.0") as url:
        turn = ask(url, PLAIN)[0].turn

    assert (turn.outcome, turn.reason, turn.attempts[0].http_status) == ("failed", reason, code)
    assert turn.attempts[0].failure is not None
    assert "_error: " in turn.attempts[0].failure.detail


FAULTS = [
    ("disconnect", {"incomplete"}),
    ("truncate", {"incomplete"}),
    ("malformed", {"protocol", "incomplete"}),
    ("stall", {"timeout"}),
]


@pytest.mark.parametrize(("fault", "reasons"), FAULTS)
def test_its_broken_streams_are_failures(fault: str, reasons: set[str]) -> None:
    """Disconnected, truncated, malformed and stalled streams are never a short success."""
    with llmock("--stream-fault", f"{fault}=1.0", "--stream-stall-seconds", "3") as url:
        turn = ask(url, PLAIN, limits=LimitSettings(first_token=0.5, gap=0.5))[0].turn

    assert turn.outcome == "failed"
    assert turn.reason in reasons
