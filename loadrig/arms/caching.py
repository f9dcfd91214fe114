"""What arms say to a provider's prompt cache: how long to keep the prefix, whose it is, and what to ask beforehand.

Rules: what is kept is the prompt up to the end of one static block; all that varies stands behind it. The prefix of a
caller with labels opens with a mark made of them, so that two callers never share one, though they see the same
documents; without labels there is nobody to tell apart, and the prompt is to the byte what it is without a cache. With
`cold` the run's name is in the mark, too: no run reads what an earlier one has written. A mark means nothing and can
be read back to nobody.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Literal

import msgspec

from loadrig.arms.instructions import marked
from loadrig.words.prompt import Ask, Lifetime, Prompt

Cache = Literal["off", "5m", "1h"]


def lifetime(cache: Cache) -> Lifetime | None:
    """What a block says that the endpoint is to keep; None for one that says nothing."""
    return None if cache == "off" else cache


def system_for(system: str, caller: tuple[str, ...], run: str | None) -> str:
    """The instructions with the caller's mark before them. `run`: the run's name where its prefix is to be its own."""
    if not caller and run is None:
        return system
    told = msgspec.json.encode([sorted(set(caller)), run])
    return marked(system, blake2b(told, digest_size=8).hexdigest())


def primer(prompt: Prompt) -> Prompt:
    """What makes an endpoint keep a prompt's prefix: all up to its last breakpoint, and one token of a reply.

    No tokens at all, which the API allows, are an error to others that speak it."""
    for place in range(len(prompt.messages) - 1, -1, -1):
        message = prompt.messages[place]
        marks = [number for number, part in enumerate(message.parts) if _kept(part)] if isinstance(message, Ask) else []
        if marks and isinstance(message, Ask):
            cut = Ask(message.parts[: marks[-1] + 1])
            return replace(prompt, messages=(*prompt.messages[:place], cut), max_tokens=1)
    raise ValueError("a prompt without a breakpoint has no prefix to keep")


def _kept(part: object) -> bool:
    return getattr(part, "cache", None) is not None


def suffix(cache: Cache, *, cold: bool, prime: bool) -> str:
    """What an arm's name says of it: nothing where nothing is kept."""
    if cache == "off":
        return ""
    return f"-cache{cache}{'-cold' if cold else ''}{'' if prime else '-unprimed'}"
