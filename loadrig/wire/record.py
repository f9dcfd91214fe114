"""Turns exchanges into what the record keeps: an `Attempt` each, and the `Turn` they make together. Pure.

Rules: the last try is the one that counts; its latencies are the turn's when it gave a reply, and a failed turn has
none. Text and usage of a broken reply are kept. Cost is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from loadrig.marks import Timeline, tpot_ns
from loadrig.providers import ApiError, Heard
from loadrig.providers.outcome import outcome
from loadrig.wire.exchange import Exchange
from loadrig.wire.verdict import notes, rate_limit_headers
from loadrig.words.record import Attempt, Failure, Turn, Usage


class Try(msgspec.Struct, frozen=True, gc=False):
    """One exchange that is over, and what it came to. `error` is the endpoint's own, from body or stream."""

    exchange: Exchange
    heard: Heard
    error: ApiError | None
    failure: Failure | None
    backoff_ns: int
    began_at: str


def turn_of(tries: Sequence[Try], prompt: tuple[str, ...], further_notes: tuple[str, ...]) -> Turn:
    """The turn of one or more tries, in order; `prompt` are the hashes of the body's fragments."""
    last = tries[-1]
    heard, exchange, failed = last.heard, last.exchange, last.failure is not None
    timelines = [each.exchange.marks.timeline() for each in tries]
    timeline = timelines[-1]
    became, reason = outcome(heard) if last.failure is None else ("failed", last.failure.reason)
    return Turn(
        outcome=became,
        reason=reason,
        attempts=tuple(map(attempt_of, tries, timelines)),
        prompt=prompt,
        text=heard.text,
        reply_model=heard.model,
        stop_reason=heard.stop_reason,
        stop_details=heard.stop_details,
        ttft_ns=None if failed else _since(exchange.begin_ns, timeline.first_token_ns),
        ttft_from_sent_ns=None if failed else _since(exchange.uploaded_ns, timeline.first_token_ns),
        service_ns=None if failed else exchange.end_ns - exchange.begin_ns,
        tpot_ns=None if failed else _tpot_ns(heard, timeline),
        hidden_thinking=heard.hidden_thinking,
        burst=timeline.burst and not failed,
        gaps=None if failed else timeline.gaps,
        usage=_usage(last, timeline),
        notes=tuple(note for each in tries for note in notes(each.exchange, each.heard)) + further_notes,
        reply_id=heard.id,
    )


def attempt_of(tried: Try, timeline: Timeline) -> Attempt:
    """Every stamp of one exchange; instants on the engine's clock, durations from its begin."""
    exchange = tried.exchange
    return Attempt(
        began_at=tried.began_at,
        begin_ns=exchange.begin_ns,
        end_ns=exchange.end_ns,
        connect_ns=exchange.connect_ns,
        tls_ns=exchange.tls_ns,
        upload_ns=_since(exchange.begin_ns, exchange.uploaded_ns),
        headers_ns=exchange.headers_ns,
        first_event_ns=timeline.first_event_ns,
        first_block_ns=timeline.first_block_ns,
        first_token_ns=timeline.first_token_ns,
        first_answer_ns=timeline.first_answer_ns,
        last_token_ns=timeline.last_token_ns,
        stamp=exchange.stamp,
        stamp_late=timeline.late,
        read_lag_ns=timeline.first_token_lag_ns if exchange.stamp == "kernel" else None,
        read_lag_max_ns=timeline.lag_max_ns if exchange.stamp == "kernel" else None,
        reads_unstamped=exchange.reads_unstamped,
        reordered=exchange.reordered,
        http_status=exchange.status,
        request_id=exchange.header("request-id") or exchange.header("x-request-id"),
        reused=exchange.reused,
        failure=tried.failure,
        rate_limit=rate_limit_headers(exchange),
        backoff_ns=tried.backoff_ns,
        usage=_usage(tried, timeline),
    )


def _usage(tried: Try, timeline: Timeline) -> Usage | None:
    """None where no reply began: nothing was counted, which is not the same as zero."""
    return None if timeline.first_event_ns is None else tried.heard.usage


def _tpot_ns(heard: Heard, timeline: Timeline) -> int | None:
    hidden = heard.usage.thinking if heard.hidden_thinking else 0
    return tpot_ns(timeline, output=heard.usage.output, hidden=hidden) if heard.usage.exact else None


def _since(begin_ns: int | None, at_ns: int | None) -> int | None:
    return None if begin_ns is None or at_ns is None else at_ns - begin_ns
