"""A real model on a server that shares nothing with us: its own counters are held against ours.

`make model-server` builds it once, in some ten minutes; no test does. Without it they are skipped.
"""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import new_engine, run
from command import loadrig, only_run
from real_model import real_model

from loadrig.wire.turn import Asked, Asker, resolve
from loadrig.words.prompt import Ask, Part, Prompt, Tool
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

ROOT = Path(__file__).resolve().parents[1]
PLAN = """\
probe = false
[corpus]
path = "{root}/corpora/tiny"
[questions]
path = "{root}/questions/tiny.jsonl"
limit = 2
[[model]]
id = "smollm2"
base_url = "{url}"
max_tokens = 20
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
k = 1
[[arm]]
kind = "full_context"
[load]
concurrency = [2]
warmup = 1
cycle = false
[limits]
first_byte = 400
first_token = 400
"""
SEARCH = Tool("search", "Searches.", '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}')


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with real_model() as url:
        yield url


pytestmark = pytest.mark.realserver


def counted(url: str) -> dict[str, int]:
    """The server's counters: prompt tokens it worked through, which leaves out those it had cached, and tokens made."""
    with urllib.request.urlopen(f"{url}/metrics") as reply:
        found = re.findall(r"^llamacpp:(\w+_total) (\S+)$", reply.read().decode(), re.MULTILINE)
    return {
        name: int(float(value)) for name, value in found if name.endswith(("prompt_tokens_total", "predicted_total"))
    }


def ask(url: str, *prompts: Prompt) -> list[Asked]:
    async def go() -> list[Asked]:
        target = await resolve(ModelSettings(id="smollm2", max_tokens=20), url)
        async with new_engine() as engine:
            asker = Asker(engine, target, LimitSettings(), RetrySettings())
            return [await asker.ask(prompt, trace=f"t.{number}") for number, prompt in enumerate(prompts)]

    return run(go(), "uvloop")


def question(text: str, *tools: Tool) -> Prompt:
    return Prompt("Be brief.", (Ask((Part(text),)),), tools)


def test_its_counters_are_ours(model: str, tmp_path: Path) -> None:
    """Three arms, two questions, two in flight: every trial is answered; prompt tokens less cached ones and output
    tokens, warm-up included, are those of /metrics."""
    (tmp_path / "small.toml").write_text(PLAN.format(root=ROOT, url=model))
    before = counted(model)
    called = loadrig("run", tmp_path / "small.toml", "--inline", "--out", tmp_path / "out", timeout_s=500)
    assert called.code == 0, called.err
    read, after = only_run(tmp_path / "out"), counted(model)
    attempts = [attempt for record in read.records for turn in record.turns for attempt in turn.attempts]
    usages = [attempt.usage for attempt in attempts if attempt.usage is not None]
    assert {record.reason for record in read.records} <= {None, "cut_off"}
    assert len(usages) == 7
    assert after["prompt_tokens_total"] - before["prompt_tokens_total"] == sum(usage.input or 0 for usage in usages)
    predicted = after["tokens_predicted_total"] - before["tokens_predicted_total"]
    assert predicted == sum(usage.output or 0 for usage in usages)
    assert sum(usage.cache_read or 0 for usage in usages) > 0


def test_a_prompt_it_cannot_hold_is_its_own_error(model: str) -> None:
    """Its error has another shape than the API's; type and message are told all the same."""
    (asked,) = ask(model, question("word " * 9_000))
    assert (asked.turn.outcome, asked.turn.reason) == ("failed", "http_4xx")
    failure = asked.turn.attempts[0].failure
    assert failure is not None
    assert failure.detail.startswith("exceed_context_size_error: ")


def test_connections_it_closes_are_no_failures(model: str) -> None:
    """It closes after each stream: three questions, three connections, each answered in one attempt."""
    asked = ask(model, *(question(f"Say {word}.") for word in ("one", "two", "three")))
    assert [len(one.turn.attempts) for one in asked] == [1, 1, 1]
    assert all(one.reply is not None for one in asked)


def test_tools_it_cannot_use_end_in_a_text(model: str) -> None:
    """A model that calls no tool answers, or says nothing: no failure, and no call."""
    (asked,) = ask(model, question("How tall is the tower? Search for it.", SEARCH))
    assert asked.turn.outcome in ("answered", "unanswered")
    assert asked.reply is not None
    assert asked.reply.tool_uses == ()
