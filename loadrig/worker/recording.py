"""From an ended trial to its record: outcome, latencies, token sums and money. Pure.

A trial's tokens are the sum over all its turns and attempts; what one of them did not report stays unknown in the
sum only when no other reported it. Cost is computed per attempt, from the model its reply named, on the day it began.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import msgspec
from msgspec.structs import replace

from loadrig.cost import Prices, is_free, terms_of, total_of
from loadrig.words.arm import Answer
from loadrig.words.corpus import Question
from loadrig.words.record import Attempt, Failure, Outcome, Record, Turn, Usage
from loadrig.words.trial import Trial
from loadrig.worker.client import Notes
from loadrig.worker.setup import Setup

COUNTERS = ("input", "cache_write_5m", "cache_write_1h", "cache_read", "output", "thinking")


class Ended(msgspec.Struct, frozen=True, gc=False):
    """A trial at its end. Exactly one of `answer` and `failure` is set. `due_ns`: None in closed loop.
    `corpus_version`: which held when it began; None where documents do not change."""

    trial: Trial
    question: Question
    answer: Answer | None
    failure: Failure | None
    notes: Notes
    began_at: str
    begin_ns: int
    end_ns: int
    due_ns: int | None = None
    corpus_version: int | None = None


def record_of(ended: Ended, setup: Setup) -> Record:
    """The record of an ended trial, priced."""
    trial, question, answer = ended.trial, ended.question, ended.answer
    turns = tuple(_priced(turn, setup.prices, ended.began_at) for turn in ended.notes.turns)
    outcome, reason = _outcome(ended)
    last = turns[-1] if turns else None
    return Record(
        run=setup.run,
        trial=trial.id,
        try_no=trial.try_no,
        arm=trial.arm,
        model=trial.model,
        question=trial.question,
        category=trial.category,
        repetition=trial.repetition,
        stage=trial.stage,
        phase=trial.phase,
        outcome=outcome,
        reason=reason,
        reply_model=last.reply_model if last else None,
        caller=question.caller,
        worker=setup.worker,
        route=answer.route if answer else None,
        route_note=answer.route_note if answer else None,
        confidence=answer.confidence if answer else None,
        depths=answer.depths if answer else (),
        context_tokens=answer.context_tokens if answer else None,
        began_at=ended.began_at,
        due_ns=ended.due_ns,
        begin_ns=ended.begin_ns,
        end_ns=ended.end_ns,
        failure=ended.failure,
        answer=answer.reply.text if answer else (last.text if last else ""),
        citations=answer.citations if answer else (),
        trial_ttft_ns=_since(ended.begin_ns, turns[0].attempts[-1].first_token_ns) if turns else None,
        ttfat_ns=_since(ended.begin_ns, last.attempts[-1].first_answer_ns) if last and answer else None,
        service_ns=ended.end_ns - ended.begin_ns,
        scheduled_ns=None if ended.due_ns is None else ended.end_ns - ended.due_ns,
        dispatch_delay_ns=None if ended.due_ns is None else ended.begin_ns - ended.due_ns,
        retrieval_ns=ended.notes.retrieval_ns,
        retrieval_queue_ns=ended.notes.retrieval_queue_ns,
        tool_ns=ended.notes.tool_ns,
        backoff_ns=sum(attempt.backoff_ns for turn in turns for attempt in turn.attempts),
        usage=_usage(ended, turns),
        cost=None if ended.notes.broken_off else total_of([turn.cost for turn in turns]),
        currency=setup.prices.currency,
        retrieved=answer.retrieved if answer else (),
        turns=turns,
        corpus_version=ended.corpus_version,
    )


def summed(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum, counter by counter; None when nothing reported any."""
    known = [usage for usage in usages if usage is not None]
    if len(known) < 2:
        return known[0] if known else None
    totals = {}
    for counter in COUNTERS:
        values = [value for usage in known if (value := getattr(usage, counter)) is not None]
        totals[counter] = sum(values) if values else None
    flags = tuple(dict.fromkeys(flag for usage in known for flag in usage.flags))
    return Usage(
        **totals,
        exact=all(usage.exact for usage in known),
        flags=flags,
        service_tier=_only({usage.service_tier for usage in known}),
        speed=_only({usage.speed for usage in known}),
        inference_geo=_only({usage.inference_geo for usage in known}),
    )


def _usage(ended: Ended, turns: tuple[Turn, ...]) -> Usage | None:
    usage = summed(attempt.usage for turn in turns for attempt in turn.attempts)
    return replace(usage or Usage(), exact=False) if ended.notes.broken_off else usage


def _outcome(ended: Ended) -> tuple[Outcome, str | None]:
    if ended.failure is not None:
        return "failed", ended.failure.reason
    if ended.answer is not None and ended.answer.stopped is not None:
        return "unanswered", ended.answer.stopped
    last = ended.notes.turns[-1]
    return last.outcome, last.reason


def _priced(turn: Turn, prices: Prices, began_at: str) -> Turn:
    day = date.fromisoformat(began_at[:10])
    attempts = tuple(_priced_attempt(attempt, turn, prices, day) for attempt in turn.attempts)
    return replace(turn, attempts=attempts, cost=total_of([attempt.cost for attempt in attempts]))


def _priced_attempt(attempt: Attempt, turn: Turn, prices: Prices, day: date) -> Attempt:
    if attempt.usage is None:
        return replace(attempt, cost="0" if is_free(attempt) else None)
    cost = prices.cost(turn.reply_model or "", attempt.usage, day, terms=terms_of(attempt.usage))
    return replace(attempt, cost=None if cost.amount is None else f"{cost.amount:f}", cost_notes=cost.notes)


def _only(words: set[str | None]) -> str | None:
    """The one word that all agree on."""
    return words.pop() if len(words) == 1 else None


def _since(begin_ns: int, instant_ns: int | None) -> int | None:
    return None if instant_ns is None else instant_ns - begin_ns
