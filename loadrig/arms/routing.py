"""Which way a question goes: by its wording alone, or by a model that is asked of which kind it is. Pure.

By rules a question is one of three. In this order: what is asked for somebody (my, our) is looked up, for what he may
see decides; what compares, counts or lists all, sums up, or asks what is nowhere, wants the whole set; what asks to
quote, for the present state, or for one fact, is looked up; of anything else the wording does not tell. The patterns
are of English. They see no document, so they cannot know whether a collection is bounded: the ceiling on what may be
stuffed does that.

The model that classifies has a fourth kind, for facts that must be put together. A reply that is cut off, is no JSON or
names no kind is none: whoever asked falls back to retrieval.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

import msgspec

from loadrig.arms.instructions import ask_for
from loadrig.words.prompt import Ask, Part, Prompt, Reply

Kind = Literal["lookup", "multi_hop", "whole_set", "unsure"]
By = Literal["rules", "classifier"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_TOKENS = 256

CLASSIFY = (
    "You sort questions about a collection of documents that you do not see. Never answer the question; say of which "
    "kind it is. "
    "lookup: a single passage of one document answers it. "
    "multi_hop: several facts must be found one after the other and put together, or a reference followed. "
    "whole_set: every document must be looked at, to compare or count or list all, or to show that something is "
    "nowhere. "
    "unsure: the question does not tell."
)
FORM = (
    '{"type":"object","properties":{"kind":{"type":"string","enum":["lookup","multi_hop","whole_set","unsure"]}},'
    '"required":["kind"],"additionalProperties":false}'
)

_THINGS = r"(?:document|paper|file|contract|agreement|report|record|page|minute|meeting|policy|policie|note|letter)s?"
_ASKS = r"(?:who|whose|whom|when|where|what|which|why|how)"


def _pattern(*ways: str) -> re.Pattern[str]:
    return re.compile("|".join(ways), re.IGNORECASE)


_OF_SOMEBODY = _pattern(r"\b(?:my|mine|our|ours|me|we)\b", r"\b(?-i:I)\b")
_WHOLE = _pattern(
    r"\b(?:compare|comparison|contrast|versus|differences? (?:between|among|across))\b",
    rf"\b(?:all|every|each|any|across)\b(?: of)?(?: the| these| those)?(?: \w+){{0,2}}? {_THINGS}\b",
    r"\b(?:which|how many|how much) of (?:the|these|those|all)\b|\bhow often (?:did|was|were|has|have)\b",
    r"\b(?:list|name|count|enumerate) (?:all|every|each|the)\b|\b(?:in total|altogether|overall|over the whole)\b",
    r"\b(?:which|how many)\b.*\b(?:lack\w*|without|missing|never|not|no|nothing|none|neither)\b",
    rf"\b(?:no|none of the|not (?:one|a single)(?: of the)?) {_THINGS}\b|\bnowhere\b",
    r"\b(?:summari[sz]e|summary|overview|main themes?|trends?|timeline|over time)\b",
)
_ONE = _pattern(
    r"\b(?:quote|cite|verbatim|word for word|exact wording|according to)\b|\bwhich (?:section|clause|paragraph)\b",
    r"\b(?:today|now|current|currently|latest|newest|most recent|at present|as of|as things stand)\b",
    r"^(?:(?:at|on|in|from|to|by|for|since|until|under|above|below|of) )?"
    r"(?:who|whose|whom|when|where|what|which|how (?:many|much|long|large|big|high|far|old|often|soon|quickly))\b",
)
_SEVERAL = _pattern(
    rf"(?:,|;|\band\b|\bor\b) (?:\w+ )?{_ASKS}\b|^(?:\w+ )?which (?:\w+ ){{0,2}}?\w+[^s\W]s (?:are|were|do|did|have)\b",
)


def by_rules(question: str) -> Kind:
    """The kind that the wording tells: `lookup`, `whole_set`, or `unsure`; never `multi_hop`."""
    if _OF_SOMEBODY.search(question):
        return "lookup"
    if _WHOLE.search(question):
        return "whole_set"
    return "lookup" if _ONE.search(question) and not _SEVERAL.search(question) else "unsure"


def classification(question: str) -> Prompt:
    """What a model is asked of which kind the question is."""
    return Prompt(CLASSIFY, (Ask((Part(ask_for(question)),)),), form=FORM, max_tokens=MOST_TOKENS)


def kind_in(reply: Reply) -> tuple[Kind | None, str | None]:
    """The kind that a reply names, or None and why there is none: `fallback: max_tokens`, or the like."""
    if reply.stop != "end":
        return None, f"fallback: {reply.stop}"
    try:
        found = msgspec.json.decode(reply.text, type=dict[str, object]).get("kind")
    except msgspec.DecodeError:
        return None, "fallback: unreadable"
    return next(((kind, None) for kind in KINDS if kind == found), (None, "fallback: no such kind"))
