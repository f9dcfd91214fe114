"""The garbage collector of a worker's process, kept from becoming a pause of every stream.

Why: what a trial makes is freed without it (a test holds that), so it only looks. Looking at what 512 streams hold
takes 20 ms, and at a large corpus more; by its own measure, 700 objects made, it would look many times a second.
Rules: what is there at the start is never looked at again; the rest only when it has grown by many objects, which is
when an arm or a retriever leaves cycles behind.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

GROWTH = 100_000  # objects; about what a thousand streams hold


@contextmanager
def rare_collections() -> Iterator[None]:
    """For as long as a worker serves."""
    gc.collect()
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(GROWTH, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
