"""Names, numbers and codes that stand nowhere in a haystack, and never twice; and depths. All from one seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence

from loadrig.context import EVAL_BANDS

_WORD = re.compile(r"[^\W_]+")
_GROUPED = re.compile(r"\d{1,3}(?:[,. ]\d{3})+")
_ONSETS = ("b", "br", "d", "dr", "f", "g", "k", "kr", "l", "m", "n", "p", "pr", "r", "s", "t", "tr", "v", "w", "z")
_VOWELS = ("a", "e", "i", "o", "u")
_ENDS = ("l", "n", "r", "s", "m", "k", "nd", "rt", "x")
SLOTS = 40  # evenly spaced depths of which several are drawn without replacement, as RULER does


class Fresh:
    """Draws. `texts`: the haystack's."""

    def __init__(self, texts: Iterable[str], seed: int) -> None:
        self.chance = random.Random(f"{seed}:needles")
        self._taken: set[str] = set()
        for text in texts:
            self._taken |= {word.casefold() for word in _WORD.findall(text)}
            self._taken |= {re.sub(r"\D", "", found) for found in _GROUPED.findall(text)}

    def name(self) -> str:
        """An invented word with a capital: `Tovarel`."""
        return self._new(self._word).capitalize()

    def names(self, count: int) -> list[str]:
        return [self.name() for _ in range(count)]

    def word(self) -> str:
        """An invented word in small letters."""
        return self._new(self._word)

    def number(self) -> str:
        """Six digits, the first and the last but two not 0."""
        return self._new(lambda: f"{self.chance.randrange(100, 1000)}{self.chance.randrange(100, 1000)}")

    def code(self) -> str:
        """Ten hexadecimal digits, a letter first."""
        return self._new(lambda: f"{self.chance.choice('abcdef')}{self.chance.getrandbits(36):09x}")

    def in_band(self, number: int) -> float:
        """A depth well inside a band: the bands in turn by number."""
        low, high = EVAL_BANDS[number % len(EVAL_BANDS)]
        return self.chance.uniform(low + 0.2 * (high - low), high - 0.2 * (high - low))

    def spread(self, count: int, *, beside: Sequence[float] = (), away: float = 0.0) -> list[float]:
        """So many different depths over the whole, rising; each at least `away` from those `beside`."""
        slots = [(slot + 0.5) / SLOTS for slot in range(SLOTS)]
        free = [depth for depth in slots if all(abs(depth - other) >= away for other in beside)]
        return sorted(self.chance.sample(free, count))

    def _new(self, draw: Callable[[], str]) -> str:
        while True:
            found = draw()
            if found.casefold() not in self._taken:
                self._taken.add(found.casefold())
                return found

    def _word(self) -> str:
        syllables = [self.chance.choice(_ONSETS) + self.chance.choice(_VOWELS) for _ in range(3)]
        return "".join(syllables) + self.chance.choice(_ENDS)
