"""A dialect whose head has a token of its own: each time it is taken, the next of `TOKENS`; the last one stays."""

from __future__ import annotations

from dataclasses import replace

from loadrig.providers import Endpoint
from loadrig.providers.anthropic.dialect import ENDPOINT, Anthropic
from loadrig.wire.head import Head, head_lines, origin_of

TOKENS: list[str] = []
taken: list[str] = []


def head_with_the_next(_: Endpoint, base_url: str | None) -> Head:
    """As somebody's `httpx2.Auth` would have it, that fetches a token for a while."""
    token = TOKENS.pop(0) if len(TOKENS) > 1 else TOKENS[0]
    taken.append(token)
    headers = [(b"Host", b"x"), (b"Authorization", b"Bearer " + token.encode())]
    return Head(origin_of(base_url or ""), head_lines(b"POST", b"/v1/messages", headers), (token,))


CHANGING = Anthropic(replace(ENDPOINT, key_variable="TOKEN_KEY", head=f"{__name__}:head_with_the_next"))
