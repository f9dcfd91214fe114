"""The table of arms. A new arm is one file here and one line below; a plan may also name any `module:attr`.

An arm is a frozen dataclass whose fields are its options; a list in the plan makes one arm of each value. What an
arm may use is `loadrig.words.arm.Client`, nothing else: no clock, no file, no network of its own.
"""

from __future__ import annotations

ARMS: dict[str, str] = {
    "control": "loadrig.arms.control:Control",
    "rag": "loadrig.arms.rag:Rag",
    "full_context": "loadrig.arms.full_context:FullContext",
    "cached_core": "loadrig.arms.cached_core:CachedCore",
    "agentic": "loadrig.arms.agentic:Agentic",
    "placed": "loadrig.arms.placed:PlacedGold",
    "escalate": "loadrig.arms.escalate:Escalate",
    "route": "loadrig.arms.route:Route",
    "summaries": "loadrig.arms.summaries:Summaries",
    "decompose": "loadrig.arms.decompose:Decompose",
}
