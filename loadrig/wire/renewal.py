"""The head in force: taken again when the key changes, and once when it is refused.

Rules: a file with the key is looked at once a second at most, and read when it was written; a refused head is taken
again only if the key is another by now, or if whoever has authority over the head keeps none where we can see it. Many
who are refused at once share one capture. Another head that leads elsewhere, or has no key where the refused one had,
is none. What goes wrong in it leaves the head as it is: the refusal then tells. Captures block: they run in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from loadrig.providers import Endpoint, load
from loadrig.wire.dressing import dressed
from loadrig.wire.head import Head
from loadrig.wire.key import file_variable, key_of
from loadrig.wire.proxy import through
from loadrig.words.clock import Clock
from loadrig.words.errors import InputError
from loadrig.words.settings import ModelSettings

_LOOK_NS = 1_000_000_000

Written = tuple[int, int, int]  # a file's time, size and number: another when it was written or replaced


@dataclass(frozen=True, slots=True)
class Source:
    """What a head is taken from: a model's dialect and settings, at `base_url` (None: the provider's own)."""

    model: ModelSettings
    base_url: str | None

    @property
    def endpoint(self) -> Endpoint:
        return load(self.model.provider).endpoint

    def head(self) -> Head:
        """Takes it. Blocks. Raises `InputError`."""
        module, _, attribute = self.endpoint.head.partition(":")
        capture = cast("Callable[[Endpoint, str | None], Head]", getattr(importlib.import_module(module), attribute))
        head = dressed(capture(self.endpoint, self.base_url), self.model, self.endpoint.path, os.environ)
        return through(head, self.model.proxy, os.environ)

    def other_than(self, refused: Head) -> Head | None:
        """A head with another key than the refused one, or None. Blocks."""
        try:
            key = key_of(self.endpoint.key_variable, os.environ)
            if (key in refused.secrets) if key else not refused.secrets:
                return None  # without asking: the capture may cost seconds of CPU in a process that never made one
            head = self.head()
        except InputError:
            return None
        is_other = head.lines != refused.lines and head.route == refused.route
        return head if is_other and bool(head.secrets) >= bool(refused.secrets) else None

    def written(self) -> Written | None:
        """When the file with the key was written; None without one, or when it is not there just now."""
        place = os.environ.get(file_variable(self.endpoint.key_variable))
        if not place:
            return None
        try:
            status = os.stat(place)  # noqa: PTH116 - as short as this
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


class HeadInForce:
    """One for all who ask a target; without a `source` its head stays what it is."""

    def __init__(self, head: Head, source: Source | None, clock: Clock) -> None:
        self._head = head
        self._source = source
        self._clock = clock
        self._lock = asyncio.Lock()
        self._written = None if source is None else source.written()
        self._look_at_ns = clock.now_ns() + _LOOK_NS

    async def ready(self) -> None:
        """Before anything is timed: a capture that a changed key would need costs its two seconds of CPU now."""
        if self._source is not None and self._written is not None:
            with contextlib.suppress(InputError):
                await asyncio.to_thread(self._source.head)

    async def head(self) -> Head:
        """For the next request. Whoever finds a key file written anew waits for its head; others go on meanwhile."""
        if self._written is not None and self._clock.now_ns() >= self._look_at_ns:
            self._look_at_ns = self._clock.now_ns() + _LOOK_NS
            assert self._source is not None
            written = await asyncio.to_thread(self._source.written)
            if written is not None and written != self._written:
                self._written = written
                await self.other_than(self._head)
        return self._head

    async def other_than(self, refused: Head) -> Head | None:
        """The head that has taken the refused one's place by now; None when there is none."""
        if self._source is None:
            return None
        async with self._lock:
            if self._head is refused:
                other: Head | None = await asyncio.to_thread(self._source.other_than, refused)
                self._head = other or refused
            return None if self._head is refused else self._head
