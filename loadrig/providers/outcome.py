"""What became of a complete reply, the same for every dialect: a pure rule over what was heard.

Refusals and truncations are answers of the target, not failures of the exchange; they are told apart here so that
none is ever graded in silence.
"""

from __future__ import annotations

from loadrig.providers import Heard
from loadrig.words.record import Outcome


def outcome(heard: Heard) -> tuple[Outcome, str | None]:
    """Outcome and reason: cut_off = limit reached with text, starved = limit reached with none, refused, empty,
    other (an unknown stop reason). A turn that asks for tools is answered. White space alone is no text."""
    text = heard.text.strip()
    match heard.stop:
        case "refusal":
            return "unanswered", "refused"
        case "max_tokens":
            return "unanswered", "cut_off" if text else "starved"
        case "end" | "tools":
            return ("answered", None) if text or heard.tool_uses else ("unanswered", "empty")
        case _:
            return "unanswered", "other"
