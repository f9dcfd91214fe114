"""Over a socket: what is a first token, what a gap is, and when a rate is withheld. Delays are a tenth of a story's.

Which event a stamp belongs to is asked of the server: the number of the step it had sent last (from 0).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from types import ModuleType

import pytest
from asking import LOOPS, PROMPT, ask, asker, new_engine, run
from scripted_server import Script, Step, serving
from stream_events import blk, delta, end, signature, start, stop, txt

from loadrig.marks import Kind
from loadrig.providers import Dialect, Reader
from loadrig.wire.turn import Asked, Asker
from loadrig.words.record import Gaps, Turn

both_loops = pytest.mark.parametrize("loop", LOOPS)
MS = 1_000_000


def steps(*events: bytes, every_ms: float = 15) -> list[Step]:
    return [(number * every_ms, event) for number, event in enumerate(events)]


def asked(*events: bytes, every_ms: float = 15, loop: str = "asyncio") -> tuple[Turn, tuple[int | None, int | None]]:
    """The turn, and the steps of its first token and first answer token."""
    got, server = ask(Script(steps(*events, every_ms=every_ms)), loop=loop)
    attempt = got.turn.attempts[0]
    return got.turn, (server.step_of(attempt.first_token_ns), server.step_of(attempt.first_answer_ns))


@both_loops
def test_a1_opening_events_and_empty_text_are_no_first_token(say: ModuleType, loop: str) -> None:
    """The first token is the first text that is not empty: step 3, not 0, 1 or 2."""
    turn, first = asked(
        say.start(),
        say.blk("text"),
        say.txt(""),
        say.txt("Yes"),
        say.end() + say.delta("end_turn") + say.stop(),
        loop=loop,
    )

    assert (first, turn.outcome, turn.text) == ((3, 3), "answered", "Yes")
    assert turn.ttft_ns is not None
    assert turn.ttft_ns >= 43 * MS  # three steps of 15; the server's timers, uvloop's, may be two milliseconds early


def test_a2_a_keep_alive_is_no_first_token(say: ModuleType) -> None:
    """Pings and comment lines pass; the text that follows them counts."""
    _, first = asked(
        say.start(),
        say.ping(),
        b": hold\n\n",
        say.blk("text"),
        say.txt("Blue"),
        say.end() + say.delta("end_turn") + say.stop(),
    )

    assert first == (4, 4)


def test_a3_thinking_and_answer_are_two_figures(say: ModuleType) -> None:
    """The first generated token is the thought's, the first answer token the text's."""
    turn, first = asked(
        say.start(),
        say.blk("thinking"),
        say.think("Let"),
        say.end() + say.blk("text", 1),
        say.txt("42", 1),
        say.end(1) + say.delta("end_turn") + say.stop(),
    )

    assert (first, turn.text) == ((2, 4), "42")


def test_a4_a_tool_call_has_a_first_token_and_no_answer_token(say: ModuleType) -> None:
    """The turn is in the first-token sample; its first answer is absent, not 0."""
    turn, first = asked(
        say.start(),
        say.blk("tool_use"),
        say.json_('{"q":'),
        say.json_('"x"}'),
        say.end() + say.delta("tool_use"),
        say.stop(),
    )

    assert first == (2, None)
    assert turn.ttft_ns is not None


def test_a5_nothing_generated_is_no_sample(say: ModuleType) -> None:
    """No first-token time at all, outcome empty."""
    turn, first = asked(say.start(), say.delta("end_turn", {"output_tokens": 1}), say.stop())

    assert (first, turn.ttft_ns, turn.outcome, turn.reason) == ((None, None), None, "unanswered", "empty")


class Noting:
    """A dialect whose readers note when they are first handed a long event, before they look into it."""

    def __init__(self, inner: Dialect, noted_ns: list[int]) -> None:
        self._inner = inner
        self._noted_ns = noted_ns
        self.endpoint, self.body, self.error = self._inner.endpoint, self._inner.body, self._inner.error

    def reader(self) -> Reader:
        reader = self._inner.reader()
        noted_ns, feed = self._noted_ns, reader.feed

        class NotingReader:
            heard = reader.heard
            ended = property(lambda _: reader.ended)

            def feed(self, payload: bytes) -> Kind:
                if len(payload) > 100_000:
                    noted_ns.append(time.perf_counter_ns())
                return feed(payload)

        return NotingReader()


def test_a6_the_stamp_is_taken_before_decoding(say: ModuleType) -> None:
    """Fifty streams whose first text is 200 kB: each stamp is older than the first look into its event."""
    noted_ns: list[int] = []
    big = [
        (0.0, say.start() + say.blk("text")),
        (20.0, say.txt("x" * 200_000)),
        (25.0, say.delta("end_turn") + say.stop()),
    ]

    async def go() -> list[Asked]:
        async with serving(Script(big)) as server, new_engine() as engine:
            one = asker(engine, server.url)
            one = Asker(
                engine, replace(one.target, dialect=Noting(one.target.dialect, noted_ns)), one.limits, one.retry
            )
            return await asyncio.gather(*(one.ask(PROMPT, trace=f"t{number}.1") for number in range(50)))

    stamps_ns = [asked.turn.attempts[0].first_token_ns or 0 for asked in run(go())]
    assert len(noted_ns) == 50
    assert all(stamp < noted for stamp, noted in zip(sorted(stamps_ns), sorted(noted_ns), strict=True))


@pytest.mark.parametrize("hidden", [signature(), b""])
@pytest.mark.parametrize("block", [blk("thinking"), blk("redacted_thinking", data="x")])
def test_a7_a_signature_or_hidden_thinking_is_no_text(hidden: bytes, block: bytes) -> None:
    """The answer's first token is its text; signature and hidden thought are in no answer; the turn is labelled."""
    turn, first = asked(
        start(), block + hidden, end() + blk("text", 1), txt("Ok", 1), end(1) + delta("end_turn") + stop()
    )

    assert (first, turn.text, turn.hidden_thinking) == ((3, 3), "Ok", True)
    assert turn.attempts[0].first_block_ns is not None


