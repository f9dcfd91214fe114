"""Pushes a run's metrics to a Prometheus pushgateway, for runs too short to be scraped.

Grouping key: job=loadrig, run=<run id>; each push replaces all that an earlier one of the run had left. The first push
is made at once, then one every `every_s` seconds by a thread of its own, and the last when it is closed, so that the
gateway keeps the final state until somebody deletes it. A gateway that is down, refuses or hangs costs the run nothing
but the wait for the last push, `TIMEOUT_S` at most for each push under way: it is said once, and once more when the
last push has failed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from urllib.parse import quote, urlsplit

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from loadrig.outside import put
from loadrig.words.errors import InputError

JOB = "loadrig"
EVERY_S = 10.0
TIMEOUT_S = 5.0

Say = Callable[[str], None]


def gateway_of(text: str) -> str:
    """The address of a gateway: `http://HOST:PORT`, maybe with a path. Raises `InputError` for anything else."""
    url = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port that is no number
        is_address = False
    if not is_address or parts.query or parts.fragment:
        raise InputError("that is no address of a pushgateway", remedy="such as --pushgateway http://127.0.0.1:9091")
    if parts.username or parts.password:
        raise InputError(
            "an address of a pushgateway with a user or a password in it would be on file with the command line",
            remedy="give the gateway's address without them, or that of a proxy which adds them",
        )
    return url.rstrip("/")


class Pusher:
    """Pushes while it is open; `with` closes it. `say` takes what is wrong with the gateway, in a thread of ours."""

    def __init__(
        self, registry: CollectorRegistry, gateway: str, run: str, *, say: Say, every_s: float = EVERY_S
    ) -> None:
        self.url = f"{gateway}/metrics/job/{JOB}/run/{quote(run, safe='')}"
        self._registry, self._say, self._every_s = registry, say, every_s
        self._ended = threading.Event()
        self._failing = False
        self._thread = threading.Thread(target=self._push_on, name="loadrig-push", daemon=True)

    def __enter__(self) -> Pusher:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Pushes the final state; may be called twice."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        if (trouble := self._push()) is not None:
            self._say(f"the pushgateway does not have the run's final metrics: {trouble}")

    def _push_on(self) -> None:
        while True:
            trouble = self._push()
            if trouble is not None and not self._failing:
                self._say(f"metrics cannot be pushed, the run goes on without: {trouble}")
            self._failing = trouble is not None
            if self._ended.wait(self._every_s):
                return

    def _push(self) -> str | None:
        """What is wrong; None when the gateway has taken the metrics."""
        try:
            put(self.url, generate_latest(self._registry), CONTENT_TYPE_LATEST, timeout_s=TIMEOUT_S)
        except InputError as error:
            return error.problem
        return None
