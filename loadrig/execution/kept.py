"""What a plan's arms ask an endpoint to keep of their prompts, found from the prompts that were tried out. Pure.

A prefix is of use when another question comes with the same bytes. Where the prompts of two questions of one caller
part before the first breakpoint, something that varies stands there, every trial writes a prefix that nobody will read,
and pays for it. Arms with tools are not looked at: what they keep is a conversation, for the next turn of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadrig.arms.caching import prefix
from loadrig.words.prompt import Ask, Lifetime, Part, Prompt

SHOWN = 40
Asked = Sequence[tuple[tuple[str, ...], Prompt]]


@dataclass(frozen=True, slots=True)
class Kept:
    """What one arm's prompts keep. `tokens`: of the shortest prefix, and `mean_tokens` of all, by the local estimate;
    `prefixes`: how many distinct ones were seen; `parted`: where those of two questions of one caller part, None when
    some are the same or there is one question only."""

    lifetime: Lifetime
    tokens: int
    mean_tokens: int
    prefixes: int
    parted: str | None


def kept_of(asked: Asked, count: Callable[[Prompt], int]) -> Kept | None:
    """What the first prompts of some questions, each with its caller, keep; None when they keep nothing."""
    asked = [(caller, prompt) for caller, prompt in asked if not prompt.tools]
    whole = [(caller, kept) for caller, prompt in asked if (kept := prefix(prompt)) is not None]
    if not whole:
        return None
    sizes = [count(kept) for _, kept in whole]
    return Kept(
        lifetime=_lifetime(whole[0][1]),
        tokens=min(sizes),
        mean_tokens=round(sum(sizes) / len(sizes)),
        prefixes=len({kept for _, kept in whole}),
        parted=_parted(asked),
    )


def told(arm: str, kept: Kept | None, *, wanted: bool, minima: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """What is wrong with what an arm keeps, in words. `wanted`: it is told to keep something. `minima`: each model with
    the local tokens that its least prefix comes to."""
    if kept is None:
        return (f"{arm}: a cache is asked for, and no prompt has anything to keep",) if wanted else ()
    found = []
    if kept.parted is not None:
        found.append(
            f"{arm}: text that varies stands before the end of the cached prefix, so no trial will find one and each "
            f"pays for writing it: {kept.parted}; put it behind the breakpoint"
        )
    found += [
        f"{arm}: its cached prefix of about {kept.tokens:,} local tokens is below the about {least:,} from which on "
        f"{model} caches: nothing will be cached, and the endpoint will not say so"
        for model, least in minima
        if kept.tokens < least
    ]
    return tuple(found)


def _lifetime(kept: Prompt) -> Lifetime:
    if kept.cache is not None:
        return kept.cache
    parts = [part for message in kept.messages if isinstance(message, Ask) for part in message.parts]
    return next(part.cache for part in reversed(parts) if isinstance(part, Part) and part.cache is not None)


def _parted(asked: Asked) -> str | None:
    """Where prefixes part, if in no group of a caller's questions two share one."""
    groups: dict[tuple[str, ...], list[Prompt]] = {}
    for caller, prompt in asked:
        kept = prefix(prompt, last=False)
        if kept is not None:
            groups.setdefault(caller, []).append(kept)
    several = [group for group in groups.values() if len(group) > 1]
    if not several or any(len(set(group)) < len(group) for group in several):
        return None
    return _difference(*several[0][:2])


def _difference(one: Prompt, other: Prompt) -> str:
    for place, (first, second) in enumerate(zip(_texts(one), _texts(other), strict=False)):
        if first != second:
            at = next(
                (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
                min(map(len, (first, second))),
            )
            where = "the instructions" if place == 0 else f"block {place}"
            return f"{where}, from character {at + 1} on: {first[at : at + SHOWN]!r} and {second[at : at + SHOWN]!r}"
    return "one has more blocks than the other"


def _texts(prompt: Prompt) -> list[str]:
    return [
        prompt.system,
        *(part.text for message in prompt.messages if isinstance(message, Ask) for part in message.parts),
    ]
