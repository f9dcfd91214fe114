"""Connections: reused without a cap, replaced when dead, closed when cancelled, and none left at the end."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time

import pytest
from asking import LOOPS, PROMPT, asker, new_engine, run, until
from scripted_server import OK, Script, serving
from stream_events import blk, reply, start, txt
from threaded_server import read_request, reset, threaded

from loadrig.wire.turn import Asked
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.record import Attempt, Failure
from loadrig.words.settings import LimitSettings, RetrySettings

both_loops = pytest.mark.parametrize("loop", LOOPS)
MS = 1_000_000
PART = start() + blk("text") + txt("Part")
STALL = Script([(0, PART)], end="hold")


def sockets() -> int:
    """Open sockets of this process."""
    fds = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]  # noqa: PTH208 - symbolic links, not files
    return sum(os.path.exists(fd) and "socket" in os.readlink(fd) for fd in fds)  # noqa: PTH110, PTH115


def failure(asked: Asked) -> Failure | None:
    return asked.turn.attempts[-1].failure


@both_loops
def test_a_connection_is_reused(loop: str) -> None:
    """The second turn connects no more, and says so."""

    async def go() -> list[Attempt]:
        async with serving(Script([(0, reply())])) as server, new_engine() as engine:
            one = asker(engine, server.url)
            attempts = [(await one.ask(PROMPT, trace=f"t.{number}")).turn.attempts[0] for number in range(2)]
            assert len(server.peers) == 1
            return attempts

    first, second = run(go(), loop)
    assert (first.reused, second.reused, second.connect_ns) == (False, True, None)
    assert first.connect_ns is not None


@both_loops
def test_the_next_turn_reuses_a_connection_whose_message_ends_a_packet_late(loop: str) -> None:
    """The last chunk often comes behind the last event; waiting a moment for it saves a connect and a handshake."""

    async def go() -> tuple[int, int]:
        late = Script([(0, reply()), (3, b": the end of the message follows\n\n")])
        async with serving(late) as server, new_engine() as engine:
            one = asker(engine, server.url)
            ends = [(await one.ask(PROMPT, trace=f"t.{number}")).turn.attempts[0].end_ns for number in range(2)]
            assert [server.step_of(end, number) for number, end in enumerate(ends)] == [0, 0]
            return len(server.peers), len(server.requests)

    assert run(go(), loop) == (1, 2)


@both_loops
def test_there_is_no_hidden_cap(loop: str) -> None:
    """150 turns at once are 150 requests at once, and 150 connections that the next round uses again."""

    async def go() -> tuple[int, int, int]:
        slow = Script([(0, start()), (300, reply())])
        async with serving(slow) as server, new_engine() as engine:
            one = asker(engine, server.url)
            peers, connections = [], 0
            for lap in range(2):
                await asyncio.gather(*(one.ask(PROMPT, trace=f"{lap}-{number}.1") for number in range(150)))
                peers.append(len(server.peers))
                connections = engine.open_connections
            return peers[0], peers[1], connections

    assert run(go(), loop) == (150, 150, 150)


@both_loops
def test_an_idle_connection_closed_by_the_server_is_found_before_use(loop: str) -> None:
    """The next turn takes a fresh one; nothing is sent twice."""

    async def go() -> tuple[Asked, int]:
        closing, keeping = Script([(0, reply())], end="close"), Script([(0, reply())])
        async with serving(closing, keeping) as server, new_engine() as engine:
            one = asker(engine, server.url)
            await one.ask(PROMPT, trace="t.1")
            await until(lambda: engine.open_connections == 0)
            return await one.ask(PROMPT, trace="t.2"), len(server.requests)

    asked, requests = run(go(), loop)
    assert (asked.turn.outcome, asked.turn.attempts[0].reused, requests) == ("answered", False, 2)


@both_loops
def test_a_close_that_the_loop_has_not_seen_yet_is_found_before_use(loop: str) -> None:
    """The server hung up while the loop was busy: the socket is looked at before it is used."""
    hung_up = threading.Event()
    answer = OK.replace(b"transfer-encoding: chunked", b"content-length: %d" % len(reply())) + reply()

    def serve(listener: socket.socket) -> None:
        for _ in range(2):
            peer, _address = listener.accept()
            peer.recv(65_536)
            peer.sendall(answer)
            peer.close()
            hung_up.set()

    async def go() -> Asked:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=serve, args=(listener,))
            thread.start()
            async with new_engine() as engine:
                one = asker(engine, f"http://127.0.0.1:{listener.getsockname()[1]}")
                await one.ask(PROMPT, trace="t.1")
                hung_up.wait(5)  # holds the loop on purpose
                asked = await one.ask(PROMPT, trace="t.2")
            thread.join(5)
            return asked

    turn = run(go(), loop).turn
    assert (turn.outcome, turn.attempts[0].reused, turn.notes) == ("answered", False, ())


@both_loops
def test_a_reused_connection_closed_before_the_first_byte_is_replaced_once(loop: str) -> None:
    """The server hangs up on the second request: it goes out again on a fresh connection, and this is noted."""

    async def go() -> tuple[Asked, list[bytes]]:
        keeping, closing = Script([(0, reply())]), Script([], end="close")
        async with serving(keeping, closing, keeping) as server, new_engine() as engine:
            one = asker(engine, server.url)
            await one.ask(PROMPT, trace="t.1")
            return await one.ask(PROMPT, trace="t.2"), server.requests

    asked, requests = run(go(), loop)
    assert (asked.turn.outcome, len(requests), requests[1] == requests[2]) == ("answered", 3, True)
    assert asked.turn.notes == ("an idle connection was closed when used: sent again on a fresh one",)


def test_a_fresh_connection_that_is_closed_is_not_replaced() -> None:
    """Once is a stale connection, twice is the server's doing."""

    async def go() -> tuple[Asked, int]:
        async with serving(Script([(0, reply())]), Script([], end="close")) as server, new_engine() as engine:
            one = asker(engine, server.url)
            await one.ask(PROMPT, trace="t.1")
            return await one.ask(PROMPT, trace="t.2"), len(server.requests)

    asked, requests = run(go())
    assert (asked.turn.reason, requests) == ("incomplete", 3)


