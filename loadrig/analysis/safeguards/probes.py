"""What the run checked before its first trial, as its manifest has it; of a run that was resumed, the worst."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from loadrig.analysis.safeguards.seen import Seen
from loadrig.words.safeguard import WORST_FIRST, Safeguard

NAMES = ("context probe", "prompt tokens")


def check(seen: Seen) -> Iterator[Safeguard]:
    """One of each name and model; where there is none, why."""
    rows = seen.run.manifest.get("safeguards")
    found = msgspec.convert(rows or [], tuple[Safeguard, ...])
    worst: dict[tuple[str, str], Safeguard] = {}
    for one in found:
        held = worst.get((one.name, one.of))
        if held is None or WORST_FIRST.index(one.verdict) < WORST_FIRST.index(held.verdict):
            worst[one.name, one.of] = one
    yield from worst.values()
    known = {one.name for one in found}
    why = "the run was not probed" if rows is None else "no arm puts the same long context into every prompt"
    yield from (Safeguard(name, "not checked", why) for name in NAMES if name not in known)
