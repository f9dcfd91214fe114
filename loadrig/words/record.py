"""The record of a trial: one line of records.jsonl, and the truth from which all else is rebuilt.

Times are integer nanoseconds on the writing worker's monotonic clock, null when not available, never 0 for
"no sample". Money is a decimal string. `SCHEMA` is the number in the first line of the file.
Quantities are defined in docs/quantities.md; field names are a contract with whoever reads the files.

What is made anew for every reply is a msgspec struct, else as frozen as a dataclass: a dataclass of thirty fields takes
four microseconds to make and as long to copy, a struct a tenth of that, and the garbage collector passes it over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from loadrig.words.corpus import Hit
from loadrig.words.prompt import Citation

SCHEMA = 1

Outcome = Literal["answered", "unanswered", "failed", "not_run"]
Phase = Literal["warmup", "measured", "tail", "probe"]
Stamp = Literal["kernel", "read"]
Withheld = Literal["loop", "budget"]
Purpose = Literal["answer", "classify", "decompose", "summarise", "prime"]
# Reasons. unanswered: cut_off starved refused empty turn_cap budget loop other. failed: connect tls timeout
# rate_limited overloaded http_4xx http_5xx stream_error incomplete protocol cancelled lost. not_run: late stopped
# budget.


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt, turn or trial failed. `phase`: connect, first_byte, first_token, gap, total, or null."""

    reason: str
    detail: str
    phase: str | None = None
    http_status: int | None = None


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens as the provider reported them; null = not reported (never taken for 0).

    `input` is the uncached part: prompt size = input + cache_write_5m + cache_write_1h + cache_read.
    `thinking` is inside `output`. `exact` is False when the stream broke before the final figure ("at least").
    `flags` names counters that were odd (`negative input`, `write split unknown`, ...). The last three are the
    provider's words for how the reply was served; prices may depend on them.
    """

    input: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    cache_read: int | None = None
    output: int | None = None
    thinking: int | None = None
    exact: bool = True
    flags: tuple[str, ...] = ()
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None


class Gaps(msgspec.Struct, frozen=True, gc=False):
    """Gaps between consecutive content events of one turn; first-token time is never among them."""

    count: int
    p50_ns: int
    p95_ns: int
    max_ns: int


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """One HTTP exchange. `connect_ns` and `tls_ns` are null on a reused connection; `upload_ns` runs from begin to
    an empty write buffer; the other `*_ns` instants are on the same clock as `begin_ns`.

    `stamp`: whose instants those of the reply are, the kernel's on receiving or the client's on reading. The lag is
    the difference: of the read of the first token, and the largest of any read; null with stamp "read".
    `stamp_late`: that read brought more content, so its stamp is an upper bound. `reads_unstamped` (by the kernel) and
    `reordered` (segments) say why a stamp is "read"."""

    began_at: str
    begin_ns: int
    end_ns: int
    connect_ns: int | None = None
    tls_ns: int | None = None
    upload_ns: int | None = None
    headers_ns: int | None = None
    first_event_ns: int | None = None
    first_token_ns: int | None = None
    first_answer_ns: int | None = None
    last_token_ns: int | None = None
    stamp: Stamp = "read"
    read_lag_ns: int | None = None
    http_status: int | None = None
    request_id: str | None = None
    reused: bool = False
    failure: Failure | None = None
    rate_limit: tuple[tuple[str, str], ...] = ()
    backoff_ns: int = 0
    usage: Usage | None = None
    cost: str | None = None
    cost_notes: tuple[str, ...] = ()
    first_block_ns: int | None = None
    stamp_late: bool = False
    read_lag_max_ns: int | None = None
    reads_unstamped: int = 0
    reordered: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call as executed. `input` is the raw argument text; `docs` the documents its result showed;
    `repeated` marks a call the same trial had made before, word for word; `withheld` says why the arm did not run it,
    but told the model so in place of a result."""

    name: str
    input: str
    ok: bool
    docs: tuple[str, ...]
    ns: int
    hits: int | None = None
    repeated: bool = False
    withheld: Withheld | None = None


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One model call. `prompt` are the content hashes of the request body's fragments, in order (prompts.jsonl);
    `text` is the answer text of this turn, `reply_id` the provider's name for the reply; latencies are those of the
    attempt that gave the reply. `purpose`: what it was asked for, if not to get on with the answer."""

    outcome: Outcome
    reason: str | None
    attempts: tuple[Attempt, ...]
    prompt: tuple[str, ...] = ()
    text: str = ""
    reply_model: str | None = None
    stop_reason: str | None = None
    stop_details: str | None = None
    ttft_ns: int | None = None
    ttft_from_sent_ns: int | None = None
    service_ns: int | None = None
    tpot_ns: int | None = None
    hidden_thinking: bool = False
    burst: bool = False
    gaps: Gaps | None = None
    usage: Usage | None = None
    cost: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    notes: tuple[str, ...] = ()
    reply_id: str | None = None
    purpose: Purpose = "answer"


class Record(msgspec.Struct, frozen=True, kw_only=True, rename={"try_no": "try"}):
    """What became of one trial (and try). `(trial, try_no)` is unique; the highest `try_no` counts. In JSON
    `try_no` is `try`, a Python keyword. `route`, its note, `confidence`, `depths` and
    `context_tokens` are as the arm's `Answer` says. `corpus_version`: which version of the documents held when it
    began, 1 or 2, in a run in which they change; else None."""

    run: str
    trial: str
    try_no: int
    arm: str
    model: str
    question: str
    category: str
    repetition: int
    stage: str
    phase: Phase
    outcome: Outcome
    reason: str | None = None
    schema: int = SCHEMA
    reply_model: str | None = None
    caller: tuple[str, ...] = ()
    worker: str | None = None
    route: str | None = None
    route_note: str | None = None
    confidence: float | None = None
    depths: tuple[float, ...] = ()
    context_tokens: int | None = None
    began_at: str | None = None
    due_ns: int | None = None
    begin_ns: int | None = None
    end_ns: int | None = None
    failure: Failure | None = None
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    trial_ttft_ns: int | None = None
    ttfat_ns: int | None = None
    service_ns: int | None = None
    scheduled_ns: int | None = None
    dispatch_delay_ns: int | None = None
    retrieval_ns: int | None = None
    retrieval_queue_ns: int | None = None
    tool_ns: int | None = None
    backoff_ns: int | None = None
    client_bound: bool | None = None
    usage: Usage | None = None
    cost: str | None = None
    currency: str | None = None
    retrieved: tuple[Hit, ...] = ()
    turns: tuple[Turn, ...] = ()
    corpus_version: int | None = None


def succeeded(ended: Record | Turn) -> bool:
    """Latency success: answered, or cut off at the token limit with text."""
    return ended.outcome == "answered" or ended.reason == "cut_off"
