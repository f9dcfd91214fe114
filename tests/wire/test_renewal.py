"""Keys that change while a run lasts: taken again when their file is written, and once when they are refused."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import changing_head
import chat_events
import pytest
from asking import LOOPS, PROMPT, new_engine, run
from doorkeeper import Doorkeeper, doorkeeper
from hand_clock import HandClock
from scripted_server import Script, serving
from stream_events import reply

from loadrig.wire import anthropic_head
from loadrig.wire.renewal import HeadInForce, Source
from loadrig.wire.turn import Asked, Asker, Target, resolve
from loadrig.words.errors import InputError
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

both_loops = pytest.mark.parametrize("loop", LOOPS)
MODEL = ModelSettings(id="m-1", max_tokens=100)
S = 1_000_000_000


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the key t1, named by the environment."""
    for name in ("ANTHROPIC_API_KEY", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "key"
    path.write_text("t1\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(path))
    return path


async def asked(target: Target, turns: int = 1, retry: RetrySettings | None = None) -> list[Asked]:
    """Turns at once."""
    async with new_engine() as engine:
        one = Asker(engine, target, LimitSettings(), retry or RetrySettings())
        return await asyncio.gather(*(one.ask(PROMPT, trace=f"t{number}.1") for number in range(turns)))


def rewrite(path: Path, text: str) -> None:
    path.write_text(text)


def within(work: Coroutine[Any, Any, list[Asked]], loop: str = "asyncio") -> list[Asked]:
    return run(asyncio.wait_for(work, 10), loop)


def statuses(one: Asked) -> list[int | None]:
    return [attempt.http_status for attempt in one.turn.attempts]


@both_loops
def test_a_refused_key_that_was_replaced_is_asked_with_again_once(key: Path, loop: str) -> None:
    """t1 is let in, then only t2, which the file has by then: a 401 on record, a good reply, and t2 from there on."""
    keepers: list[Doorkeeper] = []

    async def go() -> list[Asked]:
        async with doorkeeper("t1") as keeper, new_engine() as engine:
            keepers.append(keeper)
            one = Asker(engine, await resolve(MODEL, keeper.url), LimitSettings(), RetrySettings())
            first = await one.ask(PROMPT, trace="t1.1")
            keeper.accepts = {"t2"}
            rewrite(key, "t2")
            return [first, await one.ask(PROMPT, trace="t2.1"), await one.ask(PROMPT, trace="t3.1")]

    found = within(go(), loop)
    assert [statuses(one) for one in found] == [[200], [401, 200], [200]]
    assert keepers[0].tokens == ["t1", "t1", "t2", "t2"]
    assert found[1].turn.outcome == "answered"
    assert found[1].turn.notes == ("the key was refused and had been replaced meanwhile: asked again with the new one",)
    refused, replied = found[1].turn.attempts
    assert refused.failure is not None
    assert (refused.failure.reason, replied.failure, replied.backoff_ns) == ("http_4xx", None, 0)
    assert "t1" not in repr(found[1].turn.attempts)


def test_a_key_is_renewed_over_chat_completions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same over the second dialect: the file of its own variable, a 401, and the key that stands there by then."""
    path = tmp_path / "key"
    path.write_text("t1\n")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(path))
    told = chat_events.start() + chat_events.txt("Hi") + chat_events.delta("end_turn") + chat_events.DONE
    keepers: list[Doorkeeper] = []

    async def go() -> list[Asked]:
        async with doorkeeper("t1", says=told) as keeper, new_engine() as engine:
            keepers.append(keeper)
            target = await resolve(replace(MODEL, provider="openai"), f"{keeper.url}/v1")
            one = Asker(engine, target, LimitSettings(), RetrySettings())
            first = await one.ask(PROMPT, trace="t1.1")
            keeper.accepts = {"t2"}
            rewrite(path, "t2")
            return [first, await one.ask(PROMPT, trace="t2.1"), await one.ask(PROMPT, trace="t3.1")]

    found = within(go())
    assert [statuses(one) for one in found] == [[200], [401, 200], [200]]
    assert [(one.turn.outcome, one.turn.text) for one in found] == [("answered", "Hi")] * 3
    assert keepers[0].tokens == ["t1", "t1", "t2", "t2"]


def test_a_key_refused_for_good_is_asked_with_once(key: Path) -> None:
    """Nothing has changed, so nothing is sent again."""

    async def go() -> list[Asked]:
        async with doorkeeper("t2") as keeper:
            found = await asked(await resolve(MODEL, keeper.url), turns=3)
            assert keeper.tokens == ["t1"] * 3
            return found

    assert [(statuses(one), one.turn.reason) for one in within(go())] == [([401], "http_4xx")] * 3


def test_another_key_that_is_refused_too_is_the_end(key: Path) -> None:
    """Two attempts and no third, also where [retry] would allow more."""

    async def go() -> list[Asked]:
        async with doorkeeper() as keeper:
            target = await resolve(MODEL, keeper.url)
            rewrite(key, "t2")
            return await asked(target, retry=RetrySettings(attempts=3))

    (found,) = within(go())
    assert (statuses(found), found.turn.outcome, found.turn.reason) == ([401, 401], "failed", "http_4xx")


@both_loops
def test_many_refused_at_once_take_one_head(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty turns in flight when the key ends: each is asked again, whoever gives out tokens is asked once."""
    monkeypatch.setattr(changing_head, "TOKENS", ["t1", "t2", "t3"])
    monkeypatch.setattr(changing_head, "taken", [])

    async def go() -> list[Asked]:
        async with doorkeeper("t2") as keeper:
            model = ModelSettings(id="toy-1", provider="changing_head:CHANGING")
            return await asked(await resolve(model, keeper.url), turns=30)

    assert [statuses(one) for one in within(go(), loop)] == [[401, 200]] * 30
    assert changing_head.taken == ["t1", "t2"]


def test_an_authority_that_always_has_another_is_asked_once_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts, however many tokens it would still give."""
    monkeypatch.setattr(changing_head, "TOKENS", ["t1", "t2", "t3", "t4"])

    async def go() -> list[Asked]:
        async with doorkeeper() as keeper:
            model = ModelSettings(id="toy-1", provider="changing_head:CHANGING")
            return await asked(await resolve(model, keeper.url))

    assert statuses(within(go())[0]) == [401, 401]


def test_a_renewal_is_none_of_the_retries_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused, renewed, overloaded, tried again: one retry allowed, three attempts; the wait stands in the last."""
    monkeypatch.setattr(changing_head, "TOKENS", ["t1", "t2"])
    refused, busy = (
        Script([(0, b"{}")], head=b"HTTP/1.1 %d X\r\ncontent-length: 2\r\n\r\n" % code, chunked=False)
        for code in (401, 529)
    )

    async def go() -> list[Asked]:
        async with serving(refused, busy, Script([(0, reply())])) as server:
            model = ModelSettings(id="toy-1", provider="changing_head:CHANGING")
            return await asked(await resolve(model, server.url), retry=RetrySettings(attempts=1, ceiling_s=0.01))

    (found,) = within(go())
    assert statuses(found) == [401, 529, 200]
    assert [attempt.backoff_ns for attempt in found.turn.attempts] == [0, 0, 10_000_000]


def test_a_refused_key_that_is_still_the_key_costs_no_capture(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that never needed the SDK does not import it to learn that nothing has changed."""
    source = Source(MODEL, "http://127.0.0.1:9")
    refused = source.head()
    monkeypatch.setattr(anthropic_head, "anthropic_head", lambda *_: pytest.fail("captured"))

    assert source.other_than(refused) is None


def test_an_authority_that_gives_the_same_again_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was asked, and had nothing new."""
    monkeypatch.setattr(changing_head, "TOKENS", ["t1"])

    async def go() -> list[Asked]:
        async with doorkeeper("t2") as keeper:
            model = ModelSettings(id="toy-1", provider="changing_head:CHANGING")
            return await asked(await resolve(model, keeper.url))

    assert statuses(within(go())[0]) == [401]


@pytest.mark.parametrize("lost", ["unset", "gone", "empty", "unreadable"])
def test_a_key_that_is_gone_does_not_replace_one(key: Path, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    """A file that is being written, or an environment without it: the refusal stands, and no placeholder goes out."""

    def lose() -> None:
        if lost == "unset":
            monkeypatch.delenv("ANTHROPIC_API_KEY_FILE")
            return
        key.rename(f"{key}-gone")
        if lost == "empty":
            key.write_text("\n")
        if lost == "unreadable":
            key.mkdir()

    async def go() -> list[Asked]:
        async with doorkeeper("no-key") as keeper:
            target = await resolve(MODEL, keeper.url)
            lose()
            return await asked(target)

    assert statuses(within(go())[0]) == [401]


def test_a_head_that_leads_elsewhere_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was set meanwhile may change the key, not whom it is sent to."""
    monkeypatch.setattr(changing_head, "TOKENS", ["t1", "t2"])
    model = ModelSettings(id="toy-1", provider="changing_head:CHANGING")
    before = Source(model, "http://127.0.0.1:1").head()

    assert Source(model, "http://127.0.0.1:2").other_than(before) is None


def test_a_key_file_that_is_written_anew_is_read_within_a_second(key: Path) -> None:
    """Before it is refused: looked at once a second, by whoever asks next; the head is another then."""

    source = Source(MODEL, "http://127.0.0.1:9")
    captured = source.head()

    async def go() -> list[bool]:
        clock = HandClock()
        heads = HeadInForce(captured, source, clock)
        first, seen = await heads.head(), []
        rewrite(key, "t2, longer")
        for clock.ns in (S - 1, S, S + 1):
            seen.append(await heads.head() is first)
        assert b"Bearer t2, longer" in (await heads.head()).lines
        return seen

    assert run(go()) == [True, False, False]


def test_a_key_file_that_was_replaced_is_seen_whatever_its_time(key: Path) -> None:
    """Same size, same time, another file: as a rename by whoever gives out keys leaves it."""
    source = Source(MODEL, "http://127.0.0.1:9")
    before, status = source.written(), key.stat()
    other = key.with_name("other")
    other.write_text("t2\n")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(key)

    assert source.written() != before


def test_without_a_file_nothing_is_looked_at(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key from the variable itself has no time to look at; a refusal still finds another one."""
    monkeypatch.delenv("ANTHROPIC_API_KEY_FILE")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "t1")
    source = Source(MODEL, "http://127.0.0.1:9")
    refused = source.head()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "t2")
    other = source.other_than(refused)

    assert source.written() is None
    assert other is not None
    assert b"Bearer t2" in other.lines


def test_a_key_in_two_places_is_an_input_error(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of them would be renewed could not be told."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "t3")
    with pytest.raises(InputError, match="both set"):
        Source(MODEL, "http://127.0.0.1:9").head()


@pytest.mark.parametrize("content", [None, b" \n", b"\xff\xfe"])
def test_a_file_without_a_key_is_an_input_error(key: Path, content: bytes | None) -> None:
    """Before anything is sent: the file is named, its content is not."""
    if content is None:
        key.unlink()
    else:
        key.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Source(MODEL, "http://127.0.0.1:9").head()
    assert caught.value.path == str(key)


def test_a_worker_has_the_sdk_before_its_first_trial_if_its_key_may_change(tmp_path: Path, key: Path) -> None:
    """In a process that was handed its target: loaded by the time it is ready, and not at all for a key that stays."""
    code = (
        "import asyncio, pickle, sys\n"
        "from loadrig.wire.engine import Engine; from loadrig.words.clock import SystemClock\n"
        "from loadrig.wire.turn import Asker; from loadrig.words.settings import LimitSettings, RetrySettings\n"
        "target = pickle.loads(sys.stdin.buffer.read())\n"
        "asyncio.run(Asker(Engine(SystemClock()), target, LimitSettings(), RetrySettings()).ready())\n"
        "print('anthropic' in sys.modules)"
    )
    target = pickle.dumps(run(resolve(MODEL, "http://127.0.0.1:9")))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")}
    found = [
        subprocess.run(
            [sys.executable, "-c", code], input=target, env={**kept, **more}, capture_output=True, check=True
        )
        for more in ({"ANTHROPIC_API_KEY_FILE": str(key)}, {"ANTHROPIC_API_KEY": "t1"})
    ]
    assert [one.stdout for one in found] == [b"True\n", b"False\n"]
