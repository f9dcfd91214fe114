"""Kinds of probes that are sentences: one fact, several like it, facts that hang together, facts in other words.

The kinds are RULER's (Hsieh et al., arXiv:2404.06654) and, of facts in other words, NoLiMa's idea (Modarressi et al.,
arXiv:2502.05167); every sentence here is our own. Each kind is a function of draws and a number, which says in which
band a single fact stands; the truth is what was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from loadrig.corpus.needles.fresh import Fresh
from loadrig.corpus.needles.planted import Asked, Needle, Planted, figure, sentence

KEYS, HOPS = 4, 4
APART = 0.2  # a distractor twin stands at least so far from the fact that it resembles
_SINGLE = (
    ("The freight permit of the {name} works bears the number {number}.",
     "Which number does the freight permit of the {name} works bear?"),
    ("The safe in the {name} chapel opens with the combination {number}.",
     "With which combination does the safe in the {name} chapel open?"),
    ("The lifeboat {name} is registered under the sign {number}.",
     "Under which sign is the lifeboat {name} registered?"),
    ("The boundary stone at {name} ford carries the mark {number}.",
     "Which mark does the boundary stone at {name} ford carry?"),
    ("The {name} herbarium is kept under the shelf mark {number}.",
     "Under which shelf mark is the {name} herbarium kept?"),
    ("The wreck of the barge {name} was entered in the list as item {number}.",
     "As which item was the wreck of the barge {name} entered in the list?"),
)  # fmt: skip
_TWINS = (
    ("The {which} survey of {name} counted {number} herons.", "spring", "autumn",
     "What number of herons did the {which} survey of {name} count?"),
    ("The {which} sluice at {name} was paid for with voucher {number}.", "upper", "lower",
     "With which voucher was the {which} sluice at {name} paid for?"),
    ("The {which} wing of the {name} hospital is insured under policy {number}.", "east", "west",
     "Under which policy is the {which} wing of the {name} hospital insured?"),
)  # fmt: skip


def single(fresh: Fresh, number: int) -> Planted:
    """One fact of its kind, in one sentence."""
    said, asked = _SINGLE[number % len(_SINGLE)]
    name, value = fresh.name(), fresh.number()
    needle = Needle(said.format(name=name, number=value), fresh.in_band(number))
    one = Asked("single_needle", asked.format(name=name), f"{value}.", (figure(value),), (sentence(0, needle),))
    return Planted((needle,), (one,), (name, value))


def multi_key(fresh: Fresh, number: int) -> Planted:
    """Four facts that differ in their key alone; one is asked for."""
    names, values = fresh.names(KEYS), [fresh.number() for _ in range(KEYS)]
    depths = [fresh.in_band(number), *fresh.spread(KEYS - 1)]
    needles = tuple(
        Needle(f"The pass number of the {name} gate is {value}.", depth)
        for name, value, depth in zip(names, values, depths, strict=True)
    )
    question = f"What is the pass number of the {names[0]} gate?"
    one = Asked("multi_key", question, f"{values[0]}.", (figure(values[0]),), (sentence(0, needles[0]),))
    return Planted(needles, (one,), (*names, *values))


def multi_value(fresh: Fresh, number: int) -> Planted:  # noqa: ARG001 - its facts lie over the whole context
    """Four values of one key; all are wanted."""
    name, values = fresh.name(), [fresh.number() for _ in range(KEYS)]
    needles = tuple(
        Needle(f"A spare key of the {name} mill is number {value}.", depth)
        for value, depth in zip(values, fresh.spread(KEYS), strict=True)
    )
    question = f"Which numbers do the spare keys of the {name} mill have? Give all of them."
    return Planted(needles, (_all_of("multi_value", question, needles, values),), (name, *values))


def multi_query(fresh: Fresh, number: int) -> Planted:  # noqa: ARG001
    """Four keys, all asked for in one question."""
    names, values = fresh.names(KEYS), [fresh.number() for _ in range(KEYS)]
    needles = tuple(
        Needle(f"The bell of the {name} tower was cast in batch {value}.", depth)
        for name, value, depth in zip(names, values, fresh.spread(KEYS), strict=True)
    )
    question = (
        f"In which batch was the bell of each of these towers cast: {', '.join(names[:-1])} and {names[-1]}? "
        "Give the number of each."
    )
    return Planted(needles, (_all_of("multi_query", question, needles, values),), (*names, *values))


def chain(fresh: Fresh, number: int) -> Planted:  # noqa: ARG001
    """A value reached over four hops, in order of reading, beside a shorter chain to another value."""
    names, value = fresh.names(HOPS + 1), fresh.number()
    others, other = fresh.names(2), fresh.number()
    depths = fresh.spread(HOPS + 1)
    needles = _linked(names, value, depths, "The vault {0} holds the seal {1}.",
                      "The vault {0} holds the same seal as the vault {1}.")  # fmt: skip
    beside = _linked(others, other, fresh.spread(2, beside=depths, away=0.001), "The vault {0} holds the seal {1}.",
                     "The vault {0} holds the same seal as the vault {1}.")  # fmt: skip
    rests = tuple(sentence(place, needle) for place, needle in enumerate(needles))
    one = Asked("chain", f"Which seal does the vault {names[-1]} hold?", f"{value}.", (figure(value),), rests)
    return Planted((*needles, *beside), (one,), (*names, value, *others, other))


def tracing(fresh: Fresh, number: int) -> Planted:  # noqa: ARG001
    """All names that a value was handed on to, over four hops in order of reading."""
    names, value = fresh.names(HOPS + 1), fresh.number()
    needles = _linked(names, value, fresh.spread(HOPS + 1), "The account {0} is kept in book {1}.",
                      "The account {0} is kept in the same book as the account {1}.")  # fmt: skip
    question = f"Which accounts are kept in book {value}? Name all of them."
    rests = tuple(sentence(place, needle) for place, needle in enumerate(needles))
    one = Asked("tracing", question, f"{', '.join(names)}.", tuple(names), rests)
    return Planted(needles, (one,), (*names, value))


def twin(fresh: Fresh, number: int) -> Planted:
    """A fact and its twin, which differs in one word and the value, a fifth of the context or more away."""
    said, which, other, asked = _TWINS[number % len(_TWINS)]
    name, value, wrong = fresh.name(), fresh.number(), fresh.number()
    depth = fresh.in_band(number)
    (away,) = fresh.spread(1, beside=(depth,), away=APART + 0.05)
    needles = (
        Needle(said.format(which=which, name=name, number=value), depth),
        Needle(said.format(which=other, name=name, number=wrong), away),
    )
    question = asked.format(which=which, name=name)
    one = Asked("twin", question, f"{value}.", (figure(value),), (sentence(0, needles[0]),))
    return Planted(needles, (one,), (name, value, wrong))


def _linked(names: Sequence[str], value: str, depths: Sequence[float], first: str, then: str) -> tuple[Needle, ...]:
    said = [first.format(names[0], value)]
    said += [then.format(name, before) for before, name in pairwise(names)]
    return tuple(Needle(text, depth) for text, depth in zip(said, depths, strict=True))


def _all_of(category: str, question: str, needles: Sequence[Needle], values: Sequence[str]) -> Asked:
    rests = tuple(sentence(place, needle) for place, needle in enumerate(needles))
    return Asked(category, question, f"{', '.join(values)}.", tuple(map(figure, values)), rests)
