"""Splits a question into what must be found out for it, from its own words alone: it knows no grammar, and no subject.

Rules: sentences stand alone; a sentence is cut before a joining word that opens another question (`and who ...`) and
before one that opens a clause on something named before it (`the board that ...`), where the clause takes the thing
with it and comes first. A piece without a name gets those of the question, as `it` and `such` point to them. What is
left without a word that could match anything is no part. A question of one piece is its own part.
"""

from __future__ import annotations

import re

from loadrig.simulator.vocabulary import AUXILIARIES, stems, stems_of

MOST = 6
LEAST_STEMS = 2
"""What a piece must hold that can match; one with less is left out."""

_SENTENCE = re.compile(r"(?<=[?;])\s+|(?<=[.!])\s+(?=[A-Z])")
_PREPOSITION = r"(?:at|by|for|from|in|of|on|to|with|against)\s+"
_ASKING = rf"(?:{_PREPOSITION})?(?:who(?:m|se)?|what|when|where|which|why|how)"
_JOINED = re.compile(rf",?\s+(?:and|but|or)\s+(?=(?:{_ASKING}|{'|'.join(sorted(AUXILIARIES))})\b)", re.IGNORECASE)
_CLAUSE = re.compile(rf"(?<!,)\s+(?:{_PREPOSITION})?(?:that|which|who|whose|where)\s+", re.IGNORECASE)
_ARTICLE = re.compile(r"\s(?:the|an?|this|each|every)\s", re.IGNORECASE)
_HEAD = re.compile(r"(?:[\w'-]+\s+){0,3}[\w'-]+$")


def split(question: str) -> list[str]:
    """The parts in order, each once; the question itself when there is nothing to cut."""
    clauses = [clause for sentence in _SENTENCE.split(question) for clause in _JOINED.split(sentence)]
    pieces = [piece.strip().rstrip("?.!,; ") for clause in clauses for piece in _cut(clause)]
    names = _names(question)
    parts = dict.fromkeys(_named(piece, names) for piece in pieces if len(stems(piece)) >= LEAST_STEMS)
    return list(parts)[:MOST] if len(parts) > 1 else [question.strip()]


def _cut(sentence: str) -> list[str]:
    """The first clause on something named before it, with that thing, then the sentence without the clause."""
    for found in _CLAUSE.finditer(sentence):
        before, after = sentence[: found.start()], sentence[found.end() :]
        thing = _thing(before)
        if thing and len(stems(after)) >= LEAST_STEMS:
            return [f"{thing} {after}", before]
    return [sentence]


def _thing(before: str) -> str:
    """The last words that can be what a clause is about: behind an article, and from the first that could match."""
    head = _HEAD.search(before)
    words = _ARTICLE.split(f" {head.group()}")[-1].split() if head else []
    while words and not stems_of(words[0]):
        del words[0]
    return " ".join(words)


def _names(text: str) -> list[str]:
    """Words with a capital that do not merely open a sentence."""
    inner = (word for sentence in _SENTENCE.split(text) for word in re.findall(r"[^\s?.!,;:]+", sentence)[1:])
    return list(dict.fromkeys(word for word in inner if word[0].isupper() and stems_of(word)))


def _named(piece: str, names: list[str]) -> str:
    return piece if not names or any(name in piece for name in names) else f"{piece} ({' '.join(names)})"
