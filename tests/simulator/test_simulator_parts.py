"""The small pure parts: tokens, cut replies, schedules, slots, the lateness record and the prompt cache."""

from __future__ import annotations

import asyncio
from random import Random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from loadrig.simulator.cache import Charge, PromptCache
from loadrig.simulator.counting import pieces, tokens, weight
from loadrig.simulator.latency import Due, Slots, fill_silences, schedule
from loadrig.simulator.metronome import Lateness
from loadrig.simulator.prefix import prefixes
from loadrig.simulator.reading import read
from loadrig.simulator.reply import Call, Reply, Text, cut_to
from loadrig.simulator.request import parse_request
from loadrig.simulator.scenario import Scenario
from loadrig.simulator.stream import PING, Envelope, Event, events

MS = 1_000_000
LONG = "word " * 3000


@given(st.text())
def test_pieces_joined_are_the_text(text: str) -> None:
    """Cutting into tokens loses nothing and makes no empty piece."""
    cut = pieces(text)
    assert "".join(cut) == text
    assert all(cut)


def test_tokens_follow_the_ratio() -> None:
    """Ten letters weigh 2.05 tokens: 3 at ratio 1.13, 4 at 1.54; a blank weighs nothing."""
    assert abs(weight("abcde fghij") - 2.05) < 1e-9
    assert (tokens(weight("abcde fghij"), 1.13), tokens(weight("abcde fghij"), 1.54)) == (3, 4)


def test_a_reply_is_cut_to_max_tokens() -> None:
    """2 of thinking and 3 of text, cut to 4: two text tokens stay and the stop reason says so."""
    reply = Reply("end_turn", (Text(("a", " b", " c")),), thinking_tokens=2)
    assert cut_to(reply, 5) == reply
    assert cut_to(reply, 4) == Reply("max_tokens", (Text(("a", " b")),), 2)
    assert cut_to(reply, 1) == Reply("max_tokens", (), 1)


def test_the_steps_of_the_events_sum_to_the_output_tokens() -> None:
    """Thinking, text and two tool calls: whatever is decoded is on some event, once."""
    calls = (Call("toolu_1", "search", ("{", "}")), Call("toolu_2", "read", ("{}",)))
    reply = Reply("tool_use", (Text(("a", "b")), *calls), thinking_tokens=7)
    assert reply.output_tokens == 7 + 2 + (3 + 2) + (3 + 1)
    assert sum(event.steps for event in events(Envelope("m", "x", Charge(5)), reply)) == reply.output_tokens


def test_due_times_are_base_prefill_and_decode() -> None:
    """Base 100 ms, 10 tokens of 1 ms prefill, 20 ms a token: opening at 50, tokens at 110 and 130 ms."""
    scenario = Scenario(base_ms=100, prefill_us_per_token=1000, decode_ms_per_token=20, jitter=0)
    reply = Reply("end_turn", (Text(("a", "b")),))
    dues = schedule(events(Envelope("m", "x", Charge(10)), reply), scenario, 10, Random(0))
    offsets = [due.offset_ns / MS for due in dues if due.event.kind in ("start", "text")]
    assert offsets == [50, 110, 130]


@given(st.integers(0, 2**32), st.floats(0, 1))
def test_due_times_never_go_back(seed: int, jitter: float) -> None:
    """Whatever the jitter, an event is never due before the one ahead of it."""
    reply = Reply("end_turn", (Text(("a",) * 20),), thinking_tokens=3)
    dues = schedule(events(Envelope("m", "x", Charge(10)), reply), Scenario(jitter=jitter), 10, Random(seed))
    offsets = [due.offset_ns for due in dues]
    assert offsets == sorted(offsets)


def test_pings_fill_a_silence() -> None:
    """A silence of 25 with a ping every 10 gets two, at 10 and 20."""
    event = Event("text", b"x")
    filled = fill_silences([Due(0, event), Due(25, event)], 10)
    assert filled == [Due(0, event), Due(10, PING), Due(20, PING), Due(25, event)]


