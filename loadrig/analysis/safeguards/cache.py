"""The prompt cache, call by call: cache counters are zero on every call that did not ask for caching, and where it was
asked for, how much was read. At an endpoint that caches by itself nobody can ask, and nothing is wrong: what was read
is told, because latency and cost are then those of a warm cache.

A call asked for it when its request body has the key `cache_control`. Warm-up, priming, probes and superseded tries are
calls, too. A call that reports no cache counters, or whose request is not on file, cannot be checked. An arm that asked
more than once and read nothing has a cache that is on and does nothing: it is told by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loadrig.analysis.prefixes import ASKS
from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.selection import grouped
from loadrig.cost import prompt_tokens, written_tokens
from loadrig.providers import TABLE, load
from loadrig.words.record import Usage
from loadrig.words.safeguard import Figure, Safeguard, Verdict

NAME = "cache"


@dataclass(frozen=True, slots=True)
class _Call:
    arm: str
    usage: Usage
    asked: bool | None  # None: its request is not on file

    @property
    def cached(self) -> int | None:
        """Tokens read from the cache or written to it; None when the reply does not say."""
        usage = self.usage
        if usage.cache_read is None:
            return None
        return usage.cache_read + written_tokens(usage)


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    asking = {digest for digest, text in seen.prompts.items() if ASKS in text}
    for model in seen.models:
        calls = list(_calls(seen, model, asking))
        verdict, told = _verdict(calls, by_itself=not _can_be_asked(seen, model))
        unasked = [call for call in calls if call.asked is False]
        figures = (
            Figure("calls", len(calls)),
            Figure("calls that asked for caching", sum(call.asked is True for call in calls)),
            Figure("unasked calls with cached tokens", sum(bool(call.cached) for call in unasked)),
            Figure("tokens read unasked", sum(call.usage.cache_read or 0 for call in unasked)),
            Figure("calls without cache counters", sum(call.cached is None for call in calls)),
        )
        yield Safeguard(NAME, verdict, told, figures, model)


def _calls(seen: Seen, model: str, asking: set[str]) -> Iterator[_Call]:
    run = seen.run
    for record in (*run.probes, *run.superseded, *run.records):
        if record.model == model:
            for turn in record.turns:
                asked = not asking.isdisjoint(turn.prompt) if seen.prompts.keys() >= set(turn.prompt) else None
                usages = [attempt.usage for attempt in turn.attempts if attempt.usage is not None]
                if not usages and turn.usage is not None:
                    usages = [turn.usage]
                yield from (_Call(record.arm, usage, asked) for usage in usages)


def _can_be_asked(seen: Seen, model: str) -> bool:
    """Whether the dialect of the model's endpoint has words for keeping a prefix; of one that is not ours, yes."""
    rows = (seen.run.manifest.get("plan") or {}).get("model") or []
    provider = next((row.get("provider") for row in rows if row.get("id") == model), None)
    return provider is None or provider not in TABLE or load(provider).endpoint.keeps_on_request


def _verdict(calls: list[_Call], *, by_itself: bool) -> tuple[Verdict, str]:
    unasked, asked = [call for call in calls if call.asked is False], [call for call in calls if call.asked]
    caught = [call for call in unasked if call.cached]
    silent = sum(call.cached is None for call in calls)
    if caught:
        return _unasked(caught, unasked, by_itself=by_itself)
    idle = tuple(_idle(asked))
    if idle:
        return "warned", "; ".join((_read(asked, len(calls)), *idle))
    if not calls or silent:
        return "not checked", f"{silent} of {len(calls)} calls told no cache counters"
    if len(asked) + len(unasked) < len(calls):
        return (
            "not checked",
            f"the requests of {len(calls) - len(asked) - len(unasked)} of {len(calls)} calls are not on file",
        )
    if not asked:
        return "passed", f"no call asked for caching, and all {len(calls)} report zero cached tokens"
    return "passed", _read(asked, len(calls))


def _unasked(caught: list[_Call], unasked: list[_Call], *, by_itself: bool) -> tuple[Verdict, str]:
    """Calls that were cached without asking: a fault, unless the endpoint does so for everybody."""
    read = sum(call.usage.cache_read or 0 for call in caught)
    total = sum(prompt_tokens(call.usage) for call in unasked)
    if by_itself:
        return "warned", (
            f"the endpoint caches by itself: {len(caught)} of {len(unasked)} calls read {read:,} of {total:,} prompt "
            "tokens from its cache, so latency and cost are those of a warm one"
        )
    return "failed", (
        f"{len(caught)} of {len(unasked)} calls that asked for no caching were cached: {read:,} of {total:,} "
        "prompt tokens were read from the cache"
    )


def _read(asked: list[_Call], calls: int) -> str:
    read, total = sum(call.usage.cache_read or 0 for call in asked), sum(prompt_tokens(call.usage) for call in asked)
    return f"{len(asked)} of {calls} calls asked for caching; {read / max(1, total):.0%} of their prompt was read"


def _idle(asked: list[_Call]) -> Iterator[str]:
    """Arms whose calls asked for caching and read nothing, and whether they wrote."""
    for arm, calls in grouped((call.arm, call) for call in asked).items():
        if len(calls) > 1 and all(call.usage.cache_read == 0 for call in calls):
            wrote = sum(bool(call.cached) for call in calls)
            done = f"{wrote} of them wrote to it" if wrote else "nothing was written: is its prefix too short?"
            yield f"no call of {arm} read any of it ({len(calls)} asked), {done}"
