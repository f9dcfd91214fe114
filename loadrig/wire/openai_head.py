"""The chat completions head: key and the few headers that every server of this dialect looks at.

Rules: no SDK is asked, because most who speak this dialect are not its maker. What the official client would send of
these headers is sent byte for byte and in its order (a test holds it); left out are those by which that client tells
about itself (`user-agent`, which is ours, and `x-stainless-*`). The path of a base URL is kept, and a query behind it
goes behind the dialect's path. Of the environment only the key is used; what else the official client would have taken
from there is ignored and said.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from loadrig import __version__
from loadrig.providers import Endpoint
from loadrig.wire.head import Head, authority, head_lines, origin_of
from loadrig.wire.key import PLACEHOLDER_KEY, key_for

_TAKEN = ("OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
_PORTS = {"http": 80, "https": 443}
_SAFE = "/%:@!$&'()*+,;=~?"  # what may stand in a path or a query as it is


def openai_head(endpoint: Endpoint, base_url: str | None) -> Head:
    """The head for `base_url` (None: the provider's own), which is written as for the official client: with `/v1`.

    Without a key in the environment the provider's own endpoint raises `InputError`; any other gets a placeholder.
    """
    url = endpoint.base_url if base_url is None else base_url
    origin = origin_of(url)
    key, warnings = key_for(endpoint, origin[1], os.environ)
    scheme, host, port = origin
    parts = urlsplit(url)
    target = quote(parts.path.rstrip("/"), safe=_SAFE) + endpoint.path
    target += f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    shown = authority(host, port) if port != _PORTS[scheme] else authority(host, port).rpartition(":")[0]
    headers = (
        ("Host", shown),
        ("Connection", "keep-alive"),
        ("authorization", f"Bearer {key or PLACEHOLDER_KEY}"),
        ("accept", "application/json"),
        ("content-type", "application/json"),
        ("user-agent", f"loadrig/{__version__}"),
    )
    lines = head_lines(b"POST", target.encode(), [(name.encode(), value.encode()) for name, value in headers])
    return Head(origin, lines, (key,) if key else (), (*found_in_environment(os.environ), *warnings))


def found_in_environment(environment: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for each variable that would have changed the official client's requests. Names only."""
    return tuple(
        f"{name} is set in the environment and ignored: the plan decides" for name in _TAKEN if name in environment
    )
