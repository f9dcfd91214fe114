"""Six mistakes that are often made, each looked for in a situation and, where there is one, in a plan. Pure.

made             the plan, or what was told, has it
not made         looked for and not there
to be watched    there is no plan to look at: what would make it one here
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from loadrig.advice.situation import Situation
from loadrig.arms.full_context import FullContext
from loadrig.corpus.rights import OPTION, made_of
from loadrig.execution.sampling import Sample
from loadrig.words.arm import Arm

Verdict = Literal["made", "not made", "to be watched"]
FEWEST = 2  # grounded arms without which nothing is compared


@dataclass(frozen=True, slots=True)
class Mistake:
    """One of the six, whether it is made, and why that is said."""

    name: str
    verdict: Verdict
    said: str


@dataclass(frozen=True, slots=True)
class Planned:
    """The arms of a plan, and what each of them asks for some questions."""

    arms: tuple[Arm, ...]
    samples: tuple[Sample, ...] = ()


def mistakes(s: Situation, planned: Planned | None) -> tuple[Mistake, ...]:
    """All six, in their order."""
    if planned is None:
        return tuple(_watched(s))
    return (
        _rag_for_small(s, planned.arms),
        _mixed_rights(s, planned.arms),
        _volatile_first(planned.samples),
        _agents_for_lookups(s, planned.arms),
        _no_loop_limit(planned.arms),
        _by_intuition(planned.arms),
    )


RAG_SMALL = "retrieval for a small, stable corpus"
MIXED = "mixed rights in one prompt"
VOLATILE = "volatile text before the cached prefix"
LOOKUPS = "agents for lookups"
NO_LIMIT = "no limit on an agent's loop"
INTUITION = "comparing by intuition"


def _watched(s: Situation) -> Iterator[Mistake]:
    small = s.uniform and s.small and s.stable
    said = "it is one here: the corpus fits and caches" if small else "it would be none here: see the record"
    yield Mistake(RAG_SMALL, "to be watched", said)
    said = (
        "rights are mixed here: never the whole corpus in a prompt" if not s.uniform else "everyone may see all of it"
    )
    yield Mistake(MIXED, "to be watched" if not s.uniform else "not made", said)
    yield Mistake(VOLATILE, "to be watched", "date, name or question before the documents: every request misses")
    mostly = f"{s.kinds.lookup} of {s.kinds.n} questions are lookups"
    yield Mistake(LOOKUPS, "to be watched", f"{mostly}: an agent pays several calls for each")
    yield Mistake(NO_LIMIT, "to be watched", "loadrig's agent ends at turn_cap; whatever you build needs a cap too")
    yield Mistake(INTUITION, "to be watched", "one question set, the same measures: give a plan with --plan, screen it")


def _rag_for_small(s: Situation, arms: Sequence[Arm]) -> Mistake:
    if not (s.uniform and s.small and s.stable):
        return Mistake(RAG_SMALL, "not made", "the corpus is not small, stable and open to everyone at once")
    if any(isinstance(arm, FullContext) for arm in arms):
        return Mistake(RAG_SMALL, "not made", "the plan has the whole corpus in a prompt beside it")
    return Mistake(
        RAG_SMALL, "made", f"{s.tokens:,} tokens fit and cache, and no arm of the plan always has them whole"
    )


def _mixed_rights(s: Situation, arms: Sequence[Arm]) -> Mistake:
    if s.uniform:
        return Mistake(MIXED, "not made", "everyone who asks may see all of it")
    whole = [arm.name for arm in arms if _is_whole(arm)]
    if not whole:
        return Mistake(MIXED, "not made", "every arm picks for each question what its caller may see")
    return Mistake(MIXED, "made", f"{', '.join(whole)}: all of a corpus that not everyone may see")


def _volatile_first(samples: Sequence[Sample]) -> Mistake:
    cached = [one for one in samples if one.kept is not None]
    parted = [f"{one.arm}: {one.kept.parted}" for one in cached if one.kept is not None and one.kept.parted is not None]
    if parted:
        return Mistake(VOLATILE, "made", parted[0])
    if not cached:
        return Mistake(VOLATILE, "not made", "no arm of the plan asks for a prefix to be kept")
    return Mistake(VOLATILE, "not made", f"of {len(cached)} arms that keep a prefix, questions are alike up to its end")


def _agents_for_lookups(s: Situation, arms: Sequence[Arm]) -> Mistake:
    grounded = [arm for arm in arms if arm.name != "control"]
    agents = [arm.name for arm in grounded if _is_agent(arm)]
    mostly = f"{s.kinds.lookup} of {s.kinds.n} questions are lookups"
    if agents and len(agents) == len(grounded) and s.kinds.single_hop:
        return Mistake(LOOKUPS, "made", f"{mostly}, and every arm is an agent")
    return Mistake(LOOKUPS, "not made", f"{mostly}; {len(agents)} of {len(grounded)} arms are agents")


def _no_loop_limit(arms: Sequence[Arm]) -> Mistake:
    agents = ((arm.name, one) for arm in arms for one in made_of(arm))
    caps = [f"{name} ends after {one.turn_cap} turns" for name, one in agents if hasattr(one, "turn_cap")]
    return Mistake(NO_LIMIT, "not made", "; ".join(caps) or "no agent among the arms of the plan")


def _by_intuition(arms: Sequence[Arm]) -> Mistake:
    grounded = [arm for arm in arms if arm.name != "control"]
    if len(grounded) < FEWEST:
        return Mistake(INTUITION, "made", f"{len(grounded)} arm with documents: nothing to hold it against")
    if len(grounded) == len(arms):
        return Mistake(INTUITION, "made", "no control: grounding and memory cannot be told apart")
    return Mistake(INTUITION, "not made", f"{len(grounded)} arms and a control over one question set")


def _is_whole(arm: Arm) -> bool:
    """Whether it, or an arm that it is made of, puts all its caller may see, or a part that many prompts share, before
    the model."""
    return any(hasattr(one, OPTION) for one in made_of(arm))


def _is_agent(arm: Arm) -> bool:
    return hasattr(arm, "turn_cap")