def test_a_slot_is_handed_on_in_order_at_its_due_end() -> None:
    """Two wait for one slot: the first to come begins at the holder's end, the second at the first's."""

    async def story() -> list[int]:
        slots = Slots(1)
        begins = [await slots.acquire(5)]
        first, second = asyncio.ensure_future(slots.acquire(6)), asyncio.ensure_future(slots.acquire(7))
        await asyncio.sleep(0)
        slots.release(40)
        begins.append(await first)
        slots.release(90)
        begins.append(await second)
        return begins

    assert asyncio.run(story()) == [5, 40, 90]


def test_a_waiter_that_gives_up_leaves_the_slot_to_others() -> None:
    """Cancelled while waiting, or just after being served, it holds nothing."""

    async def story() -> int:
        slots = Slots(1)
        await slots.acquire(1)
        early, late = asyncio.ensure_future(slots.acquire(2)), asyncio.ensure_future(slots.acquire(3))
        await asyncio.sleep(0)
        early.cancel()
        await asyncio.sleep(0)
        slots.release(10)
        late.cancel()
        await asyncio.gather(early, late, return_exceptions=True)
        return await asyncio.wait_for(slots.acquire(50), 1)

    assert asyncio.run(story()) == 50


def test_quantiles_of_lateness_are_upper_edges_of_steps() -> None:
    """99 events 0.01 ms late and one 7.02 ms: p50 reads 0.05, p99 0.05, the largest 7.05."""
    late = Lateness()
    for _ in range(99):
        late.add(10_000)
    late.add(7_020_000)
    assert [late.quantile_ms(share) for share in (0.5, 0.99, 1.0)] == [0.05, 0.05, 7.05]
    assert Lateness().quantile_ms(0.5) is None


def prompt(*, ttl: str = "5m", tail: str = "x?", text: str = LONG) -> object:
    """A request with one marked block and a varying question, reduced to what the cache sees."""
    marked = {"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": ttl}}
    content = [marked, {"type": "text", "text": tail}]
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": content}]}
    return prefixes(parse_request(msgspec.json.encode(body)), 1.0)


def cached_after(seconds: float, *, ttl: str = "5m") -> bool:
    """True when a prefix written at 0 (its response begun at 1 s) is read `seconds` later."""
    cache, second = PromptCache(512), 1_000_000_000
    cache.began("k", prompt(ttl=ttl), request_ns=0, response_ns=second)  # type: ignore[arg-type]
    return cache.charge("k", prompt(ttl=ttl, tail="another?"), int(seconds * second)).read > 0  # type: ignore[arg-type]


def test_an_entry_lives_from_the_response_to_its_lifetime() -> None:
    """Usable once the writing response began, dead five minutes (or an hour) after the request."""
    assert [cached_after(at) for at in (0.5, 1.0, 299.9, 300.0)] == [False, True, True, False]
    assert [cached_after(at, ttl="1h") for at in (3599.9, 3600.0)] == [True, False]


def test_a_read_refreshes_the_entry() -> None:
    """Read at 200 s, an entry of five minutes is still there at 450 s."""
    cache, second = PromptCache(512), 1_000_000_000
    cache.began("k", prompt(), request_ns=0, response_ns=second)  # type: ignore[arg-type]
    reads = [cache.charge("k", prompt(), at * second).read > 0 for at in (200, 450)]  # type: ignore[arg-type]
    assert reads == [True, True]


def test_a_short_prefix_is_never_cached() -> None:
    """Below the minimum all tokens are plain input, and nothing says why."""
    short = prompt(text="word " * 20)
    assert PromptCache(512).charge("k", short, 0) == Charge(short.tokens)  # type: ignore[arg-type, attr-defined]


def test_kinds_of_tokens_sum_to_the_prompt() -> None:
    """What is written is the marked prefix; the question after it is input."""
    whole = prompt()
    charge = PromptCache(512).charge("k", whole, 0)  # type: ignore[arg-type]
    assert charge.input + charge.write_5m == whole.tokens  # type: ignore[attr-defined]
    assert 0 < charge.input < 10


def test_too_long_a_prompt_is_refused() -> None:
    """Beyond the context the API answers 400 and tells both figures."""
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": LONG}]}
    reading = read(msgspec.json.encode(body), "a", Scenario(context_tokens=1000))
    assert reading.refused is not None
    assert "prompt is too long" in reading.refused
    assert "> 1000 maximum" in reading.refused
