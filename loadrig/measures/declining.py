"""Forms in which an answer declines, and in which it hedges, in English and German.

Rules: an answer declines when its first sentence says that the documents do not say, or that the model cannot; what
follows does not undo it. "No such role exists" and "two papers do not mention it" are answers, not declined ones. It
hedges where it calls itself a guess or speaks of what is usual. Knows no irony and no third language.
"""

from __future__ import annotations

import re
from functools import lru_cache

from loadrig.measures.sentences import spans

_NEAR = "[^.;:]"
_PAPERS = (
    "(?:documents?|passages?|texts?|context|excerpts?|materials?|sources?|papers?|files?|information|collection|corpus|"
    "minutes|records?)"
)
_PAPIERE = (
    "(?:dokumente?n?|unterlagen?|texte?n?|auszüge?n?|quellen?|protokolle?n?|abschnitte?n?|informationen|materials?)"
)
_SAY = (
    "(?:say|state|mention|specify|contain|provide|include|give|indicate|answer|address|tell|cover|name|record|help|"
    "specifies)"
)
_FORMS = (
    # The documents do not say. Not: the two papers that do not say
    rf"\b(?:the|these|those|your|my)\s+(?:(?!that\b|which\b)[\w'-]+\s+){{0,4}}?{_PAPERS}\b"
    rf"(?:(?!\bthat\b|\bwhich\b){_NEAR}){{0,60}}?"
    rf"\b(?:do(?:es)? not|don't|doesn't|did not|didn't)\s+(?:\w+ly\s+)?{_SAY}",
    # None of the documents mentions it. Nothing in the documents answers this.
    rf"\b(?:none|nothing|not one|neither)\b{_NEAR}{{0,40}}\b{_PAPERS}\b{_NEAR}{{0,60}}\b{_SAY}",
    # I cannot say. I have no information.
    r"\bI\s+(?:really\s+)?(?:do not|don't|cannot|can't|could not|couldn't|am (?:unable|not able) to|was unable to|"
    r"have no|did not|didn't)\s+(?:\w+ly\s+)?(?:know|say|answer|tell|find|determine|see|have|confirm|information|"
    r"access|way|documents|basis|give|establish)",
    # This is not stated in the documents.
    r"\b(?:not|nowhere)\s+(?:\w+ly\s+)?(?:stated|specified|mentioned|given|provided|said|found|recorded|answered|covered|"
    rf"addressed)\s+(?:\w+ly\s+)?(?:anywhere|(?:in|by)\s+(?:the|these|any|this|my|your)\s+(?:[\w'-]+\s+){{0,3}}?{_PAPERS})",
    r"\b(?:there is|there's|I have|I found|I find|I see)\s+no\s+(?:information|mention|record|indication|answer)\b",
    r"\b(?:cannot|can't|could not|couldn't)\s+be\s+(?:answered|determined|said|told|established|confirmed)\b",
    # No documents were given to me.
    rf"\b(?:no|without(?: any)?)\s+{_PAPERS}\b{_NEAR}{{0,30}}\b(?:given|provided|available|supplied|go by)\b",
    rf"\b{_PAPERS}\b{_NEAR}{{0,60}}\b(?:was|were)\s+not\s+(?:provided|given|supplied|shown)\b",
    # In den Dokumenten steht nichts. Die Unterlagen sagen dazu nichts. Keines der Protokolle erwähnt das.
    rf"\bsteht\b{_NEAR}{{0,60}}\bnichts\b|\b{_PAPIERE}\b{_NEAR}{{0,30}}\bsteht\b{_NEAR}{{0,30}}\bnicht\b",
    rf"\b{_PAPIERE}\b{_NEAR}{{0,60}}\b(?:sagen|enthalten|erwähnen|nennen|geben|machen)\b{_NEAR}{{0,60}}"
    r"\b(?:nichts|nicht|keine\w*)\b",
    rf"\bkein(?:e[srmn]?)?\s+(?:der\s+)?(?:\w+\s+){{0,2}}?{_PAPIERE}\b{_NEAR}{{0,60}}"
    r"\b(?:erwähn|nenn|sag|enthäl|enthalt|beantwort)",
    # Ich weiß es nicht. Das kann ich nicht sagen. Mir liegen keine Dokumente vor. Dazu gibt es keine Angaben.
    rf"\b(?:ich\s+wei(?:ß|ss)|wei(?:ß|ss)\s+ich)\b{_NEAR}{{0,40}}\b(?:nicht|nichts)\b",
    rf"\b(?:ich\s+(?:kann|konnte)|(?:kann|konnte)\s+ich)\b{_NEAR}{{0,80}}\b(?:nicht|nichts|keine?n?)\b{_NEAR}{{0,30}}"
    r"\b(?:sagen|beantworten|finden|feststellen|entnehmen|bestätigen)\b",
    rf"\b(?:ich\s+habe|habe\s+ich|mir\s+liegen)\b{_NEAR}{{0,40}}\bkeine?n?\b{_NEAR}{{0,40}}"
    r"\b(?:dokument|unterlage|angabe|information|zugriff|zugang|hinweis)",
    r"\b(?:keine|keinerlei)\s+(?:angaben?|informationen?|hinweise?|auskunft)\b",
    rf"\blässt\s+sich\b{_NEAR}{{0,80}}\bnicht\b{_NEAR}{{0,20}}\b(?:sagen|beantworten|feststellen|ermitteln)\b",
    r"\b(?:nicht|nirgends)\s+(?:\w+\s+)?(?:angegeben|erwähnt|genannt|enthalten|beantwortet)\b",
)
_DECLINES = re.compile("|".join(_FORMS), re.IGNORECASE)
_HEDGES = re.compile(
    r"\b(?:probably|likely|typically|usually|generally|normally|commonly|perhaps|maybe|presumably|in general|might be|"
    r"as a rule|(?:standard|common|best|usual) practice|best guess|my guess|(?:I|I'd|I would|I'll) (?:guess|assume|"
    r"think|believe|suspect|expect|estimate)|wahrscheinlich|vermutlich|üblicherweise|in der regel|vielleicht|"
    r"typischerweise|meistens?|gewöhnlich|möglicherweise|wohl|ich (?:vermute|rate|glaube|denke|schätze)|"
    r"(?:nehme|würde) ich an)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def declines(answer: str) -> bool:
    """Whether the answer's first sentence says that the question cannot be answered.

    >>> declines("The documents provided do not say."), declines("No. The role was abolished.")
    (True, False)
    """
    text = _straight(answer)
    first = next((text[start:end] for start, end in spans(text)), "")
    return _DECLINES.search(first) is not None


@lru_cache(maxsize=64)
def hedges(answer: str) -> bool:
    """Whether the answer calls itself a guess, anywhere."""
    return _HEDGES.search(_straight(answer)) is not None


def _straight(text: str) -> str:
    return text.replace("\u2019", "'")
