"""Kinds of probes that are lists: pairs of key and value, words to be counted, and forty agreements."""

from __future__ import annotations

from loadrig.corpus.needles.fresh import Fresh
from loadrig.corpus.needles.planted import Asked, Needle, Planted, figure, sentence

PAIRS = 40
COMMON, OFTEN, RARE, RARELY = 3, 12, 36, 2  # words, times each
TOP, RANKS, NOISE = 50, 20, "...."  # of words by rank: the first occurs so often, and is no word
SHEETS = 4
AGREEMENTS, SEVENTH, SEVENTEEN, DEEP = 40, 7, 17, 0.775
"""Forty agreements; asked are the seventh in order of reading, and number 17, at 310,000 of 400,000 tokens."""


def key_value(fresh: Fresh, number: int) -> Planted:
    """Random pairs in one sheet; the value of one key is asked for, by turns early, in the middle and late in it."""
    name = fresh.name()
    pairs = [(fresh.code(), fresh.code()) for _ in range(PAIRS)]
    key, value = pairs[(number // 3 % 3) * (PAIRS - 1) // 2]  # the sheet's own place has its turn at every number
    lines = "\n".join(f"{one}: {other}" for one, other in pairs)
    sheet = Needle(
        f"Keys of the {name} store and what they stand for:\n\n{lines}\n", fresh.in_band(number), f"Store {name}"
    )
    question = f"What does the key {key} of the {name} store stand for?"
    one = Asked("key_value", question, f"{value}.", (value,), ((0, f"{key}: {value}"),))
    return Planted((sheet,), (one,), (name, key, value))


def common_words(fresh: Fresh, number: int) -> Planted:  # noqa: ARG001 - its sheets lie over the whole context
    """Call words in numbered lists on four sheets: three are heard often, all others seldom; the three are wanted."""
    often, rare = [fresh.word() for _ in range(COMMON)], [fresh.word() for _ in range(RARE)]
    calls = [word for word in often for _ in range(OFTEN)] + [word for word in rare for _ in range(RARELY)]
    return _heard(fresh, "common_words", calls, often, rare)


def frequent_words(fresh: Fresh, number: int) -> Planted:  # noqa: ARG001
    """The same where the n-th word occurs as often as its rank lets it, 1 / n^2 of the first, which is noise; the three
    behind it are wanted."""
    words = [fresh.word() for _ in range(RANKS)]
    counts = [max(1, round(TOP / rank**2)) for rank in range(2, RANKS + 2)]
    calls = [word for word, count in zip(words, counts, strict=True) for _ in range(count)] + [NOISE] * TOP
    return _heard(fresh, "frequent_words", calls, words[:COMMON], words[COMMON:])


def _heard(fresh: Fresh, category: str, calls: list[str], wanted: list[str], others: list[str]) -> Planted:
    """The calls in a drawn order, numbered on from sheet to sheet."""
    name = fresh.name()
    fresh.chance.shuffle(calls)
    size = -(-len(calls) // SHEETS)
    rows = [f"{at}. {word}" for at, word in enumerate(calls, start=1)]
    sheets = tuple(
        Needle(
            f"Calls heard on the {name} line, sheet {place + 1} of {SHEETS}:\n\n"
            + "\n".join(rows[place * size : (place + 1) * size])
            + "\n",
            depth,
            f"The {name} line, sheet {place + 1}",
        )
        for place, depth in enumerate(fresh.spread(SHEETS))
    )
    question = f"Over all sheets of the {name} line together, which three calls were heard most often?"
    if NOISE in calls:
        question += f" Leave out {NOISE}, which stands for what could not be made out."
    rests = tuple((place, None) for place in range(SHEETS))
    one = Asked(category, question, f"{', '.join(wanted)}.", tuple(wanted), rests)
    return Planted(sheets, (one,), (name, *wanted, *others))


def seventh_of_forty(fresh: Fresh, number: int) -> Planted:  # noqa: ARG001
    """Forty agreements, each with its own cap, evenly over the context, and three sentences that only resemble one."""
    depths = [(slot + 0.5) / AGREEMENTS for slot in range(AGREEMENTS)]
    deep = min(range(AGREEMENTS), key=lambda slot: abs(depths[slot] - DEEP))
    depths[deep] = DEEP
    numbers = [one for one in range(1, AGREEMENTS + 1) if one != SEVENTEEN]
    fresh.chance.shuffle(numbers)
    numbers.insert(deep, SEVENTEEN)
    parties, caps = fresh.names(AGREEMENTS), [fresh.number() for _ in range(AGREEMENTS)]
    needles = [
        Needle(f"Agreement no. {no} with {party}, exhibit C: liability ends at {cap} crowns.", depth)
        for no, party, cap, depth in zip(numbers, parties, caps, depths, strict=True)
    ]
    wanted = (SEVENTH - 1, deep)
    unlike = [fresh.number() for _ in range(3)]
    no, party = SEVENTEEN, parties[deep]
    others = (
        f"In a draft of agreement no. {no} with {party} liability ended at {unlike[0]} crowns; it was not signed.",
        f"Agreement no. {no} with {party}, exhibit B: goods are insured for {unlike[1]} crowns.",
        f"{party} asked in a letter of offer for liability of {unlike[2]} crowns; this was not taken up.",
    )
    away = fresh.spread(len(others), beside=(DEEP,), away=0.1)
    needles += [Needle(text, depth) for text, depth in zip(others, away, strict=True)]
    asked = tuple(
        Asked(
            "seventh_of_forty",
            f"At how much does exhibit C of agreement no. {numbers[slot]} with {parties[slot]} end liability?",
            f"{caps[slot]} crowns.",
            (figure(caps[slot]),),
            (sentence(slot, needles[slot]),),
            "seventh" if slot == wanted[0] else "deep",
        )
        for slot in wanted
    )
    return Planted(tuple(needles), asked, (*parties, *caps, *unlike))
