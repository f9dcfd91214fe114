"""The official SDK's client over our engine, for a turn that needs the SDK whole: helpers, exceptions, other endpoints.

Rules: where it asks, its key and its proxy are the target's; the environment is not looked at. No retries unless told
so: each is an attempt of its own, with stamps of its own. Importing the SDK costs two seconds of CPU the first time.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from loadrig.wire.anthropic_head import only_the_plan
from loadrig.wire.dressing import dressed
from loadrig.wire.engine import Engine
from loadrig.wire.head import Head
from loadrig.wire.key import PLACEHOLDER_KEY
from loadrig.wire.turn import Target

if TYPE_CHECKING:
    import anthropic


def anthropic_client(engine: Engine, target: Target, *, max_retries: int = 0) -> anthropic.AsyncAnthropic:
    """A client; close it before the engine. What was measured of a reply: see `transport`."""
    import anthropic  # noqa: PLC0415 - slow, and few need it
    import httpx2  # noqa: PLC0415

    from loadrig.wire.transport import EngineTransport  # noqa: PLC0415 - imports httpx2

    head, endpoint = target.head, target.dialect.endpoint
    plain = replace(target.model, ca_file=None, client_cert=None, client_key=None)  # whose files need no second look

    def dress(asked: Head) -> Head:
        return replace(dressed(asked, plain, endpoint.path, os.environ), certificates=head.certificates)

    transport = EngineTransport(engine, target.dialect, proxy=head.proxy, dress=dress)
    with only_the_plan(endpoint.key_variable):
        return anthropic.AsyncAnthropic(
            api_key=head.secrets[0] if head.secrets else PLACEHOLDER_KEY,
            base_url=target.base_url,
            max_retries=max_retries,
            open_telemetry=False,
            http_client=httpx2.AsyncClient(
                transport=transport, trust_env=False, timeout=anthropic.DEFAULT_TIMEOUT, follow_redirects=False
            ),
        )
