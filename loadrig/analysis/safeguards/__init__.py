"""Safeguards of a run: named checks that run by themselves whenever a run is read, one file an idea.

Rules: a check takes what is known of the run and says what it found, once or once a model; one that could not run says
"not checked" and why, never "passed". A new one is a file with `check(seen) -> Iterable[Safeguard]` and a line here.
What only the run itself could check, before its first trial, is in its manifest; `probes` takes it from there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from loadrig.words.safeguard import Safeguard

if TYPE_CHECKING:
    from loadrig.analysis.safeguards.seen import Seen

CHECKS = (
    "loadrig.analysis.safeguards.probes",
    "loadrig.analysis.safeguards.trial_tokens",
    "loadrig.analysis.safeguards.output_tokens",
    "loadrig.analysis.safeguards.cache",
    "loadrig.analysis.safeguards.reply_ids",
    "loadrig.analysis.safeguards.determinism",
    "loadrig.analysis.safeguards.control",
    "loadrig.analysis.safeguards.ceiling",
    "loadrig.analysis.safeguards.empty",
    "loadrig.analysis.safeguards.crediting",
    "loadrig.analysis.safeguards.contamination",
    "loadrig.analysis.safeguards.saturation",
    "loadrig.analysis.safeguards.models",
)


def safeguards(seen: Seen) -> tuple[Safeguard, ...]:
    """What every check of the table found, in its order."""
    return tuple(found for name in CHECKS for found in import_module(name).check(seen))
