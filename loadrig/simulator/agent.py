"""What to do next with tools: search, read what looks best, search in other words, or stop and answer.

Rules: it decides from the question and the results in the conversation, nothing else, so another collection gives
another trace. It first searches with the question's words (and lists, when asked for a number or for all). It reads
the documents whose passages fit best, two or three at once. While evidence is weak it searches again: for names
only, for the words nothing seen so far holds, for halves of the question, for rare words of the best passage. With
good evidence it looks once for later decisions on the same matter. After three searches or six turns it
answers with what it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadrig.simulator.evidence import Found, rank, weigh
from loadrig.simulator.reader import is_listing
from loadrig.simulator.transcript import Toolset, Transcript
from loadrig.simulator.vocabulary import stems, stems_of, tokens

MOST_TURNS, MOST_SEARCHES = 6, 3
GOOD = 0.55
"""Share of the question's weight in or near the best statement from which evidence counts as good."""
WORTH_READING = 0.55
"""A document is worth reading when its best statement scores this share of the best of all."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call to make: the tool's name and its one argument (none for a listing)."""

    tool: str
    parameter: str
    value: str


def next_calls(question: str, tools: Toolset, seen: Transcript, *, asks: Sequence[str] = ()) -> list[ToolCall]:
    """The calls of the next turn; empty when it is time to answer. `asks`: what it also looks for and reads at first,
    whatever the question."""
    if seen.turns >= MOST_TURNS:
        return []
    if not seen.turns:
        return _opening(question, tools) + [call for text in asks for call in _asking(tools, text)]
    found = rank(question, seen.sources)
    best = found[0].coverage if found else 0.0
    reads = _reads(question, tools, seen, found=found)
    if reads and (best >= GOOD or len(seen.queries) > 1 or is_listing(question)):
        return reads
    if len(seen.queries) >= MOST_SEARCHES:
        return []
    if best < GOOD or is_listing(question):
        return _search(tools, seen, _other_words(question, seen, found)) + reads[:1]
    return _search(tools, seen, [_follow_up(question, found[0])])


def _opening(question: str, tools: Toolset) -> list[ToolCall]:
    calls = []
    if tools.listing is not None and (is_listing(question) or tools.search is None):
        calls.append(ToolCall(tools.listing.name, "", ""))
    if tools.search is not None:
        calls.append(ToolCall(tools.search.name, tools.search.parameter, " ".join(key_words(question))))
    return calls


def _asking(tools: Toolset, text: str) -> list[ToolCall]:
    """A text as a query and as a document's name."""
    given = [tool for tool in (tools.search, tools.read) if tool is not None]
    return [ToolCall(tool.name, tool.parameter, text) for tool in given]


def key_words(question: str) -> list[str]:
    """The question's words that can match something, each once, in order."""
    return list(dict.fromkeys(token for token in tokens(question) if stems_of(token)))


def _reads(question: str, tools: Toolset, seen: Transcript, *, found: list[Found]) -> list[ToolCall]:
    """Calls that read the documents most worth it and not asked for yet: two, or three for a list."""
    if tools.read is None:
        return []
    best = found[0].score if found else 0.0
    whole = [entry.source.id for entry in found if entry.source.id and entry.score >= WORTH_READING * best]
    if not seen.sources:
        wanted = stems(question)
        titled = [(len(wanted & stems(line)), identity) for identity, line in seen.listed.items()]
        whole = [identity for shared, identity in sorted(titled, key=lambda entry: -entry[0]) if shared]
    ids = [identity for identity in dict.fromkeys(whole) if identity not in seen.asked]
    most = 3 if is_listing(question) else 2
    return [ToolCall(tools.read.name, tools.read.parameter, identity) for identity in ids[:most]]


def _search(tools: Toolset, seen: Transcript, queries: list[str]) -> list[ToolCall]:
    """A search for the first query that was not tried yet."""
    if tools.search is None:
        return []
    tried = {frozenset(tokens(query.lower())) for query in seen.queries}
    for query in queries:
        if query and frozenset(tokens(query.lower())) not in tried:
            return [ToolCall(tools.search.name, tools.search.parameter, query)]
    return []


def _other_words(question: str, seen: Transcript, found: list[Found]) -> list[str]:
    """Other ways to ask, the likeliest first."""
    words = key_words(question)
    names = [word for word in words if not word.islower() and word != tokens(question)[0]]
    held = {stem for source in seen.sources for stem in source.parsed.postings}
    missing = [word for word in words if held.isdisjoint(stems_of(word))]
    half = (len(words) + 1) // 2
    fresh = _rare_words_of(found[0], seen) if found else []
    ways = [names, missing, words[:half], words[half:], [*fresh, *words[:1]]]
    several = [" ".join(way) for way in ways if len(way) > 1]
    return several if seen.sources else several + words  # one word alone finds too much, unless nothing was found


def _rare_words_of(best: Found, seen: Transcript) -> list[str]:
    """Up to three of the best statement's rarest words that the question lacks."""
    words = [word for word in key_words(best.statement.text) if not set(stems_of(word)) & best.matched.keys()]
    weights = weigh(" ".join(words), seen.sources)
    rarity = {word: max(weights.get(stem, 0.0) for stem in stems_of(word)) for word in words}
    return sorted(words, key=lambda word: -rarity[word])[:3]


def _follow_up(question: str, best: Found) -> str:
    """The words of the question that the best statement holds, with words of decisions."""
    held = [word for word in key_words(question) if set(stems_of(word)) & best.matched.keys()]
    return " ".join([*held, "decision", "changed", "removed", "instead"])
