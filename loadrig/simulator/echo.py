"""A model told to repeat lines repeats them: those of the prompt that begin with what stands in quotes.

Only lines before the request itself count; those that are not there, or no longer, cannot be repeated.
"""

from __future__ import annotations

import re

from loadrig.simulator.request import Message, user_texts

_WISH = re.compile(r"\brepeat\b[^\"]{0,80}\bline[^\"]{0,80}\bbegins? with \"(?P<start>[^\"\n]+)\"", re.IGNORECASE)
NONE = "No line begins so."


def repeated(messages: tuple[Message, ...]) -> str | None:
    """The lines asked for, in order; None when the last user text asks for none."""
    texts = user_texts(messages)
    wish = _WISH.search(texts[-1]) if texts else None
    if wish is None:
        return None
    lines = [line.strip() for text in (*texts[:-1], texts[-1][: wish.start()]) for line in text.splitlines()]
    return "\n".join(line for line in lines if line.startswith(wish["start"])) or NONE
