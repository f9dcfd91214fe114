"""What is planted and what is asked of it: the values that pass between the kinds of probes and the haystack."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Needle:
    """A paragraph, or with a `title` a document of its own; `depth` is where its middle is to stand, 0 to 1."""

    text: str
    depth: float
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. `rests`: numbers of the needles that answer it, each with the words of it that do, None: the whole of
    a sheet, of which no one line answers."""

    category: str
    question: str
    reference: str
    must_contain: tuple[str, ...]
    rests: tuple[tuple[int, str | None], ...]
    subtype: str | None = None


@dataclass(frozen=True, slots=True)
class Planted:
    """Needles and what is asked of them. `only`: words that must stand nowhere but in these needles, else something of
    the haystack might answer or contradict."""

    needles: tuple[Needle, ...]
    asked: tuple[Asked, ...]
    only: tuple[str, ...]


def sentence(number: int, needle: Needle) -> tuple[int, str]:
    """A needle that answers with all it says."""
    return number, needle.text


def figure(digits: str) -> str:
    """A number as an answer may write it: `482137||482,137||482 137||482.137`."""
    head, tail = digits[:-3], digits[-3:]
    return "||".join((digits, f"{head},{tail}", f"{head} {tail}", f"{head}.{tail}"))
