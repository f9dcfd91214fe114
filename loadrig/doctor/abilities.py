"""What an endpoint can do: call tools, keep to a form, keep a prefix, count tokens, stop when told. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from loadrig.cost import prompt_tokens
from loadrig.doctor.findings import Finding, State
from loadrig.doctor.listening import FULL, Listened
from loadrig.doctor.probes import FEW_TOKENS
from loadrig.outside import Seen
from loadrig.words.safeguard import Figure

AGENTS = "agentic arms"


def tools(asked: Listened, forced: Listened | None) -> Finding:
    """`asked`: a request that is best answered by a call; `forced`: one that must be, where the first was not."""
    if _calls(asked):
        return Finding("tools", "ok", f"called {_calls(asked)}", f"{AGENTS} can be measured")
    if asked.is_under_way or asked.is_unasked:
        return Finding("tools", "cannot tell", asked.told, f"{AGENTS} may be slow here, or never call")
    if not asked.is_good:
        return Finding("tools", "not there", asked.told, f"no {AGENTS}", "not measurable")
    if forced is not None and _calls(forced):
        said = "a call only when it is forced; asked for one, the model answered in words"
        return Finding("tools", "cannot tell", said, f"{AGENTS} force nothing: they may never search with this model")
    how = "" if forced is None else f"; forced to: {forced.told if not forced.is_good else 'in words again'}"
    said = f"asked for a call, the model answered in words{how}"
    if forced is not None and not forced.is_good:
        return Finding("tools", "cannot tell", said, f"{AGENTS} may never search here")
    return Finding("tools", "not there", said, f"no {AGENTS}: they would answer without a document", "not measurable")


def _calls(reply: Listened) -> str:
    """The calls of a reply whose arguments are JSON objects."""
    found = []
    for use in reply.heard.tool_uses if reply.is_good else ():
        value = _json(use.arguments.encode())
        if isinstance(value, dict):
            found.append(f"{use.name}({', '.join(sorted(value))})")
    return ", ".join(found)[:120]


def form(reply: Listened) -> Finding:
    """Whether JSON of the schema came."""
    lost = "arms that want a form (route by classifier, escalate, decompose) and judges fall back or fail"
    if reply.is_under_way or reply.is_unasked:
        return Finding("structured output", "cannot tell", reply.told, "forms may not be kept to here")
    if not reply.is_good:
        return Finding("structured output", "not there", reply.told, lost, "not measurable")
    value = _json(reply.heard.text.encode())
    if isinstance(value, dict) and isinstance(value.get("bird"), str) and isinstance(value.get("count"), int):
        return Finding("structured output", "ok", "the reply kept to its schema", "forms and judges work here")
    if reply.heard.stop == "max_tokens":
        return Finding(
            "structured output", "cannot tell", "the reply was cut off", "raise max_tokens where forms are used"
        )
    said = "taken, and not kept to" if value is None else "JSON, but not of the schema"
    return Finding("structured output", "not there", said, lost, "not measurable")


def caching(first: Listened, second: Listened, prefix_tokens: int) -> Finding:
    """Two requests of one prefix of about so many tokens, which nobody had sent before."""
    if not (first.is_good and second.is_good):
        bad = first if not first.is_good else second
        return Finding("caching", "cannot tell", bad.told, "whether a prefix is kept is not known")
    read, again = first.heard.usage.cache_read, second.heard.usage.cache_read
    if again is None:
        said = "replies do not tell what was read from a cache"
        return Finding("caching", "cannot tell", said, "cached arms run, and what caching did stays unknown")
    wrote = (first.heard.usage.cache_write_5m or 0) + (first.heard.usage.cache_write_1h or 0)
    figures = (
        Figure("written", wrote),
        Figure("read", again),
        Figure("prompt tokens", prompt_tokens(second.heard.usage)),
    )
    told = f"of {prompt_tokens(second.heard.usage):,} prompt tokens {again:,} were read the second time"
    if not again:
        said = f"a prefix of about {prefix_tokens:,} tokens was not kept: {told}"
        return Finding("caching", "not there", said, "cached arms cost what uncached ones do", figures=figures)
    if read:
        told += f", and {read:,} the first time, though no one had sent them before"
        return Finding("caching", "broken", told, "cache counters cannot be believed", figures=figures)
    return Finding("caching", "ok", told, "cached arms, cold and warm, can be measured", figures=figures)


def counting(seen: Seen | None, told: int | None) -> Finding:
    """The endpoint's own count of the first prompt against the tokens that its reply told; None: no place to ask."""
    without = "estimates before a run rest on the local count, and the probe of a run checks in proportion only"
    if seen is None:
        return Finding("count_tokens", "not there", "the dialect has no such request", without)
    value = _json(seen.body)
    count = value.get("input_tokens") if isinstance(value, dict) else None
    if seen.status != 200 or not isinstance(count, int) or isinstance(count, bool):
        what = seen.problem if seen.status is None else f"HTTP {seen.status}"
        state: State = "cannot tell" if seen.status is None or seen.status in FULL else "not there"
        return Finding("count_tokens", state, f"{what or 'no answer'} instead of a count", without)
    figures = (Figure("counted", count), Figure("told", told))
    if told is None:
        said = f"counted {count}; the reply told no tokens to hold it against"
        return Finding("count_tokens", "cannot tell", said, "estimates before a run can use it", figures=figures)
    if count == told:
        said = f"counted {count}, as many as the reply told"
        return Finding(
            "count_tokens", "ok", said, "estimates before a run are calibrated, prompts checked", figures=figures
        )
    said = f"counted {count}, the reply told {told} ({count / max(1, told) - 1:+.0%})"
    return Finding("count_tokens", "broken", said, "one of the two is wrong; bills follow the reply's", figures=figures)


def limited(short: Listened) -> Finding:
    """A reply that was to end after a few tokens."""
    if not short.is_good:
        return Finding("max_tokens", "cannot tell", short.told, "whether replies can be kept short is not known")
    output, stop = short.heard.usage.output, short.heard.stop
    if stop == "max_tokens" and (output is None or output <= FEW_TOKENS):
        return Finding(
            "max_tokens", "ok", f"honoured: {output or 'few'} tokens of {FEW_TOKENS}", "lengths can be kept equal"
        )
    said = f"asked for {FEW_TOKENS} tokens at most, {output if output is not None else 'untold'} came, stop {stop}"
    return Finding("max_tokens", "broken", said, "replies are as long as they like: latencies and costs vary with it")


def _json(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
