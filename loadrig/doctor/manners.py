"""How an endpoint behaves beside its answers: its clock, its limits, its errors, its connections. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from itertools import pairwise
from textwrap import shorten

from loadrig.doctor.findings import Finding, State
from loadrig.doctor.listening import Listened
from loadrig.outside import Seen
from loadrig.words.safeguard import Figure

SKEW_S = 2.0
_LIMITS = {
    "requests": ("anthropic-ratelimit-requests-limit", "x-ratelimit-limit-requests"),
    "input tokens": ("anthropic-ratelimit-input-tokens-limit",),
    "output tokens": ("anthropic-ratelimit-output-tokens-limit",),
    "tokens": ("anthropic-ratelimit-tokens-limit", "x-ratelimit-limit-tokens"),
}


def clock(seen: Seen) -> Finding:
    """The Date of a reply against our own clock. It is in whole seconds, cut off, and of any instant between request
    and headers."""
    text = seen.header("date")
    try:
        theirs_s = None if text is None else parsedate_to_datetime(text).timestamp()
    except ValueError:
        theirs_s = None
    if theirs_s is None:
        said = "no Date" if text is None else f"a Date that is none: {text[:40]}"
        return Finding("clock", "not there", said, "waits that are given as a date count from our clock")
    last_s = seen.began_s + ((seen.headers_ns or seen.end_ns) - seen.began_ns) / 1e9
    off_s = min(theirs_s + 1 - seen.began_s, 0.0) + max(theirs_s - last_s, 0.0)
    figures = (Figure("skew s", round(off_s, 1)),)
    if abs(off_s) <= SKEW_S:
        return Finding(
            "clock", "ok", "agrees with ours to two seconds", "its dates and ours can be compared", figures=figures
        )
    said = f"{abs(off_s):,.0f} s {'ahead of' if off_s > 0 else 'behind'} ours"
    means = "latencies need no clock of theirs; logs of both sides do not line up, days may differ"
    return Finding("clock", "broken", said, means, figures=figures)


def limits(seen: Seen, turn_s: float | None) -> Finding:
    """What the reply's headers allow a minute, and how many trials of one turn in flight that is (Little's law:
    requests a second times seconds a request). `turn_s`: how long the measured turn took."""
    found: dict[str, int] = {}
    for what, headers in _LIMITS.items():
        value = next((seen.header(name) for name in headers if seen.header(name) is not None), None)
        if value is not None and re.fullmatch(r"\d{1,15}", value):
            found[what] = int(value)
    if not found:
        means = "what is too much shows as 429 only; [model.limits] takes what you know"
        return Finding("limits", "not there", "no header tells them", means)
    said = ", ".join(f"{value:,} {what}" for what, value in found.items()) + " a minute"
    figures = [Figure(f"{what} a minute", value) for what, value in found.items()]
    means = "what is left is on record with every attempt; put them into [model.limits]"
    if "requests" in found and turn_s is not None:
        most = max(1, math.floor(found["requests"] / 60 * turn_s))
        figures.append(Figure("trials in flight", most))
        means = f"at {turn_s:.1f} s a turn up to {most:,} trials of one turn in flight; {means}"
    return Finding("limits", "ok", said, means, figures=tuple(figures))


def errors(wrong: Listened) -> Finding:
    """What comes of a model that there is not."""
    seen, error = wrong.seen, wrong.error
    ids = "with a request id" if seen.header("request-id") or seen.header("x-request-id") else "without a request id"
    if seen.status is None:
        means = "a failure of that kind looks like one of the network"
        return Finding("errors", "broken", f"a wrong model: {wrong.told}", means)
    if error is None:
        if wrong.is_good or wrong.is_under_way:
            said = "a model that there is not answers, too"
            return Finding("errors", "not there", said, "a wrong model id goes unnoticed: look at the reply's own name")
        return Finding("errors", "broken", f"a wrong model: {wrong.told}", "errors that come with a good status")
    said = f"{shorten(f'a wrong model: HTTP {seen.status} {error.told}', 150, placeholder=' ...')} ({ids})"
    if not error.type:
        return Finding("errors", "not there", said, "failures are told apart by their status alone")
    return Finding("errors", "ok", said, "failures are told apart by status and kind")


def keeping(exchanges: Iterable[Seen]) -> Finding:
    """Whether one request's connection served the next. `exchanges` followed one another on one client."""
    ports = [seen.port for seen in exchanges]
    if len(ports) < 2 or None in ports:
        return Finding("keep-alive", "cannot tell", "nothing to tell it by", "connections may be new for every turn")
    kept = sum(one == other for one, other in pairwise(ports))
    if kept == len(ports) - 1:
        said = f"all {len(ports)} requests on one connection"
        return Finding("keep-alive", "ok", said, "only the first turn of each stream pays for connecting")
    said = f"{kept} of {len(ports) - 1} connections were kept for the next request"
    state: State = "not there" if not kept else "cannot tell"
    means = "turns pay for connecting: it is in their first-token times, and has figures of its own"
    return Finding("keep-alive", state, said, means)
