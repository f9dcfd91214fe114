"""A cached core and retrieval for the rest: what bears on most questions stands first, the same bytes for all of them
and kept by the endpoint, and behind it the best hits among all other documents.

Rules: the core is chosen before any question is known. By name: the documents whose ids match one of the patterns in
`core`. Without patterns by a ceiling: undated documents first, for what bears no date is mostly what holds throughout,
then the dated ones from the newest on, for later ones change what earlier ones said; each whole, left out where it
would pass `core_tokens`. What stands in the core is not shown again. Both are credited: the arm chose to show them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import blake2b
from typing import Annotated

import msgspec

from loadrig.arms.caching import Cache, lifetime, primer, suffix, system_for
from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import ask_for, instructions, left_out
from loadrig.arms.passages import TAG_TOKENS, of_hits, tokens_of_hits, whole
from loadrig.words.arm import Answer, Client, Unit, View
from loadrig.words.corpus import Corpus, Document, Hit, Question
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.settings import NotNegative, Positive

NO_HIT = "No other document of the collection contains any word of the question."
CEILING_TOKENS = 8_000  # of a core without patterns, where the plan gives no other


@dataclass(frozen=True, slots=True)
class CachedCore:
    """`core`: patterns of document ids (`handbook/*.md`), or, without any, `core_tokens`, the ceiling of what the rule
    above takes, by the local estimate. `retriever`, `k`, `unit`: hits for the rest. `cache`, `cold`, `prime`: as in
    `full_context`. `mixed_rights`: run also where not everyone who asks may see every document; each caller's core is
    then of his own documents alone. `chronology`, `rejected`: is the sentence in the instructions?"""

    core: tuple[str, ...] = ()
    core_tokens: Annotated[int, NotNegative] = CEILING_TOKENS
    retriever: str = "bm25"
    k: Annotated[int, Positive] = 5
    unit: Unit = "chunk"
    cache: Cache = "5m"
    cold: bool = False
    prime: bool = True
    mixed_rights: bool = False
    chronology: bool = True
    rejected: bool = True

    def __post_init__(self) -> None:
        if self.cold and self.cache == "off":
            raise ValueError("cold is about a cache: it wants cache = '5m' or '1h'")
        if self.core and self.core_tokens != CEILING_TOKENS:
            raise ValueError("core_tokens is for a core without patterns: core takes what it names, whatever its size")

    @property
    def name(self) -> str:
        by_name = blake2b(msgspec.json.encode(self.core), digest_size=3).hexdigest()
        chosen = (
            f"-core{by_name}"
            if self.core
            else ""
            if self.core_tokens == CEILING_TOKENS
            else f"-core{self.core_tokens}t"
        )
        docs = "-docs" if self.unit == "document" else ""
        sentences = left_out(chronology=self.chronology, rejected=self.rejected)
        kept = suffix(self.cache, cold=self.cold, prime=self.prime) or "-uncached"
        return f"cached_core{chosen}-{self.retriever.replace(':', '.')}-k{self.k}{docs}{sentences}{kept}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return (self.retriever,)

    def prompt_tokens(self, corpus: Corpus) -> int:
        core = _chosen(corpus.documents, self.core, self.core_tokens)
        shown = sum(document.tokens + TAG_TOKENS for document in core)
        return OVERHEAD_TOKENS + shown + tokens_of_hits(corpus, self.k, self.unit)

    def primes(self, view: View, caller: tuple[str, ...], run: str) -> tuple[Prompt, ...]:
        core = _core(view, self.core, self.core_tokens)
        if self.cache == "off" or not self.prime or not core.ids:
            return ()
        return (primer(self._prompt(core.text, Part(""), caller, run)),)

    async def answer(self, question: Question, client: Client) -> Answer:
        core = _core(client.view, self.core, self.core_tokens)
        found = await client.search(self.retriever, question.question, self.k + core.pieces(self.unit), unit=self.unit)
        hits = tuple(hit for hit in found if hit.doc not in core.ids)[: self.k]
        rest = Part(of_hits(client.view, hits) if hits else NO_HIT)
        prompt = self._prompt(core.text, rest, question.caller, client.run, ask_for(question.question))
        return Answer(await client.ask(prompt), retrieved=(*core.hits, *hits))

    def _prompt(self, core: str, rest: Part, caller: tuple[str, ...], run: str, wish: str = "") -> Prompt:
        system = instructions(chronology=self.chronology, rejected=self.rejected)
        if self.cache != "off":
            system = system_for(system, self.name, caller, run=run if self.cold else None)
        kept = (Part(core, static=True, cache=lifetime(self.cache)),) if core else ()
        return Prompt(system, (Ask((*kept, rest, Part(wish))),))


@dataclass(frozen=True, slots=True)
class _Core:
    """The core that a caller sees: its text, and its documents as hits, without a score for nothing was searched."""

    text: str
    hits: tuple[Hit, ...]
    ids: frozenset[str]
    chunks: int

    def pieces(self, unit: Unit) -> int:
        """How many of the best hits can be of the core."""
        return self.chunks if unit == "chunk" else len(self.ids)


@lru_cache(maxsize=64)
def _core(view: View, patterns: tuple[str, ...], ceiling: int) -> _Core:
    documents = _chosen(view.corpus.documents, patterns, ceiling)
    ids = frozenset(document.id for document in documents)
    return _Core(
        text="\n\n".join(map(whole, documents)),
        hits=tuple(Hit(document.id, None, 0.0) for document in documents),
        ids=ids,
        chunks=sum(chunk.document in ids for chunk in view.corpus.chunks),
    )


def _chosen(documents: tuple[Document, ...], patterns: tuple[str, ...], ceiling: int) -> tuple[Document, ...]:
    """The core's documents in the corpus' order."""
    if patterns:
        return tuple(one for one in documents if any(fnmatchcase(one.id, pattern) for pattern in patterns))
    taken: set[str] = set()
    left = ceiling
    undated = [one for one in documents if one.date is None]
    dated = [one for one in documents if one.date is not None]
    for document in (*undated, *reversed(dated)):
        if document.tokens <= left:
            taken.add(document.id)
            left -= document.tokens
    return tuple(one for one in documents if one.id in taken)
