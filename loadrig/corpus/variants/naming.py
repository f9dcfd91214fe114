"""Invents names and puts them in the place of others.

Rules: a new name has the first letter of the old one (initials go on holding), about its length and its capitals, and
is no word of the corpus. Names of several words are changed word by word, so that `Ilse Karrow`, `Ilse`, `I. Karrow`
stay one person. A word of such a name is kept when it is an ordinary one (`Upper`, `Mill`: it also occurs in small
letters), a title, an initial, or stands in a thing's name beside a word that is a name by itself; what is changed is
changed wherever it stands alone. A possessive ending stays where it was. Upper case is changed too, and lower case
(`ilse-karrow` in an id) where the word is not an ordinary one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loadrig.corpus.ledger import Name

_ONSETS = ("b", "br", "c", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "w")
_VOWELS = ("a", "e", "i", "o", "u")
_JOINTS = ("", "", "", "l", "n", "r", "m")  # between syllables
_ENDS = ("a", "o", "e", "en", "ow", "el", "and", "ith", "ock", "ery", "ane", "isk", "oth", "ull", "ard", "im")
_WORD = re.compile(r"[^\W\d_]+")
_TITLES = ("Captain", "Dr", "Lady", "Miss", "Mr", "Mrs", "Ms", "Professor", "Sir")
_PLAIN_ENDING = re.compile(r"(?:'s|’s|'|’)$")  # noqa: RUF001 - papers use both apostrophes


@dataclass(frozen=True, slots=True)
class Names:
    """New words for old ones; `of(text)` is the text with each in its place."""

    words: Mapping[str, str]
    pattern: re.Pattern[str] | None = field(init=False)

    def __post_init__(self) -> None:
        forms = "|".join(map(re.escape, sorted(self.words, key=lambda word: (-len(word), word))))
        pattern = re.compile(rf"(?<![^\W_])(?:{forms})(?![^\W_])") if forms else None
        object.__setattr__(self, "pattern", pattern)

    def of(self, text: str) -> str:
        """The text under its new names."""
        if self.pattern is None:
            return text
        return self.pattern.sub(lambda found: self.words[found.group()], text)


def changing_words(names: Sequence[Name], ordinary: Collection[str]) -> dict[str, list[str]]:
    """For each name the words in it that a renaming changes; `ordinary` are the corpus' words in small letters."""
    listed = [name.name for name in names]
    alone = {name for name in listed if len(name.split()) == 1}
    persons = {name.name for name in names if name.kind == "person"}
    changing: dict[str, list[str]] = {}
    for name in listed:
        words = [_PLAIN_ENDING.sub("", word) for word in name.split()]
        own = [word for word in words if word in alone]
        whole = [word for word in words if not word.endswith(".") and word not in _TITLES]
        rare = [word for word in whole if word.casefold() not in ordinary]
        if name in persons:
            own = [word for word in words if word in alone or word in rare]
        changing[name] = own or rare or whole
    return changing


def ordinary_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that occur in small letters somewhere in the texts."""
    return frozenset(word for text in texts for word in _WORD.findall(text) if word.islower())


def all_words(texts: Iterable[str]) -> set[str]:
    """Every word of the texts in small letters: what an invented name must not be."""
    return {word.casefold() for text in texts for word in _WORD.findall(text)}


def with_cases(words: Mapping[str, str], ordinary: Collection[str]) -> dict[str, str]:
    """The words, also in capitals, and in small letters where that is no ordinary word."""
    new = {old.upper(): word.upper() for old, word in words.items()}
    new |= {old.lower(): word.lower() for old, word in words.items() if old.lower() not in ordinary}
    return new | dict(words)


def invented(old: str, taken: set[str], chance: random.Random, *, size: Callable[[str], int] = lambda _word: 0) -> str:
    """A new word like the old one, and not among those taken, to which it is added (in small letters).

    It also has the old one's `size`, where that can be had in a thousand tries.
    """
    for attempt in range(10_000):
        parts = [_like(part, chance, longer=(attempt % 1000) // 20) for part in re.split(r"([-'])", old)]
        word = "".join(parts)
        if attempt < 1000 and size(word) != size(old):
            continue
        if word.casefold() not in taken and word.casefold() != old.casefold():
            taken.add(word.casefold())
            return word
    raise AssertionError(f"no free name like {old!r}")


def _like(old: str, chance: random.Random, *, longer: int) -> str:
    if not _WORD.fullmatch(old):
        return old
    if len(old) < 4 and old.isupper():
        return "".join(chance.choices("BCDFGHJKLMNPRSTVWZ", k=len(old) + longer))
    word, length = old[0].lower(), max(5, len(old)) + longer
    if word in "aeiou":
        word += chance.choice("lnrms")
    elif word == "q":
        word = "qu"
    while len(word) < length - 3:
        word += chance.choice(_VOWELS[:3] if word[-1] == "u" else _VOWELS)
        word += chance.choice(_JOINTS) + chance.choice(_ONSETS)
    word += chance.choice(_ENDS)
    if old.isupper():
        return word.upper()
    return word if old[0].islower() else word.capitalize()
