"""The Anthropic head, taken from the official SDK's own client: key, version and every header as it would send them.

Rules: the SDK is asked once per model and key, through a transport that keeps the request and answers with an empty
stream; nothing leaves the machine. The plan alone decides where and how we ask: base URL explicit, retries and tracing
off, and of the SDK's environment only the key is let through; what else was found there is ignored and said.
Importing the SDK costs about two seconds of CPU, so it happens here, at the first call: call it off the event loop.
It also leaves 150,000 objects that live for good; a full garbage collection walks them all and holds the event loop
for some 90 ms, which would be measured as the target's, so they are frozen out of collection at once.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loadrig.providers import Endpoint
from loadrig.wire.head import Head, head_lines, origin_of
from loadrig.wire.key import PLACEHOLDER_KEY, file_variable, key_for

if TYPE_CHECKING:
    import httpx2

_PREFIX = "ANTHROPIC_"
_one_at_a_time = threading.Lock()  # the environment is the process's own


def anthropic_head(endpoint: Endpoint, base_url: str | None) -> Head:
    """The head for `base_url` (None: the provider's own). Blocks; not for the event loop.

    Without a key in the environment the provider's own endpoint raises `InputError`; any other gets a placeholder.
    """
    url = endpoint.base_url if base_url is None else base_url
    origin = origin_of(url)
    key, untold = key_for(endpoint, origin[1], os.environ)
    warnings = (*found_in_environment(os.environ, endpoint.key_variable), *untold)
    is_first = "anthropic" not in sys.modules
    with only_the_plan(endpoint.key_variable):
        request = asyncio.run(_captured(key or PLACEHOLDER_KEY, url))
    if is_first:
        gc.collect()
        gc.freeze()
    lines = head_lines(request.method.encode(), request.url.raw_path, request.headers.raw)
    return Head(origin, lines, (key,) if key else (), warnings)


def found_in_environment(environment: Mapping[str, str], key_variable: str) -> tuple[str, ...]:
    """One sentence for each variable that would have changed the SDK's requests. Names only: values may be secret."""
    ours = (key_variable, file_variable(key_variable))
    leaks = sorted(name for name in environment if name.startswith(_PREFIX) and name not in ours)
    return tuple(f"{name} is set in the environment and ignored: the plan decides" for name in leaks)


@contextmanager
def only_the_plan(key_variable: str) -> Iterator[None]:
    """Hides the SDK's other variables while its client is built: it offers no way to say "do not look"."""
    ours = (key_variable, file_variable(key_variable))
    with _one_at_a_time:
        hidden = {name: os.environ[name] for name in os.environ if name.startswith(_PREFIX) and name not in ours}
        for name in hidden:
            del os.environ[name]
        try:
            yield
        finally:
            os.environ.update(hidden)


async def _captured(key: str, url: str) -> httpx2.Request:
    import anthropic  # noqa: PLC0415 - slow, and only needed here
    import httpx2  # noqa: PLC0415

    class Capture(httpx2.AsyncBaseTransport):
        request: httpx2.Request

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            self.request = request
            return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=b"")

    capture = Capture()
    async with anthropic.AsyncAnthropic(
        api_key=key,
        base_url=url,
        max_retries=0,
        open_telemetry=False,
        http_client=httpx2.AsyncClient(transport=capture, trust_env=False, timeout=anthropic.DEFAULT_TIMEOUT),
    ) as client:
        stream = await client.messages.create(
            model="head", max_tokens=1, messages=[{"role": "user", "content": "head"}], stream=True
        )
        await stream.close()
    return capture.request