@both_loops
def test_cancelling_in_mid_stream_closes_the_connection(loop: str) -> None:
    """The task ends as cancelled, the server sees the close, no task and no socket is left."""

    async def go() -> None:
        async with serving(STALL) as server:
            before, tasks = sockets(), len(asyncio.all_tasks())
            async with new_engine() as engine:
                task = asyncio.ensure_future(asker(engine, server.url).ask(PROMPT, trace="t.1"))
                await until(lambda: sum(map(len, server.sent_ns)) == 1)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await until(lambda: server.closed == 1)
                assert engine.open_connections == 0
            await until(lambda: (sockets(), len(asyncio.all_tasks())) == (before, tasks))

    run(asyncio.wait_for(go(), 5), loop)


@both_loops
def test_cancelling_while_connecting_leaves_no_socket(loop: str) -> None:
    """A listener that never accepts: the half-open connection is gone with its task."""

    async def go() -> None:
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            before = sockets()
            async with new_engine() as engine:
                tasks = [asyncio.ensure_future(asker(engine, url).ask(PROMPT, trace=f"{n}.1")) for n in range(8)]
                await asyncio.sleep(0.05)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            assert sockets() == before

    run(asyncio.wait_for(go(), 5), loop)


@both_loops
def test_stopping_ends_what_is_in_flight_as_data(loop: str) -> None:
    """Each turn comes back as failed/cancelled with what it had; what is asked later is not sent."""

    async def go() -> tuple[list[Asked], Asked, int]:
        async with serving(STALL) as server, new_engine() as engine:
            one = asker(engine, server.url)
            tasks = [asyncio.ensure_future(one.ask(PROMPT, trace=f"{number}.1")) for number in range(3)]
            await until(lambda: sum(map(len, server.sent_ns)) == 3)
            await asyncio.sleep(0.02)
            engine.stop()
            return await asyncio.gather(*tasks), await one.ask(PROMPT, trace="late.1"), len(server.requests)

    stopped, late, requests = run(asyncio.wait_for(go(), 5), loop)
    assert {(asked.turn.reason, asked.turn.text) for asked in stopped} == {("cancelled", "Part")}
    assert (failure(late), requests) == (Failure("cancelled", "the run was stopped"), 3)


