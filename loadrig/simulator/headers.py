"""Response headers of the kind the API sends: an organisation, a request id, rate limits with a plausible remainder."""

from __future__ import annotations

import time
from datetime import UTC, datetime

ORGANIZATION = b"00000000-0000-4000-8000-000000000000"
REQUESTS, INPUT, OUTPUT = 10_000, 10_000_000, 2_000_000
"""Limits a minute."""

Headers = list[tuple[bytes, bytes]]


class RateLimitHeaders:
    """Counts requests and tokens of the current minute; nothing is ever refused for it (that is a fault's part)."""

    def __init__(self) -> None:
        self._minute = 0
        self._requests = self._input = self._output = 0

    def spend(self, *, input_tokens: int, output_tokens: int) -> None:
        self._input += input_tokens
        self._output += output_tokens

    def headers(self, request_id: str) -> Headers:
        """Headers for one response, which is counted as one request."""
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._minute, self._requests, self._input, self._output = minute, 0, 0, 0
        self._requests += 1
        reset = datetime.fromtimestamp((minute + 1) * 60, UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
        out: Headers = [(b"request-id", request_id.encode()), (b"anthropic-organization-id", ORGANIZATION)]
        for name, limit, left in (
            (b"requests", REQUESTS, REQUESTS - self._requests),
            (b"tokens", INPUT + OUTPUT, _rounded(INPUT + OUTPUT - self._input - self._output)),
            (b"input-tokens", INPUT, _rounded(INPUT - self._input)),
            (b"output-tokens", OUTPUT, _rounded(OUTPUT - self._output)),
        ):
            prefix = b"anthropic-ratelimit-" + name
            out.append((prefix + b"-limit", b"%d" % limit))
            out.append((prefix + b"-remaining", b"%d" % max(0, left)))
            out.append((prefix + b"-reset", reset))
        return out


def _rounded(tokens: int) -> int:
    return round(tokens, -3)
