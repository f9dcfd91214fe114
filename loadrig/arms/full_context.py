"""Full context: every document in every prompt, the question last.

Rules: an option changes one thing. Without `ids` the tags lose their attributes; the instructions stay, the sentence
that asks for ids included, because an arm whose instructions changed along with its tags would have two variables. So
it is still asked to name what it cannot, and figures about cited ids do not compare. What a document says of itself in
its own text is the corpus', and stays. A cached prefix ends with the documents, so the question stands behind them:
before them it would make every prefix a new one, and that is refused. Where there is a cache the instructions open with
a mark (see `caching`), some twenty tokens that the arm without one has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Literal

from loadrig.arms.caching import Cache, lifetime, primer, suffix, system_for
from loadrig.arms.control import OVERHEAD_TOKENS
from loadrig.arms.instructions import ask_for, instructions, left_out
from loadrig.arms.passages import whole
from loadrig.arms.quotes import answer_of
from loadrig.words.arm import Answer, Client, View
from loadrig.words.corpus import Corpus, Document, Question
from loadrig.words.prompt import Ask, Part, Prompt

Order = Literal["date", "reverse", "name", "shuffle"]


@dataclass(frozen=True, slots=True)
class FullContext:
    """The documents' block is one static part: the same bytes for every question, serialised once a worker.

    `order`: by `date` (undated last, then by id), the `reverse` of that, by `name` (the id), or `shuffle`, by the
    SHA-256 of the id: no order that means anything, and the same one for every question, run and machine. `ids`: tags
    with id, date and title. `chronology`, `rejected`: is the sentence in the instructions? `query`: does the question
    stand after the documents or before them? `cache`: how long the endpoint is to keep all up to the documents' end;
    `cold`: never from an earlier run; `prime`: it is asked to once before the first trial. `mixed_rights`: run also
    where not everyone who asks may see every document; each caller's block is then of his own documents alone.
    `citations`: are the exact words asked for that each claim rests on?
    """

    order: Order = "date"
    ids: bool = True
    chronology: bool = True
    rejected: bool = True
    mixed_rights: bool = False
    query: Literal["last", "first"] = "last"
    cache: Cache = "off"
    cold: bool = False
    prime: bool = True
    citations: Literal["off", "asked"] = "off"

    def __post_init__(self) -> None:
        if self.cache != "off" and self.query == "first":
            raise ValueError("behind the question nothing is the same twice: a cache wants query = 'last'")
        if self.cold and self.cache == "off":
            raise ValueError("cold is about a cache: it wants cache = '5m' or '1h'")
        if self.citations == "asked" and not self.ids:
            raise ValueError("words cannot be cited from a document without an id: citations want ids = true")

    @property
    def name(self) -> str:
        order = "" if self.order == "date" else f"-{self.order}"
        sentences = left_out(chronology=self.chronology, rejected=self.rejected)
        marks = f"{order}{'' if self.ids else '-noids'}{'' if self.query == 'last' else '-queryfirst'}"
        marks += "-quotes" if self.citations == "asked" else ""
        return f"full_context{sentences}{marks}{suffix(self.cache, cold=self.cold, prime=self.prime)}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        return OVERHEAD_TOKENS + corpus.tokens + (25 if self.ids else 8) * len(corpus.documents)

    def primes(self, view: View, caller: tuple[str, ...], run: str) -> tuple[Prompt, ...]:
        if self.cache == "off" or not self.prime or not view.corpus.documents:
            return ()
        return (primer(self._prompt(view, caller, run, "")),)

    async def answer(self, question: Question, client: Client) -> Answer:
        prompt = self._prompt(client.view, question.caller, client.run, ask_for(question.question))
        return answer_of(await client.ask(prompt), quoted=self.citations == "asked")

    def _prompt(self, view: View, caller: tuple[str, ...], run: str, wish: str) -> Prompt:
        documents = Part(_library(view, self.order, self.ids), static=True, cache=lifetime(self.cache))
        asked = Part(wish)
        quotes = self.citations == "asked"
        system = instructions(chronology=self.chronology, rejected=self.rejected, quotes=quotes)
        if self.cache != "off":
            system = system_for(system, self.name, caller, run=run if self.cold else None)
        return Prompt(system, (Ask((documents, asked) if self.query == "last" else (asked, documents)),))


@lru_cache(maxsize=32)
def _library(view: View, order: Order, ids: bool) -> str:
    return "\n\n".join(whole(document, identified=ids) for document in _ordered(view.corpus.documents, order))


def _ordered(documents: tuple[Document, ...], order: Order) -> tuple[Document, ...]:
    match order:
        case "date":
            return documents  # a corpus is in this order
        case "reverse":
            return documents[::-1]
        case "name":
            return tuple(sorted(documents, key=lambda document: document.id))
        case "shuffle":
            return tuple(sorted(documents, key=lambda document: sha256(document.id.encode()).digest()))
