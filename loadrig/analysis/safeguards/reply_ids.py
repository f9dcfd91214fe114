"""Replies that carry the id of an earlier one: a cache in the provider's place replays bodies whole, their ids too.

A provider names each reply it makes, so one id twice over the same text is one reply twice: a sign that needs no
statistics and is seen from the first replay on, in the control's answers, too. A text that comes again under a fresh id
is for `determinism` to see.
"""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen, named
from loadrig.analysis.selection import grouped
from loadrig.words.record import Record, Turn
from loadrig.words.safeguard import Figure, Safeguard

NAME = "reply ids"


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    for model in seen.models:
        replies = [(record, turn) for record, turn in _replies(seen) if record.model == model]
        yield _one(model, replies)


def _one(model: str, replies: list[tuple[Record, Turn]]) -> Safeguard:
    known = grouped((turn.reply_id, (record, turn)) for record, turn in replies if turn.reply_id)
    told = sum(map(len, known.values()))
    again = [of for of in known.values() if len(of) > 1]
    reused = [of for of in again if len({_said(turn) for _, turn in of}) > 1]
    copies = [record.arm for of in again for record, _ in of[1:]]
    figures = (
        Figure("replies", len(replies)),
        Figure("replies with an id", told),
        Figure("replies with the id of another", len(copies)),
    )
    if copies and not reused:
        arms = {arm: copies.count(arm) for arm in dict.fromkeys(copies)}
        of_arms = {arm: sum(record.arm == arm for record, turn in replies if turn.reply_id) for arm in arms}
        why = f"{len(copies)} of {told} replies have id and text of an earlier one: replayed ({named(arms, of_arms)})"
        return Safeguard(NAME, "failed", why, figures, model)
    if reused:
        why = f"{len(reused)} ids came with different texts: the endpoint's ids name no reply"
        return Safeguard(NAME, "not checked", why, figures, model)
    if not told or told < len(replies):
        why = f"{len(replies) - told} of {len(replies)} replies told no id" if told else "no reply told an id"
        return Safeguard(NAME, "not checked", why, figures, model)
    return Safeguard(NAME, "passed", f"{told} replies, and as many ids: none was replayed whole", figures, model)


def _replies(seen: Seen) -> Iterator[tuple[Record, Turn]]:
    """Every call that was replied to, those of warm-up, probes and superseded tries, too."""
    run = seen.run
    for record in (*run.probes, *run.superseded, *run.records):
        yield from ((record, turn) for turn in record.turns if turn.outcome != "failed")


def _said(turn: Turn) -> tuple[str, ...]:
    return turn.text, *(call.input for call in turn.tool_calls)
