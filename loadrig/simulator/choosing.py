"""One of several named kinds, for a question: by what the instructions say that each kind is, never by its name.

Rules: a question is seen to want everything, several things together, one thing, or nothing that its wording tells, the
first that fits; a kind is taken whose description has the most words of that. Where no description has any, the last
kind is taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SHAPES = (
    (
        r"\b(?:all|every|each|compare|list|count|counting|how many of|which of|lacks?|never|nothing|without|whole)\b",
        r"\b(?:all|every|each|compare|count|list|whole|nowhere|absent)\b",
    ),
    (
        r"\band (?:\w+ )?(?:how|what|when|where|which|who|why)\b|\b(?:before|after|than|until|since|lie between)\b"
        r"|\bthe (?:one|same \w+) that\b|[.] [A-Z]",
        r"\b(?:several|together|combin\w+|follow\w*|steps?|hops?)\b",
    ),
    (
        r"^(?:\w+ )?(?:who|whose|when|where|what|which|how (?:many|much|long|large|big|high|far|old|often|quickly))\b",
        r"\b(?:single|one|simple|passage)\b",
    ),
    (r"", r"\b(?:(?:not|cannot) tell|be told|unclear|unsure)\b"),
)
"""(what such a question looks like, the words by which instructions describe it), the first that fits."""


def choose(kinds: Sequence[str], instructions: str, question: str) -> str:
    """One of the kinds; the instructions describe each behind its name and a colon."""
    described = {kind: _description(kind, instructions) for kind in kinds}
    words = next(words for looks, words in _SHAPES if re.search(looks, question, re.IGNORECASE))
    found = {kind: len(re.findall(words, text, re.IGNORECASE)) for kind, text in described.items()}
    best = max(found.values())
    return next(kind for kind in kinds if found[kind] == best) if best else kinds[-1]


def _description(kind: str, instructions: str) -> str:
    found = re.search(rf"(?<!\w){re.escape(kind)}\s*[:=]\s*([^.;\n]+)", instructions)
    return found.group(1) if found else ""
