"""Response headers of the kind the API sends: an organisation, a request id, rate limits with a plausible remainder."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime

ORGANIZATION = b"00000000-0000-4000-8000-000000000000"
REQUESTS, INPUT, OUTPUT = 10_000, 10_000_000, 2_000_000
"""Limits a minute."""

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left of the current minute, of each limit; `resets_s`: when the next one begins, `now_s`: now (both since
    the epoch)."""

    requests: int
    input: int
    output: int
    resets_s: int
    now_s: float


class RateLimits:
    """Counts requests and tokens of the current minute; nothing is ever refused for it (that is a fault's part)."""

    def __init__(self) -> None:
        self._minute = 0
        self._requests = self._input = self._output = 0

    def spend(self, *, input_tokens: int, output_tokens: int) -> None:
        self._input += input_tokens
        self._output += output_tokens

    def standing(self) -> Standing:
        """For the headers of one response, which is counted as one request."""
        now_s = time.time()
        minute = int(now_s // 60)
        if minute != self._minute:
            self._minute, self._requests, self._input, self._output = minute, 0, 0, 0
        self._requests += 1
        left = (REQUESTS - self._requests, INPUT - self._input, OUTPUT - self._output)
        return Standing(*left, resets_s=(minute + 1) * 60, now_s=now_s)


def messages_headers(request_id: str, left: Standing) -> Headers:
    """As the Messages API sends them; tokens are rounded to thousands."""
    reset = datetime.fromtimestamp(left.resets_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    out: Headers = [(b"request-id", request_id.encode()), (b"anthropic-organization-id", ORGANIZATION)]
    for name, limit, remaining in (
        (b"requests", REQUESTS, left.requests),
        (b"tokens", INPUT + OUTPUT, _rounded(left.input + left.output)),
        (b"input-tokens", INPUT, _rounded(left.input)),
        (b"output-tokens", OUTPUT, _rounded(left.output)),
    ):
        prefix = b"anthropic-ratelimit-" + name
        out.append((prefix + b"-limit", b"%d" % limit))
        out.append((prefix + b"-remaining", b"%d" % max(0, remaining)))
        out.append((prefix + b"-reset", reset))
    return out


def chat_headers(request_id: str, left: Standing) -> Headers:
    """As chat completions endpoints send them: a duration until the limit is whole again, tokens of both kinds."""
    reset = f"{max(0.0, left.resets_s - left.now_s):.3f}s".encode()
    out: Headers = [(b"x-request-id", request_id.encode())]
    for name, limit, remaining in (
        (b"requests", REQUESTS, left.requests),
        (b"tokens", INPUT + OUTPUT, left.input + left.output),
    ):
        out.append((b"x-ratelimit-limit-" + name, b"%d" % limit))
        out.append((b"x-ratelimit-remaining-" + name, b"%d" % max(0, remaining)))
        out.append((b"x-ratelimit-reset-" + name, reset))
    return out


def _rounded(tokens: int) -> int:
    return round(tokens, -3)