@both_loops
def test_stopping_ends_a_connect_and_a_back_off(loop: str) -> None:
    """Neither a deaf listener nor a long retry-after holds a stop."""

    async def go() -> tuple[Asked, Asked]:
        busy = Script(
            [(0, b"")], head=b"HTTP/1.1 429 Slow\r\ncontent-length: 0\r\nretry-after: 50\r\n\r\n", chunked=False
        )
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            async with serving(busy) as server, new_engine() as engine:
                fillers = [asyncio.ensure_future(asker(engine, url).ask(PROMPT, trace=f"f{n}.1")) for n in range(4)]
                waiting = asyncio.ensure_future(
                    asker(engine, server.url, retry=RetrySettings(attempts=1)).ask(PROMPT, trace="w.1")
                )
                await asyncio.sleep(0.05)
                engine.stop()
                return (await asyncio.gather(*fillers))[-1], await waiting

    connecting, waiting = run(asyncio.wait_for(go(), 5), loop)
    assert (connecting.turn.reason, waiting.turn.reason) == ("cancelled", "rate_limited")


def test_a_connect_limit_is_kept() -> None:
    """A listener whose queue is full: timeout, phase connect."""

    async def go() -> list[Asked]:
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            async with new_engine() as engine:
                one = asker(engine, url, LimitSettings(connect=0.1, first_byte=0.2))
                return await asyncio.gather(*(one.ask(PROMPT, trace=f"{number}.1") for number in range(4)))

    last = failure(run(go())[-1])
    assert last is not None
    assert (last.reason, last.phase) == ("timeout", "connect")


@both_loops
def test_a_large_body_is_uploaded_whole_while_the_loop_lives(loop: str) -> None:
    """4 MB of static text arrive byte for byte; upload is stamped when the last of it has left."""
    text = "x" * 4_000_000
    prompt = Prompt("", (Ask((Part(text, static=True), Part("Question: what?"))),))

    async def go() -> tuple[Attempt, bytes, dict[str, int]]:
        async with serving(Script([(0, reply())])) as server, new_engine() as engine:
            asked = await asker(engine, server.url).ask(prompt, trace="t.1")
            body = server.requests[0].partition(b"\r\n\r\n")[2]
            assert body == b"".join(asked.fragments[digest] for digest in asked.turn.prompt)
            return asked.turn.attempts[0], body, {digest: len(part) for digest, part in asked.fragments.items()}

    attempt, body, parts = run(go(), loop)
    assert len(body) == sum(parts.values()) > 4_000_000
    assert attempt.upload_ns is not None
    assert attempt.upload_ns <= (attempt.headers_ns or 0) - attempt.begin_ns


@both_loops
def test_a_thousand_turns_leave_nothing_behind(loop: str) -> None:
    """Sockets are constant over a thousand turns, and back to where they were when the engine is closed."""

    async def go() -> int:
        async with serving(Script([(0, reply())])) as server:
            before = sockets()
            async with new_engine() as engine:
                one = asker(engine, server.url)
                for lap in range(50):
                    await asyncio.gather(*(one.ask(PROMPT, trace=f"{lap}-{number}.1") for number in range(20)))
                most = engine.open_connections
            await until(lambda: (server.closed, sockets()) == (most, before))
            return most

    assert run(asyncio.wait_for(go(), 20), loop) == 20


