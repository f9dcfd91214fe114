"""How alike two texts are in their words, and the sentences by which an answer is declined.

    overlap(a, b) = |A & B| / |A | B|    (Jaccard index)

over the sets of content words: runs of letters and digits, case folded, without stop words, cut to five letters as a
crude stem. 0: no word in common; 1: the same words. Knows English and German; no synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

STEM = 5  # letters
_WORD = re.compile(r"[^\W_]+")

_EN = """
a about after all also an and any are as at be been before being both but by can could did do does during each for from
had has have he her his how i if in into is it its many may more most much must no not of on one only or other our over
she should so some such than that the their them then there these they this those to under until up upon was we were
what when where which while who whom whose why will with within without would you your
"""
_DE = """
aber alle als am an auch auf aus bei bis da damit darf das dass dem den der des die diese diesem diesen dieser dieses
durch ein eine einem einen einer eines er es für hat haben hatte ihr ihre im in ist kann kein keine man mehr mit muss
nach nicht noch nur ob oder ohne sein seine sich sie sind so soll über um und unter vom von vor war waren was welche
welchem welchen welcher welches wenn wer werden wie wird wo wurde zu zum zur
"""
_EN_NUMBERS = """
none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
"""
_DE_NUMBERS = """
keines eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
achtzehn neunzehn zwanzig
"""
STOP: Mapping[str, frozenset[str]] = {"en": frozenset(_EN.split()), "de": frozenset(_DE.split())}
# From nought upwards, for counts that an answer writes out.
NUMBERS: Mapping[str, tuple[str, ...]] = {"en": tuple(_EN_NUMBERS.split()), "de": tuple(_DE_NUMBERS.split())}

REFUSALS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "The documents do not say.",
        "I do not know.",
        "I don't know.",
        "There is no information about this.",
        "I cannot answer this from the documents I was given.",
        "None of the documents mentions this.",
        "None of the provided documents mention this, and I would not want to guess.",
    ),
    "de": (
        "In den Dokumenten steht dazu nichts.",
        "Ich weiß es nicht.",
        "Dazu gibt es keine Angaben.",
        "Das kann ich aus den vorliegenden Dokumenten nicht beantworten.",
        "Keines der Dokumente erwähnt das.",
    ),
}


def content_words(text: str, language: str) -> frozenset[str]:
    """The content words of a text, cut to their stems.

    >>> sorted(content_words("The parcels are in the cellar", "en"))
    ['cella', 'parce']
    """
    stop = STOP[language]
    return frozenset(word[:STEM] for word in _WORD.findall(text.casefold()) if word not in stop)


def overlap(one: str, other: str, language: str) -> float:
    """Jaccard index of the content words, 0 to 1; 0 when neither has any.

    >>> overlap("red parcel", "blue parcels", "en")
    0.3333333333333333
    """
    ours, theirs = content_words(one, language), content_words(other, language)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 0.0


def plain_language(tag: str) -> str:
    """`en` of `en-GB`."""
    return tag.partition("-")[0].casefold()
