"""What a first reply and a measured turn say: key, dialect, the turn itself, tokens, names and prices. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from loadrig.cost import Prices, prompt_tokens
from loadrig.doctor.findings import Finding
from loadrig.doctor.listening import FULL, Listened
from loadrig.marks import Kind
from loadrig.words.record import Turn
from loadrig.words.safeguard import Figure

REFUSED, ELSEWHERE = (401, 403), (404, 405, 410, 501)


def dialect(first: Listened, provider: str, url: str) -> Iterator[Finding]:
    """Whether the key is taken and the dialect spoken, by the first request."""
    status, nothing = first.seen.status, "nothing can be asked"
    if status in REFUSED:
        means = f"{nothing}: set the right one, or the headers of the [[model]]"
        yield Finding("key", "broken", f"the key is refused: {first.told}", means, "not measurable")
        return
    if first.is_good or first.is_under_way:
        yield Finding("key", "ok", "accepted, or none is wanted", "requests are let in")
        what = "a whole reply" if first.is_good else f"a reply that came and had {first.seen.problem},"
        said = f"{provider}: {what} of {len(first.events)} events"
        far = "to their end" if first.is_good else "as far as they came"
        yield Finding("dialect", "ok", said, f"replies are understood {far}")
        return
    if status in ELSEWHERE:
        means = f"{nothing} at {url}: check base_url, path and provider of the [[model]]"
    elif status in FULL:
        yield Finding("dialect", "cannot tell", f"refused for now: {first.told}", "try again later", "not measurable")
        return
    elif status == 400:
        means = "the endpoint is there and takes no such request: check the model's id and the provider"
    elif status is None:
        means = f"{nothing} at {url}: something takes connections there and sends no reply of HTTP"
    elif 300 <= status < 400:
        means = f"{nothing}: no redirect is followed, so that no key goes elsewhere; give its address as base_url"
    elif status >= 500:
        means = f"{nothing}: the server fails, or one before it: see its log; a run would be of such failures"
    else:
        means = f"{nothing}: what answers at {url} does not speak {provider}"
    yield Finding("dialect", "broken", first.told, means, "not measurable")


def turn(found: Turn, pings: int) -> Iterator[Finding]:
    """The same question as a measured turn of a run, over loadrig's own engine."""
    attempt = found.attempts[-1]
    if found.outcome == "failed":
        detail = attempt.failure.detail if attempt.failure is not None else ""
        said = f"a turn of a run fails here: {found.reason}: {detail}"[:240]
        yield Finding("measured turn", "broken", said, "a run would be of failures", "not measurable")
        return
    fate = found.outcome if found.reason is None else f"{found.outcome}, {found.reason}"
    ttft, whole = _ms(found.ttft_ns), _ms(found.service_ns)
    said = f"{fate}: first token after {ttft} ms, whole after {whole} ms"
    yield Finding("measured turn", "ok", said, "a run's turns come through", figures=(
        Figure("ttft ms", ttft), Figure("service ms", whole)))  # fmt: skip
    headers = None if attempt.headers_ns is None else attempt.headers_ns - attempt.begin_ns
    first = None if attempt.first_event_ns is None else attempt.first_event_ns - attempt.begin_ns
    said = f"headers after {_ms(headers)} ms, first event after {_ms(first)} ms; pings in the reply: {pings}"
    whose = {"kernel": "the kernel's: nothing of the client is in them", "read": "the reads' own: the client's lag too"}
    yield Finding(
        "first byte", "ok", said, f"stamps are {whose[attempt.stamp]}; pings are no tokens and never taken for"
    )


def pings_of(reply: Listened) -> int:
    """Pings among a reply's events."""
    return sum(kind is Kind.PING for _, kind in reply.events)


def usage(reply: Listened) -> Iterator[Finding]:
    """Tokens as told: prompt and output, those of a cache, those of thinking."""
    told, at_start = reply.heard.usage, reply.at_start
    if told.input is None and told.output is None:
        means = "no tokens, costs or tokens a second; ask the server's own settings for usage in streams"
        yield Finding("usage", "not there", "the reply told no tokens", means, "not measurable")
        return
    missing = [name for name, value in (("prompt", told.input), ("output", told.output)) if value is None]
    prompt = None if told.input is None else prompt_tokens(told)
    place = "at the start" if at_start.input is not None else "at the end"
    said = f"prompt {prompt if prompt is not None else 'not told'} ({place}), output {told.output or 'not told'}"
    figures = (Figure("prompt tokens", prompt), Figure("output tokens", told.output))
    if missing:
        means = f"{missing[0]} tokens and costs stay unknown"
        yield Finding("usage", "not there", said, means, "not measurable", figures)
    else:
        means = "tokens, costs, time per token; a reply that breaks off" + (
            " has its prompt's tokens all the same" if at_start.input is not None else " has none: its cost is unknown"
        )
        yield Finding("usage", "ok", said, means, figures=figures)
    if told.cache_read is None:
        means = "whether a prompt was read from a cache, and its true cost, stay unknown"
        yield Finding("cached tokens", "not there", "replies do not tell them", means)
    else:
        writes = told.cache_write_5m is not None or told.cache_write_1h is not None
        said = f"told: read{' and written' if writes else ', not those written'}"
        yield Finding("cached tokens", "ok", said, "costs of cached prompts are true")
    if told.thinking is None:
        said = "none told: not told apart, or nothing was thought"
        yield Finding("thinking tokens", "not there", said, "a model that thinks unseen has no time per token")
    else:
        yield Finding("thinking tokens", "ok", f"told apart: {told.thinking}", "output is split in thinking and answer")


def names(reply: Listened, asked: str, prices: Prices, day: date) -> Iterator[Finding]:
    """The model that says it answered, and whether a price is known for it."""
    name = reply.heard.model
    if name is None:
        yield Finding("model name", "not there", "the reply names no model", "which model answered is taken on trust")
    else:
        other = "" if name == asked else f", asked for was {asked}"
        yield Finding("model name", "ok", f"{name[:80]}{other}", "the reply's name decides the price, and is on record")
    row = prices.price(name or asked, day)
    if row is None:
        means = "costs stay unknown, not zero: give it a row in the table that [prices] names"
        yield Finding("price", "not there", f"no price for {(name or asked)[:80]}", means)
    else:
        said = f"{row.rates.input} in, {row.rates.output} out, {row.currency} a million (since {row.effective_from})"
        yield Finding("price", "ok", said, "costs are reckoned from it; check it against your contract")


def _ms(value_ns: int | None) -> float | None:
    return None if value_ns is None else round(value_ns / 1e6, 1)
