"""The turnstile: how many go on in a turn of the loop, and in which order."""

from __future__ import annotations

import asyncio

from loadrig.wire.turnstile import AT_ONCE, WHEN_BEHIND, Turnstile


def test_a_few_go_on_in_a_turn_and_all_in_their_order() -> None:
    """Forty come in one turn, one of whom is cancelled as he waits: 16, 16 and 7 go on, first come, first served."""

    async def go() -> list[list[int]]:
        loop, turnstile = asyncio.get_running_loop(), Turnstile(lambda: False)
        turns: list[list[int]] = []
        waiters = [loop.create_future() for _ in range(40)]
        for waiter in waiters:
            turnstile.let(waiter)
        waiters[34].cancel()
        while sum(len(turn) for turn in turns) < 39:
            before = [number for turn in turns for number in turn]
            turns.append([n for n, one in enumerate(waiters) if one.done() and n != 34 and n not in before])
            await asyncio.sleep(0)
        return turns

    assert AT_ONCE == 16
    assert asyncio.run(go()) == [[*range(16)], [*range(16, 32)], [32, 33, *range(35, 40)]]


def test_nobody_waits_who_comes_alone() -> None:
    """One in a turn, ten turns long: each goes on at once."""

    async def go() -> list[bool]:
        loop, turnstile, at_once = asyncio.get_running_loop(), Turnstile(lambda: False), []
        for _ in range(10):
            waiter = loop.create_future()
            turnstile.let(waiter)
            at_once.append(waiter.done())
            await asyncio.sleep(0)
        return at_once

    assert asyncio.run(go()) == [True] * 10


def test_few_go_on_while_reading_is_behind() -> None:
    """Six come while it is: 2, 2 and, as it has caught up by then, the other 2."""

    async def go() -> list[int]:
        loop = asyncio.get_running_loop()
        done: list[int] = []
        turnstile = Turnstile(lambda: len(done) < 2)
        waiters = [loop.create_future() for _ in range(6)]
        for waiter in waiters:
            turnstile.let(waiter)
        while not done or done[-1] < 6:
            done.append(sum(one.done() for one in waiters))
            await asyncio.sleep(0)
        return done

    assert WHEN_BEHIND == 2
    assert asyncio.run(go()) == [2, 4, 6]
