"""Marker lines in a long prompt: a model that saw all of it can repeat each; one whose window was cut cannot. Pure.

A first line stands at the very top of the static text, a last one at its very end, the others at equal distances
between, at the ends of lines. Secrets follow from a seed: the same run asks for the same, no other run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from msgspec.structs import replace

from loadrig.words.prompt import Ask, Part, Prompt

MARKERS = 9


@dataclass(frozen=True, slots=True)
class Marked:
    """A prompt with marker lines in it. `places`: where each stands, as a share of the static text."""

    prompt: Prompt
    secrets: tuple[str, ...]
    places: tuple[float, ...]

    def missing(self, answer: str) -> tuple[int, ...]:
        """Numbers, from 0, of the markers that an answer does not repeat."""
        return tuple(number for number, secret in enumerate(self.secrets) if secret not in answer)


def static_part(prompt: Prompt) -> int | None:
    """Which part of the first message is the longest static one; None when the prompt has none."""
    first = prompt.messages[0] if prompt.messages else None
    if not isinstance(first, Ask):
        return None
    static = [number for number, part in enumerate(first.parts) if part.static]
    return max(static, key=lambda number: len(first.parts[number].text), default=None)


def marked(prompt: Prompt, seed: str, *, chars: int | None = None) -> Marked | None:
    """The prompt with markers in its longest static part (or in the first `chars` of it), and, in place of what came
    behind that, the wish to repeat them. Tools are left out. None when it has no static part."""
    at = static_part(prompt)
    first = prompt.messages[0] if prompt.messages else None
    if at is None or not isinstance(first, Ask):
        return None
    text = first.parts[at].text[:chars]
    secrets = tuple(_secret(seed, number) for number in range(MARKERS))
    start = f"Marker {_secret(seed, -1)[:4]}"
    places = [_line_end(text, number * len(text) // (MARKERS - 1)) for number in range(MARKERS)]
    pieces: list[str] = []
    begin = 0
    for number, (place, secret) in enumerate(zip(places, secrets, strict=True), start=1):
        pieces += [text[begin:place], "\n" if place else "", f"{start}, line {number}: {secret}\n"]
        begin = place
    wish = (
        f'Question: Repeat, word for word, every line above that begins with "{start}", wherever it stands. '
        "Give these lines and nothing else."
    )
    parts = (*first.parts[:at], Part("".join(pieces)), Part(wish))
    return Marked(
        replace(prompt, messages=(Ask(parts),), tools=()), secrets, tuple(place / max(1, len(text)) for place in places)
    )


def gap(missing: Sequence[int], places: Sequence[float]) -> str:
    """Where the window was cut, in words."""
    last = len(places) - 1
    if missing[0] == 0 and last not in missing:
        seen = min(number for number in range(last + 1) if number > missing[-1])
        return f"the top of the context did not reach the model, up to {places[missing[-1]]:.0%} or {places[seen]:.0%}"
    if 0 not in missing and last not in missing:
        return (
            f"the middle of the context did not reach the model, between {places[missing[0] - 1]:.0%} and "
            f"{places[missing[-1] + 1]:.0%}"
        )
    return f"parts of the context did not reach the model, at {', '.join(f'{places[n]:.0%}' for n in missing)}"


def _secret(seed: str, number: int) -> str:
    return blake2b(f"{seed}/{number}".encode(), digest_size=6).hexdigest()


def _line_end(text: str, at: int) -> int:
    """The next end of a line from `at`, both ends of the text as they are; where lines are very long, `at` itself."""
    if at in (0, len(text)):
        return at
    found = text.find("\n", at, at + max(200, len(text) // 50))
    return at if found < 0 else found
