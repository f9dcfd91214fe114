"""What arms say to a provider's prompt cache: how long to keep the prefix, whose it is, and what to ask beforehand.

Rules: what is kept is the prompt up to the end of one static block; all that varies stands behind it. The instructions
of a prompt whose prefix is kept open with a mark, made of the arm's name and the caller's labels: two callers never
share a prefix, though they see the same documents, and two arms of a run do not read what the other has paid for. With
`cold` the run's name is in it, too: no run reads what an earlier one has written. A mark means nothing to the model and
can be read back to nobody.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal

import msgspec
from msgspec.structs import replace

from loadrig.arms.instructions import marked
from loadrig.words.prompt import Ask, Lifetime, Part, Prompt

Cache = Literal["off", "5m", "1h"]
_LETTERS = str.maketrans("0123456789", "ghijklmnop")  # digits and letters count unlike: marks should weigh alike


def lifetime(cache: Cache) -> Lifetime | None:
    """What a block says that the endpoint is to keep; None for one that says nothing."""
    return None if cache == "off" else cache


def system_for(system: str, arm: str, caller: tuple[str, ...], *, run: str | None) -> str:
    """The instructions behind the mark of an arm and a caller. `run`: the run's name where its prefix is its own."""
    told = msgspec.json.encode([arm, sorted(set(caller)), run])
    return marked(system, blake2b(told, digest_size=8).hexdigest().translate(_LETTERS))


def prefix(prompt: Prompt, *, last: bool = True) -> Prompt | None:
    """The prompt up to its last (or first) breakpoint, the end of one that is kept whole; None when it has none."""
    marks = [
        (place, number)
        for place, message in enumerate(prompt.messages)
        if isinstance(message, Ask)
        for number, part in enumerate(message.parts)
        if isinstance(part, Part) and part.cache is not None
    ]
    if prompt.cache is not None and (last or not marks):
        return prompt
    if not marks:
        return None
    place, number = marks[-1 if last else 0]
    message = prompt.messages[place]
    assert isinstance(message, Ask)
    return replace(prompt, messages=(*prompt.messages[:place], Ask(message.parts[: number + 1])))


def primer(prompt: Prompt) -> Prompt:
    """What makes an endpoint keep a prompt's prefix: all up to its last breakpoint, and one token of a reply. None at
    all, which the API allows, is an error to others that speak it."""
    kept = prefix(prompt)
    assert kept is not None, "an arm primes what it keeps"
    return replace(kept, max_tokens=1)


def suffix(cache: Cache, *, cold: bool, prime: bool) -> str:
    """What an arm's name says of it: nothing where nothing is kept."""
    if cache == "off":
        return ""
    return f"-cache{cache}{'-cold' if cold else ''}{'' if prime else '-unprimed'}"
