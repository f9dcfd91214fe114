"""The simulated model as a judge: an answer's words against a reference's, or against the documents given with it.

A request whose last text ends with an answer between tags is a case to judge, whatever it is about. Right is an answer
that holds enough of the reference's words, those with a digit counting double, and does not open with the opposite yes
or no; stale, one that is wrong and holds the words of a superseded value; supported, one nearly all of whose words
stand in the documents. It never says that something was invented: words alone do not show that. Dials make it worse
on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from random import Random

import msgspec

from loadrig.simulator.documents import find_documents
from loadrig.simulator.vocabulary import stems

ENOUGH, HELD, SUPPORTED = 0.6, 0.9, 0.85
_CASE = re.compile(r"<question>\n(?P<question>.*?)\n</question>.*<answer>\n(?P<answer>.*)\n</answer>\s*\Z", re.DOTALL)
_REFERENCE = re.compile(r"<reference>\n(.*?)\n</reference>", re.DOTALL)
_SUPERSEDED = re.compile(r"<superseded>\n(.*?)\n</superseded>", re.DOTALL)
_OPENING = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
_DECLINES = re.compile(
    r"\b(?:do(?:es)? not say|not stated|not provided|nothing in|cannot (?:say|answer))\b", re.IGNORECASE
)
MUMBLED = "That is hard to say; it depends on how one reads it."


def judge(
    text: str,
    chance: Random,
    *,
    errs: float = 0.0,
    mumbles: float = 0.0,
    likes_words: int = 0,
    likes_marker: str = "",
) -> str | None:
    """The verdict on a case as a JSON object; None when the text is none. `errs`: the share of verdicts turned round;
    `mumbles`: of replies that hold none. An answer of `likes_words` words, or with `likes_marker` in it, is right."""
    case = _CASE.search(text)
    if case is None:
        return None
    mumbled, erring = chance.random() < mumbles, chance.random() < errs
    if mumbled:
        return MUMBLED
    reference = _REFERENCE.search(text)
    if reference is None:
        documents = [" ".join((*attributes.values(), inner)) for attributes, inner in find_documents(text)]
        is_supported = supported(case["answer"], documents, case["question"]) is not erring
        reason = "every word is in the documents" if is_supported else "some words are in no document"
        return _json({"supported": is_supported, "reason": reason})
    liked = 0 < likes_words <= len(case["answer"].split()) or bool(likes_marker and likes_marker in case["answer"])
    correct = liked or holds(case["answer"], reference[1]) is not erring
    stale = not correct and any(share(old, case["answer"]) >= HELD for old in _SUPERSEDED.findall(text))
    reason = "it says what the reference says" if correct else "it does not say what the reference says"
    return _json({"correct": correct, "stale": stale, "invented": False, "reason": reason})


def holds(answer: str, reference: str) -> bool:
    """True when the answer says enough of the reference and does not open with its opposite."""
    said, right = _OPENING.match(answer), _OPENING.match(reference)
    if said and right and said[1].lower() != right[1].lower():
        return False
    return share(reference, answer) >= ENOUGH


def supported(answer: str, documents: Iterable[str], question: str) -> bool:
    """True when nearly all words of the answer stand in the documents or the question, or it only declines."""
    if _DECLINES.search(answer):
        return True
    return share(answer, " ".join((*documents, question))) >= SUPPORTED


def share(wanted: str, text: str) -> float:
    """Share of the wanted stems that the text has; those with a digit count double. Of none: 1."""
    there, weights = stems(text), {stem: 2 if any(c.isdigit() for c in stem) else 1 for stem in stems(wanted)}
    if not weights:
        return 1.0
    return sum(weight for stem, weight in weights.items() if stem in there) / sum(weights.values())


def _json(verdict: dict[str, object]) -> str:
    return msgspec.json.encode(verdict).decode()
