"""A run in full swing, from literal records, with at least one sample for every metric."""

from __future__ import annotations

from records import MS, S, attempt, failed, record, turn

from loadrig.live.metrics import Metrics
from loadrig.words.record import Failure, ToolCall, Usage
from loadrig.words.trial import Pulse, RunInfo

INFO = RunInfo("r1", "quick", "0.1.0", planned=1000, currency="USD", simulated=True)
PULSE = Pulse("c8", in_flight=7, target=8, workers=2, lag_ns=2 * MS, cpu_share=0.3, client_bound=False)
USAGE = Usage(input=900, cache_write_5m=50, cache_read=300, output=120, thinking=40)
SEARCH = ToolCall(name="search", input='{"query": "x"}', ok=True, docs=("a.md",), ns=3 * MS)
LIMITS = (("anthropic-ratelimit-tokens-limit", "1000"), ("anthropic-ratelimit-tokens-remaining", "400"))
OVERLOADED = attempt(http_status=529, failure=Failure("overloaded", "busy"))

AGENTIC = record(
    "t1", arm="agentic", usage=USAGE, cost="0.0125", retrieval_ns=4 * MS, tool_ns=3 * MS, backoff_ns=S,
    turns=(
        turn(ttft_ns=200 * MS, tool_calls=(SEARCH,)),
        turn(ttft_ns=300 * MS, tpot_ns=12 * MS, attempts=(OVERLOADED, attempt(rate_limit=LIMITS))),
    ),
)  # fmt: skip
RAG = record(
    "t2", usage=USAGE, cost="0.004", retrieval_ns=2 * MS, tool_ns=0, turns=(turn(ttft_ns=150 * MS),),
    scheduled_ns=2 * S, dispatch_delay_ns=S,
)  # fmt: skip
FAILED = failed("t3", "timeout", turns=(turn(outcome="failed", reason="timeout"),))


def feed(metrics: Metrics) -> None:
    """One pulse and three trials: an agentic one of two turns, a plain one, and one that failed."""
    metrics.pulse(PULSE)
    for ended in (AGENTIC, RAG, FAILED):
        metrics.record(ended)


def fed_metrics() -> Metrics:
    """A run that has begun and seen its first three trials."""
    metrics = Metrics()
    metrics.started(INFO)
    feed(metrics)
    return metrics
