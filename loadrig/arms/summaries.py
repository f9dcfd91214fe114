"""Hierarchical summaries: built once, before the first trial, by the model that then answers from them.

Rules: the first level has a summary of each document, or of each piece of one that is longer than `PIECE_TOKENS`. A
level that takes more than `length` tokens is summarised in groups of `GROUP`, in the corpus' order, and so on until one
fits or a single summary is left: that one a question gets. With `read` the model first names
the documents that it wants whole, by the ids that stand in the summaries, and answers from the first so many; where it
names none it answers from the summaries, and the record says so. What a summary left out cannot be answered from it.

It is of the documents as they were when it was built: one that changes in mid-run does not change its summaries.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import msgspec

from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import (
    FROM_SUMMARIES,
    IN_BRACKETS,
    SUMMARISING,
    WORTH_TELLING,
    ask_for,
    choosing,
    instructions,
    left_out,
)
from loadrig.arms.passages import whole
from loadrig.tokens import estimator
from loadrig.words.arm import Answer, Builder, Client, View
from loadrig.words.corpus import Corpus, Document, Hit, Question
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.settings import NotNegative, Positive

PIECE_TOKENS = 30_000
GROUP = 8
TAG_TOKENS = 25  # of a summary's tags: an estimate used before a run only
_PER_WORD = 1.4  # tokens: likewise


class Summary(msgspec.Struct, frozen=True):
    """One summary: of `document`, or of several summaries of the level below, None."""

    document: str | None
    text: str


class Tree(msgspec.Struct, frozen=True):
    """All levels, the most detailed first; the last one is the first that fits."""

    levels: tuple[tuple[Summary, ...], ...]


@dataclass(frozen=True, slots=True)
class Summaries:
    """`words`: of one summary, at most. `length`: tokens of summaries in a prompt, by the local estimate. `read`:
    documents that are read whole, 0: answered from the summaries alone. `mixed_rights`: run also where not everyone who
    asks may see every document; each caller's summaries are then of his own documents alone, and paid for apart.
    `chronology`, `rejected`: is the sentence in the instructions?"""

    words: Annotated[int, Positive] = 120
    length: Annotated[int, Positive] = 8_000
    read: Annotated[int, NotNegative] = 0
    mixed_rights: bool = False
    chronology: bool = True
    rejected: bool = True

    @property
    def name(self) -> str:
        size = "" if (self.words, self.length) == (120, 8_000) else f"-w{self.words}-l{self.length}"
        reading = f"-read{self.read}" if self.read else ""
        return f"summaries{size}{reading}{left_out(chronology=self.chronology, rejected=self.rejected)}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        one = round(self.words * _PER_WORD) + TAG_TOKENS
        shown = OVERHEAD_TOKENS + min(self.length, one * len(corpus.documents))
        mean = corpus.tokens / max(1, len(corpus.documents))
        return shown + (OVERHEAD_TOKENS + round(self.read * (mean + TAG_TOKENS)) if self.read else 0)

    def build_tokens(self, corpus: Corpus) -> tuple[int, int]:
        """Every document once, and every summary once for each level above it."""
        one, below = round(self.words * _PER_WORD), len(corpus.documents)
        prompt, output = corpus.tokens + below * (OVERHEAD_TOKENS + TAG_TOKENS), below * one
        while below > 1 and below * (one + TAG_TOKENS) > self.length:
            above = -(-below // GROUP)
            prompt += below * (one + TAG_TOKENS) + above * OVERHEAD_TOKENS
            output += above * one
            below = above
        return prompt, output

    async def build(self, view: View, ask: Builder) -> str:
        """The tree of summaries of this view, as JSON. Level by level; within one all are asked at once."""
        pieces = [piece for document in view.corpus.documents for piece in _pieces(document)]
        texts = await _all(ask, [self._of_document(piece) for piece in pieces])
        levels = [tuple(Summary(piece.id, text) for piece, text in zip(pieces, texts, strict=True))]
        while len(levels[-1]) > 1 and _tokens(levels[-1]) > self.length:
            below = levels[-1]
            groups = [below[start : start + GROUP] for start in range(0, len(below), GROUP)]
            texts = await _all(ask, [self._of_group(view, group) for group in groups])
            levels.append(tuple(Summary(None, text) for text in texts))
        return msgspec.json.encode(Tree(tuple(levels))).decode()

    async def answer(self, question: Question, client: Client) -> Answer:
        if client.built is None:
            raise LookupError("there are no summaries to answer from: building them failed, see the run's warnings")
        summaries = Part(_shown(client.view, client.built), static=True)
        asked = Part(ask_for(question.question))
        system = instructions(chronology=self.chronology, rejected=self.rejected)
        if not self.read:
            return Answer(await client.ask(Prompt(f"{system} {FROM_SUMMARIES}", (Ask((summaries, asked)),))))
        named = await client.ask(Prompt(choosing(self.read), (Ask((summaries, asked)),)))
        chosen = _named(named.text, client.view)[: self.read]
        if not chosen:
            reply = await client.ask(Prompt(f"{system} {FROM_SUMMARIES}", (Ask((summaries, asked)),)))
            return Answer(reply, route="summaries", route_note="no document named")
        documents = Part("\n\n".join(whole(client.view.documents[doc]) for doc in chosen))
        reply = await client.ask(Prompt(system, (Ask((documents, asked)),)))
        return Answer(reply, retrieved=tuple(Hit(doc, None, 0.0) for doc in chosen), route="documents")

    def _of_document(self, document: Document) -> Prompt:
        wish = f"Summarise the document above in at most {self.words} words: {WORTH_TELLING}"
        return Prompt(SUMMARISING, (Ask((Part(whole(document)), Part(wish))),))

    def _of_group(self, view: View, group: tuple[Summary, ...]) -> Prompt:
        wish = f"Summarise the {len(group)} texts above in at most {self.words} words: {WORTH_TELLING} {IN_BRACKETS}"
        return Prompt(SUMMARISING, (Ask((Part(_texts(view, group)), Part(wish))),))


async def _all(ask: Builder, prompts: Sequence[Prompt]) -> list[str]:
    """All replies; the first failure, once every call has ended, so that none is paid for and not on record."""
    found = await asyncio.gather(*map(ask, prompts), return_exceptions=True)
    texts = [one for one in found if isinstance(one, str)]
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return texts


@lru_cache(maxsize=64)
def _shown(view: View, built: str) -> str:
    return _texts(view, msgspec.json.decode(built, type=Tree).levels[-1])


def _texts(view: View, level: tuple[Summary, ...]) -> str:
    return "\n\n".join(_tagged(view, one) for one in level)


def _tagged(view: View, summary: Summary) -> str:
    """A summary of a document under its id, one of several under none: it names them itself."""
    if summary.document is None:
        return whole(Document("", summary.text, tokens=0), identified=False)
    of = view.documents[summary.document]
    title = "summary" if of.title is None else f"summary of: {of.title}"
    return whole(Document(of.id, summary.text, 0, title, of.date))


def _tokens(level: tuple[Summary, ...]) -> int:
    return sum(estimator().count(one.text) + TAG_TOKENS for one in level)


def _pieces(document: Document) -> list[Document]:
    """The document, or pieces of it about as long as may be, cut at ends of lines where there are some near."""
    count = -(-document.tokens // PIECE_TOKENS)
    if count <= 1:
        return [document]
    step, text, pieces, begin = -(-len(document.text) // count), document.text, [], 0
    while begin < len(text):
        end = min(len(text), begin + step)
        newline = text.rfind("\n", begin + step // 2, end)
        end = newline + 1 if newline > 0 and end < len(text) else end
        pieces.append(Document(document.id, text[begin:end], 0, document.title, document.date))
        begin = end
    return pieces


def _named(text: str, view: View) -> tuple[str, ...]:
    """The ids of documents of the view that a text names, in order, each once."""
    found = _pattern(view).findall(text) if view.documents else ()
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=32)
def _pattern(view: View) -> re.Pattern[str]:
    ids = sorted(view.documents, key=len, reverse=True)
    return re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, ids))})(?![\w-])")