@both_loops
def test_a8_a_reply_in_one_lump_is_marked_and_its_gaps_withheld(say: ModuleType, loop: str) -> None:
    """Headers early, forty events in one write: first token as seen, burst, no gaps, no time per token."""
    lump = (
        say.start()
        + say.blk("text")
        + b"".join(say.txt(f"{n} ") for n in range(40))
        + say.end()
        + say.delta("end_turn")
        + say.stop()
    )
    got, server = ask(Script([(0, b": open\n\n"), (100, lump)]), loop=loop)

    turn = got.turn
    assert (turn.burst, turn.gaps, turn.tpot_ns) == (True, None, None)
    assert server.step_of(turn.attempts[0].first_token_ns) == 1


def test_a8_an_uncompressed_reply_is_asked_for(say: ModuleType) -> None:
    """A compressed stream would hide its timing."""
    _, server = ask(Script([(0, say.reply())]))

    assert b"\r\nAccept-Encoding: identity\r\n" in server.requests[0]


def four(say: ModuleType) -> tuple[bytes, ...]:
    return (say.start() + say.blk("text"), say.txt("a"), say.txt("b"), say.txt("c"), say.txt("d"))


@both_loops
def test_b1_events_are_not_tokens(say: ModuleType, loop: str) -> None:
    """Four texts 50 ms apart, 31 tokens: gaps of 50 ms, but 150 / 30 = 5 ms a token."""
    turn, _ = asked(*four(say), say.delta("end_turn", {"output_tokens": 31}) + say.stop(), every_ms=50, loop=loop)

    assert turn.gaps is not None
    assert turn.tpot_ns is not None
    assert abs(turn.gaps.p50_ns - 50 * MS) < 30 * MS
    assert abs(turn.tpot_ns - 5 * MS) < 1 * MS


def test_b2_first_token_time_is_no_gap(say: ModuleType) -> None:
    """Four content events have exactly three gaps, however late the first one was."""
    opening, first, *_ = four(say)
    late = [
        (200.0, opening + first),
        (215, say.txt("b")),
        (230, say.txt("c")),
        (245, say.txt("d") + say.delta("end_turn") + say.stop()),
    ]
    got, _ = ask(Script(late))

    assert got.turn.gaps is not None
    assert got.turn.gaps.count == 3
    assert got.turn.gaps.max_ns < 150 * MS


def test_b3_speed_is_over_the_span_of_the_tokens(say: ModuleType) -> None:
    """First token at 60, last at 100 ms, 101 tokens: 0.4 ms a token, whatever came before."""
    got, _ = ask(
        Script(
            [
                (60, say.start() + say.blk("text") + say.txt("a")),
                (100, say.txt("b")),
                (110, say.delta("end_turn", {"output_tokens": 101}) + say.stop()),
            ]
        )
    )

    assert got.turn.tpot_ns is not None
    assert abs(got.turn.tpot_ns - 400_000) < 200_000


def test_b4_thinking_is_not_added_to_the_output(say: ModuleType) -> None:
    """120 output tokens of which 80 were thought are 120; with the thought hidden, 40 are visible."""
    usage = {"output_tokens": 120, "output_tokens_details": {"thinking_tokens": 80}}
    hidden = say.start() + say.blk("thinking") + say.signature() + say.end() + say.blk("text", 1) + say.txt("a", 1)
    turn, _ = asked(hidden, say.txt("b", 1), say.delta("end_turn", usage) + say.stop(), every_ms=78)

    assert turn.usage is not None
    assert (turn.usage.output, turn.usage.thinking) == (120, 80)
    assert turn.tpot_ns is not None
    assert abs(turn.tpot_ns - 2 * MS) < MS  # 78 ms / 39


def test_b4_hidden_thinking_of_unknown_size_has_no_rate() -> None:
    """Without the split nobody can say how many tokens were visible."""
    hidden = start() + blk("thinking") + signature() + end() + blk("text", 1) + txt("a", 1)
    turn, _ = asked(hidden, txt("b", 1), delta("end_turn", {"output_tokens": 120}) + stop())

    assert (turn.tpot_ns, turn.usage and turn.usage.output) == (None, 120)


def test_b5_one_token_has_no_gap_and_no_rate(say: ModuleType) -> None:
    """Not available, never 0."""
    turn, _ = asked(
        say.start() + say.blk("text"), say.txt("a"), say.delta("end_turn", {"output_tokens": 1}) + say.stop()
    )

    assert (turn.gaps, turn.tpot_ns) == (None, None)


def test_gap_figures_have_their_shape(say: ModuleType) -> None:
    """Two content events make one gap, which is every one of its own quantiles."""
    turn, _ = asked(say.start() + say.blk("text"), say.txt("a"), say.txt("b"), say.delta("end_turn") + say.stop())

    assert turn.gaps is not None
    only = turn.gaps.max_ns
    assert turn.gaps == Gaps(1, only, only, only)