def test_a_turn_is_stamped_in_order() -> None:
    """Begin, upload, headers, first event, first token, last token, end: each no earlier than the one before."""

    async def go() -> Attempt:
        steps = [(5.0, start()), (10.0, blk("text")), (15.0, txt("a")), (20.0, txt("b")), (25.0, reply()[-300:])]
        async with serving(Script(steps)) as server, new_engine() as engine:
            return (await asker(engine, server.url).ask(PROMPT, trace="t.1")).turn.attempts[0]

    began = time.perf_counter_ns()
    a = run(go())
    stamps = [
        began, a.begin_ns, a.begin_ns + (a.connect_ns or 0), a.begin_ns + (a.upload_ns or 0), a.headers_ns,
        a.first_event_ns, a.first_block_ns, a.first_token_ns, a.first_answer_ns, a.last_token_ns, a.end_ns,
    ]  # fmt: skip
    assert None not in stamps
    assert stamps == sorted(stamp or 0 for stamp in stamps)


@both_loops
def test_a_reset_right_behind_bytes_is_heard(loop: str) -> None:
    """Both are there before the loop looks: the bytes count, the end is known at once, ten times of ten."""

    def play(sock: socket.socket) -> None:
        read_request(sock)
        sock.sendall(OK + b"%x\r\n%b\r\n" % (len(PART), PART))
        reset(sock)

    async def go(port: int) -> list[Asked]:
        async with new_engine() as engine:
            one = asker(engine, f"http://127.0.0.1:{port}")
            return [await one.ask(PROMPT, trace=f"t.{number}") for number in range(10)]

    with threaded(play) as port:
        asked = run(asyncio.wait_for(go(port), 5), loop)
    assert {(one.turn.reason, one.turn.text) for one in asked} == {("incomplete", "Part")}


@both_loops
def test_a_half_closed_connection_costs_nothing(loop: str) -> None:
    """The server ends its side in mid-reply and keeps the other open: over at once, closed, and no loop spins on it."""
    hung_up = threading.Event()

    def play(sock: socket.socket) -> None:
        read_request(sock)
        sock.sendall(OK + b"%x\r\n%b\r\n" % (len(PART), PART))
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(1) == b""
        hung_up.set()

    async def go(port: int) -> tuple[Asked, float]:
        async with new_engine() as engine:
            asked = await asker(engine, f"http://127.0.0.1:{port}").ask(PROMPT, trace="t.1")
            await until(hung_up.is_set)
            began = time.thread_time()
            await asyncio.sleep(0.2)
            return asked, time.thread_time() - began

    with threaded(play) as port:
        asked, cpu_s = run(asyncio.wait_for(go(port), 5), loop)
    assert (asked.turn.reason, asked.turn.text) == ("incomplete", "Part")
    assert cpu_s < 0.1


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_an_answer_before_the_whole_body_is_heard(loop: str) -> None:
    """The server refuses after the head of a 4 MB request and hangs up: its answer counts, not our failed send."""
    refusal = b"HTTP/1.1 413 Too large\r\ncontent-length: 0\r\n\r\n"

    def play(sock: socket.socket) -> None:
        sock.recv(1_000)
        sock.sendall(refusal)
        reset(sock)

    async def go(port: int) -> Attempt:
        prompt = Prompt("", (Ask((Part("x" * 4_000_000, static=True), Part("Question: what?"))),))
        async with new_engine() as engine:
            return (await asker(engine, f"http://127.0.0.1:{port}").ask(prompt, trace="t.1")).turn.attempts[0]

    with threaded(play) as port:
        attempt = run(asyncio.wait_for(go(port), 5), loop)
    assert (attempt.http_status, attempt.upload_ns) == (413, None)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_closing_the_engine_leaves_no_guard_and_no_poller(loop: str) -> None:
    """Descriptors are what they were before, also when it is closed twice."""

    async def go() -> tuple[int, int, int]:
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        async with new_engine() as engine:
            within = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
            await engine.close()
        return before, within, len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    before, within, after = run(go(), loop)
    assert (within - before, after - before) == (2, 0)
