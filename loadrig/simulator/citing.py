"""Citations: which spans of its sources an answer rests on, as blocks of the API's own or in a form that was asked for.

Rules: a quoted statement whose source came as a search result with citations enabled is a text block of its own, and
cites the whole piece that holds it. Where the instructions speak of exact words and show an element for them, such as
`<tag name="X">words</tag>`, each quoted statement of a source with an id follows the answer in such an element, word
for word. A prompt that wants neither gets neither. Dials plant spans that no source has, and spans under another
source's name; each is made sure of against all sources in the prompt, and counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from xml.sax.saxutils import quoteattr

from loadrig.simulator.counting import pieces
from loadrig.simulator.documents import Source
from loadrig.simulator.reader import Quoted, Said
from loadrig.simulator.reply import Cited, Text
from loadrig.simulator.request import Block

_EXACT = re.compile(r"\b(?:exact words|word for word|verbatim)\b", re.IGNORECASE)
_ELEMENT = re.compile(r"<(?P<tag>[A-Za-z]\w*) (?P<name>[A-Za-z]\w*)=\"[^\"<>]{1,40}\">[^<>]{1,80}</(?P=tag)>")
_FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Element:
    """The element in which exact words are asked for: its tag, and the attribute that names the source."""

    tag: str
    name: str


@dataclass(frozen=True, slots=True)
class Planting:
    """Shares of spans that are made up, and that are put under another source's name."""

    chance: Random
    fabricates: float = 0.0
    misplaces: float = 0.0


@dataclass(frozen=True, slots=True)
class Span:
    """A span as it is cited, and what was planted in it."""

    text: str
    source: str
    fabricated: bool = False
    misplaced: bool = False


def element_asked(system: tuple[Block, ...]) -> Element | None:
    """The element that the instructions show for exact words; None when they ask for none."""
    text = "\n".join(block["text"] for block in system if block.get("type") == "text")
    shown = _ELEMENT.search(text) if _EXACT.search(text) else None
    return None if shown is None else Element(shown["tag"], shown["name"])


def cited(said: Said, sources: list[Source], element: Element | None, planting: Planting) -> tuple[Text, ...]:
    """The answer as text blocks, with its citations."""
    blocks, at = [], 0
    for quote in said.quotes:
        begin = said.text.find(quote.text, at)
        if begin < 0 or quote.found.source.result is None:
            continue  # it stays in what comes before the next one
        before = said.text[at:begin]
        if before.strip():
            blocks.append(Text(tuple(pieces(before))))
            before = ""
        blocks.append(_block(before + quote.text, quote, sources, planting))
        at = begin + len(quote.text)
    rest = said.text[at:]
    if element is None or not said.quotes:
        return (*blocks, Text(tuple(pieces(rest)))) if rest else tuple(blocks)
    return (*blocks, _quoting(rest, said.quotes, sources, element, planting=planting))


def _block(text: str, quote: Quoted, sources: list[Source], planting: Planting) -> Text:
    result = quote.found.source.result
    assert result is not None
    statement = quote.found.statement.text
    place = next((n for n, piece in enumerate(result.pieces) if statement in " ".join(piece.split())), None)
    start, end = (0, len(result.pieces)) if place is None else (place, place + 1)
    span = _planted("\n".join(result.pieces[start:end]), quote.found.source, sources, planting)
    told = Cited(result.index, start, end, span.text, span.source, result.title)
    return _counted(Text(tuple(pieces(text)), (told,)), [span])


def _quoting(
    text: str, quotes: tuple[Quoted, ...], sources: list[Source], element: Element, *, planting: Planting
) -> Text:
    spans = [
        _planted(quote.found.statement.text, quote.found.source, sources, planting)
        for quote in quotes
        if quote.found.source.id
    ]
    lines = [f"<{element.tag} {element.name}={quoteattr(span.source)}>{span.text}</{element.tag}>" for span in spans]
    return _counted(Text(tuple(pieces("\n".join((text, *lines))))), spans)


def _counted(text: Text, spans: list[Span]) -> Text:
    return Text(
        text.pieces, text.citations,
        spans=len(spans),
        fabricated=sum(span.fabricated for span in spans),
        misplaced=sum(span.misplaced for span in spans),
    )  # fmt: skip


def _planted(text: str, source: Source, sources: list[Source], planting: Planting) -> Span:
    drawn, own = planting.chance.random(), source.id or ""
    if drawn < planting.fabricates:
        return Span(_altered(text, [flat(other) for other in sources], planting.chance), own, fabricated=True)
    if drawn < planting.fabricates + planting.misplaces:
        return Span(text, _another(" ".join(text.split()), own, sources, planting.chance), misplaced=True)
    return Span(text, own)


def _altered(text: str, flats: list[str], chance: Random) -> str:
    """The text with a figure changed or a word put in, so that none of the sources holds it."""
    words = text.split()
    figures = [place for place, word in enumerate(words) if _FIGURE.search(word)]
    if figures:
        place, by = chance.choice(figures), chance.randint(1, 9)
        words[place] = _FIGURE.sub(lambda found: str((int(found[0]) + by) % 10), words[place], count=1)
    else:
        words.insert(chance.randint(1, len(words)), "not")
    while any(" ".join(words) in held for held in flats):
        words.insert(chance.randint(1, len(words)), "not")
    return " ".join(words)


def _another(flat_text: str, own: str, sources: list[Source], chance: Random) -> str:
    """The id of a source that does not hold the text; one that is not there when all do."""
    holding = {source.id for source in sources if flat_text in flat(source)}
    others = sorted({source.id for source in sources if source.id and source.id != own} - holding)
    return chance.choice(others) if others else f"{own}-2"


def flat(source: Source) -> str:
    """All that a source says, white space made one blank."""
    if source.result is not None:
        return " ".join(" ".join(source.result.pieces).split())
    return " ".join(statement.text for statement in source.parsed.statements)
