"""What a run's watcher should hear as soon as it happens, each once: the rig is the bottleneck, the target throttles,
a cache that was asked for is not read, a limit or the budget is near. Pure: returns sentences, says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from loadrig.live.ahead import Ahead
from loadrig.live.headroom import Headroom
from loadrig.words.record import Record, Usage
from loadrig.words.trial import Pulse

THROTTLED = ("rate_limited", "overloaded")
NEAR = 0.1  # of a limit a minute that is left
MOST = Decimal("0.8")  # of the budget that is spent
HELD_NS = 2_000_000_000


class Alarms:
    """Takes what an observer hears, answers with what is new in it."""

    def __init__(self) -> None:
        self._said: set[tuple[str, ...]] = set()
        self._ahead: Ahead | None = None
        self._headroom = Headroom()
        self._spent, self._tokens = Decimal(0), 0
        self._bound_ns: dict[str, int] = {}

    def expect(self, ahead: Ahead) -> None:
        """What was asked for: caches and a budget."""
        self._ahead = ahead

    def pulse(self, pulse: Pulse, now_ns: int) -> list[str]:
        """A stage is told of when it has been bound for two seconds: its first moments are no sample of it."""
        if not pulse.client_bound:
            self._bound_ns.pop(pulse.stage, None)
            return []
        if now_ns - self._bound_ns.setdefault(pulse.stage, now_ns) < HELD_NS:
            return []
        why = f": {'; '.join(pulse.bound_by)}" if pulse.bound_by else ""
        return self._new(
            [(("bound", pulse.stage), f"stage {pulse.stage} is client-bound, its latencies are partly the rig's{why}")]
        )

    def record(self, record: Record, now_ns: int) -> list[str]:
        return self._new(
            [*self._throttling(record), *self._waiting(record), *self._missing(record), *self._nearing(record, now_ns),
             *self._spending(record)]
        )  # fmt: skip

    def _new(self, found: list[tuple[tuple[str, ...], str]]) -> list[str]:
        """The sentences whose like was not said yet."""
        fresh = []
        for key, sentence in found:
            if key not in self._said:
                self._said.add(key)
                fresh.append(sentence)
        return fresh

    def _throttling(self, record: Record) -> Iterator[tuple[tuple[str, ...], str]]:
        for attempt in (attempt for turn in record.turns for attempt in turn.attempts):
            failure = attempt.failure
            if failure is not None and failure.reason in THROTTLED:
                status = "in its stream" if failure.http_status in (None, 200) else f"with {failure.http_status}"
                yield (
                    ("throttled", record.model, failure.reason),
                    f"{record.model} throttles {status}: {failure.reason}",
                )

    def _waiting(self, record: Record) -> Iterator[tuple[tuple[str, ...], str]]:
        if record.backoff_ns:
            yield (
                ("backoff", record.model),
                f"trials wait before asking {record.model}, for a retry or for leave under its limits: "
                f"one {record.backoff_ns / 1e9:.1f} s",
            )

    def _missing(self, record: Record) -> Iterator[tuple[tuple[str, ...], str]]:
        """A measured trial of an arm that asks for a cache, and reads nothing from it; not told is not nothing."""
        if self._ahead is None or record.phase != "measured" or (record.arm, record.model) not in self._ahead.caching:
            return
        usage = record.usage
        if usage is not None and usage.exact and usage.cache_read == 0:
            yield (
                ("cache", record.arm, record.model),
                f"{record.arm} asks for a cache, and a trial on {record.model} read none of its "
                f"{_prompt(usage):,} prompt tokens from it",
            )

    def _nearing(self, record: Record, now_ns: int) -> Iterator[tuple[tuple[str, ...], str]]:
        self._headroom.record(record, now_ns)
        for (model, kind), left in self._headroom.left(now_ns).items():
            if left.limit and left.remaining is not None and left.remaining < NEAR * left.limit:
                yield (
                    ("near", model, kind),
                    f"{model} has {left.remaining:,} of {left.limit:,} {kind.replace('_', ' ')} a minute left",
                )

    def _spending(self, record: Record) -> Iterator[tuple[tuple[str, ...], str]]:
        if self._ahead is None:
            return
        self._spent += Decimal(record.cost or 0)
        self._tokens += 0 if record.usage is None else _prompt(record.usage) + (record.usage.output or 0)
        money, tokens = self._ahead.money, self._ahead.tokens
        if money is not None and self._spent >= MOST * money:
            yield ("money",), f"{self._spent:.4f} of the budget of {money} {self._ahead.currency} is spent"
        if tokens is not None and self._tokens >= MOST * tokens:
            yield ("tokens",), f"{self._tokens:,} of the budget of {tokens:,} tokens are spent"
        if record.outcome == "not_run" and record.reason == "budget":
            yield ("over",), "the budget has no room for what is left: it is not sent"


def _prompt(usage: Usage) -> int:
    counts = (usage.input, usage.cache_write_5m, usage.cache_write_1h, usage.cache_read)
    return sum(count or 0 for count in counts)
