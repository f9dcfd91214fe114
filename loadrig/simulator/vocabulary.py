"""What the reader knows of the language: function words, words of decisions, a light stemmer; no names, no subjects.

Tokens are runs of letters and digits, kept whole where a point, dash or the like joins them (`3.14.0`, `AX-7`) and
also in parts. Stemming cuts common endings off lower-case words; names and whatever holds a digit stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

TOKEN = re.compile(r"[^\W_]+(?:[._\-/:@+'][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")


def words(text: str) -> frozenset[str]:
    """The words of a list written with blanks."""
    return frozenset(text.split())


FUNCTION_WORDS = words(
    "a about above after again against all also although am an and another any are as at be because been before being "
    "below between both but by can cannot could did do does doing done down during each either else every few for from "
    "further get give given go had has have having he hence her here hers him his how however i if in into is it its "
    "itself just let like list many may me might more most much must my name named neither no nor not now of off often "
    "on once one only onto or other our out over own per please same say says shall she should since so some such "
    "tell than that the their them then there these they this those though through to too under until up upon us used "
    "using very was we were what when where whether which while who whom whose why will with within without would yes "
    "yet you your according call called current currently document documents collection state still exactly exact "
    "question answer across whole"
)

NEGATIVE = words(
    "abandoned abolished cancelled canceled declined defeated deferred denied deprecated discontinued dismissed "
    "dropped ended forbidden lapsed never none nothing obsolete overruled overturned postponed prohibited refused "
    "rejected rejection removed repealed rescinded rescinds revoked scrapped shelved superseded suspended terminated "
    "withdrawal withdrawn withdrew"
)
POSITIVE = words(
    "accepted adopted agreed allowed approved confirmed decided endorsed established final introduced passed "
    "permitted ratified reinstated restored resolved resumed"
)
CHANGE = words(
    "amended changed changes corrected instead moved raised lowered reduced increased renamed replaced replaces "
    "revised successor supersedes switched updated"
)
DECISIONS = NEGATIVE | POSITIVE | CHANGE
DECISION_PHRASES = re.compile(
    r"\b(?:no longer|tak(?:en|es) out|turned down|called off|put off|comes? back|brought back|voted (?:down|against)|"
    r"set aside|struck out|in favou?r of)\b",
    re.IGNORECASE,
)
NEGATIONS = re.compile(
    r"\b(?:not|no longer|never|cannot|none|neither|nor|taken out|turned down|voted down)\b|n't\b", re.IGNORECASE
)
STANDING = re.compile(r"\b(?:Status|State|Decision|Outcome|Resolution|Result|Verdict|Disposition)\b\W{0,4}[:|]")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
AUXILIARIES = words("is are was were does do did has have had can could may might must should shall will would")

_ENDINGS = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ied",
    "ies",
    "ions",
    "ion",
    "ed",
    "es",
    "ly",
    "al",
    "s",
    "e",
    "y",
)


def tokens(text: str) -> list[str]:
    """The words of a text as written, in order."""
    return TOKEN.findall(text)


@lru_cache(maxsize=200_000)
def stems_of(token: str) -> tuple[str, ...]:
    """What a word matches by: its stem, and for a compound its parts' stems too; function words match nothing."""
    whole = stem(token)
    parts = _PART.findall(token)
    if len(parts) == 1:
        return (whole,) if token.lower() not in FUNCTION_WORDS else ()
    inner = (stem(part) for part in parts if len(part) > 1 and part.lower() not in FUNCTION_WORDS)
    return tuple(dict.fromkeys((token.lower(), *inner)))


def stem(token: str) -> str:
    """`token` in lower case without a common ending; unchanged when short or holding a digit."""
    word = token.lower()
    for suffix in ("'s", "\u2019s"):
        word = word.removesuffix(suffix)
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            cut = word[: -len(ending)]
            return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] else cut
    return word


def stems(text: str) -> frozenset[str]:
    """All stems of a text."""
    return frozenset(s for token in TOKEN.findall(text) for s in stems_of(token))
