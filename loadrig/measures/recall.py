"""Recall of documents and of evidence: what was put before the model of what the answer needs.

    recall         = |credited documents that are gold| / |gold documents|
    evidence share = quotes found in the texts put before the model / quotes

Crediting rule (version in `CREDITING_RULE`, stamped into results; figures of different versions must not be
compared): the documents of passages placed in the prompt, of search hits shown to the model and of documents it read
are credited; listings of ids and titles are not. Document recall over-credits, as the passage shown may not be the one
that answers; evidence share under-credits, as another passage may say the same. Both are None, neither 0 nor 1, for
a question without gold documents or quotes: leave it out of a mean and count it.
"""

from __future__ import annotations

from collections.abc import Iterable

from loadrig.words.corpus import Evidence

CREDITING_RULE = "1"


def recall(retrieved: Iterable[str], gold: Iterable[str]) -> float | None:
    """Share of the gold document ids among the credited ones, 0 to 1; a document counts once however often named."""
    wanted = set(gold)
    return len(wanted.intersection(retrieved)) / len(wanted) if wanted else None


def evidence_share(prompt_texts: Iterable[str], evidence: Iterable[Evidence]) -> float | None:
    """Share of the quotes that stand whole in one of the texts, 0 to 1; white space counts as one blank."""
    quotes = {squeezed(item.quote) for item in evidence}
    if not quotes:
        return None
    texts = [squeezed(text) for text in prompt_texts]
    return sum(any(quote in text for text in texts) for quote in quotes) / len(quotes)


def squeezed(text: str) -> str:
    """The text with every run of white space as one blank, none at the ends.

    >>> squeezed("at most\\n  2 members ")
    'at most 2 members'
    """
    return " ".join(text.split())
