"""The decision record: truth tables, the edges of its ceilings, three worked cases, and the reasons in it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from loadrig.advice.deciding import KINDS, Decision, chosen, decided
from loadrig.advice.kinds import Kinds
from loadrig.advice.situation import Situation

LOOKUPS, HOPS, WHOLE = Kinds(lookup=9, multi_hop=1), Kinds(lookup=2, multi_hop=8), Kinds(lookup=2, whole_set=8)
LARGE = Situation(
    tokens=300_000, window=1_000_000, uniform=True, changes="monthly", kinds=LOOKUPS, per_day=400, crossover_per_day=18
)
STYLE_GUIDE = replace(LARGE, tokens=120_000)
MATTERS = replace(LARGE, tokens=2_000_000_000, uniform=False, documents=3_000_000, restricted=3_000_000)
DUE_DILIGENCE = replace(MATTERS, kinds=HOPS)


def _of(s: Situation, name: str) -> Decision:
    return next(one for one in decided(s) if one.architecture == name)


def _said(s: Situation, name: str, speaks: str) -> list[str]:
    return [reason.said for reason in _of(s, name).reasons if reason.speaks == speaks]


@pytest.mark.parametrize(
    ("uniform", "fits", "stable", "busy", "single"), list(product([True, False], repeat=5)), ids=str
)
def test_the_path_of_four_questions(uniform: bool, fits: bool, stable: bool, busy: bool, single: bool) -> None:
    """Whole and cached only when the same access, room, stability and volume are all there; else by the kind."""
    s = replace(
        LARGE,
        uniform=uniform,
        tokens=300_000 if fits else 500_000,
        changes="monthly" if stable else "daily",
        per_day=400 if busy else 4,
        kinds=LOOKUPS if single else HOPS,
    )
    otherwise = "rag" if single else "agentic"
    assert chosen(s) == ("full_context" if uniform and fits and stable and busy else otherwise)


@pytest.mark.parametrize(
    ("tokens", "window", "fits"),
    [(400_000, 1_000_000, True), (400_001, 1_000_000, False), (80_000, 200_000, True), (80_001, 200_000, False)],
)
def test_room_is_that_of_the_models_window(tokens: int, window: int, fits: bool) -> None:
    """400,000 of a million, and 80,000 of 200,000."""
    s = replace(LARGE, tokens=tokens, window=window)
    assert (s.fits, chosen(s)) == (fits, "full_context" if fits else "rag")


@pytest.mark.parametrize(
    ("tokens", "per_day", "best"),
    [(199_999, 4, "full_context"), (200_000, 4, "rag"), (199_999, None, "full_context"), (200_000, None, "rag")],
)
def test_a_small_corpus_is_tried_whole_first_whatever_the_volume(tokens: int, per_day: float | None, best: str) -> None:
    """Under 200,000 tokens; from there on a cache must pay, and an untold volume is none."""
    assert chosen(replace(LARGE, tokens=tokens, per_day=per_day)) == best


@pytest.mark.parametrize(("tokens", "best"), [(64_000, "full_context"), (64_001, "agentic")])
def test_a_bounded_set_that_is_asked_as_a_whole_is_stuffed_though_it_changes(tokens: int, best: str) -> None:
    """Up to the ceiling; above it the path decides."""
    assert chosen(replace(LARGE, tokens=tokens, changes="daily", kinds=WHOLE)) == best


def test_a_set_that_is_asked_as_a_whole_by_half_of_the_questions_is_no_such_set() -> None:
    """More than half it must be; and no money must speak against it."""
    s = replace(LARGE, tokens=64_000, changes="daily", kinds=Kinds(lookup=1, whole_set=1))
    assert chosen(s) == "agentic"
    assert chosen(replace(s, kinds=WHOLE)) == "full_context"
    assert chosen(replace(s, kinds=WHOLE, affordable=False)) == "agentic"


def test_money_that_it_would_pass_rules_the_whole_out() -> None:
    """At any size, and the record says so."""
    s = replace(STYLE_GUIDE, affordable=False)
    assert chosen(s) == "rag"
    assert "it passes the money that was said" in _said(s, "full_context", "against")


def test_a_style_guide_is_put_whole_into_a_cached_prompt() -> None:
    """120,000 tokens, monthly, open to all: whole and cached; an agent rejected; retrieval to be tried beside it,
    because the size is beyond the ceiling."""
    assert decided(STYLE_GUIDE)[0].architecture == "full_context"
    assert "documents first, breakpoint behind them, the question last" in decided(STYLE_GUIDE)[0].conditions
    assert _of(STYLE_GUIDE, "agentic").verdict == "rejected"
    assert _of(STYLE_GUIDE, "rag").verdict == "worth a trial"
    assert "over 64,000 tokens a detail is missed silently: probe by depth first" in _said(
        STYLE_GUIDE, "full_context", "against"
    )


def test_matter_documents_are_retrieved_behind_a_mandatory_filter() -> None:
    """Millions of pages, rights by matter: retrieval with the filter and citations; whole context is rejected for the
    rights first, for the size second."""
    best, whole = decided(MATTERS)[0], _of(MATTERS, "full_context")
    assert best.architecture == "rag"
    assert best.conditions[0] == "a mandatory filter by the caller's labels, before ranking"
    assert "citations, each checked in what was sent" in best.conditions
    assert whole.verdict == "rejected"
    assert whole.reasons[0].said.startswith("rights: 3,000,000 of 3,000,000 documents are not for everyone")
    assert whole.reasons[1].said == "size: 2,000,000,000 tokens do not fit a window of 1,000,000"


def test_due_diligence_is_searched_by_an_agent_with_a_budget_and_a_person_behind_it() -> None:
    """Multi-hop questions over the same index: an agent, capped, logged, reviewed, its tools keeping the rights."""
    best = decided(DUE_DILIGENCE)[0]
    assert best.architecture == "agentic"
    assert best.conditions == (
        "every tool keeps the caller's rights itself", "a cap on turns and on tokens", "every tool call logged",
        "a person reviews its findings",
    )  # fmt: skip


def test_rights_reject_the_whole_of_a_corpus_that_would_fit() -> None:
    """Ten thousand tokens: the size speaks for it, the rights against it, and the rights decide."""
    s = replace(MATTERS, tokens=10_000)
    assert _of(s, "full_context").verdict == "rejected"
    assert _said(s, "full_context", "for")[0].startswith("10,000 tokens fit")


@pytest.mark.parametrize(
    ("dearer", "speaks", "said"),
    [
        (None, "for", "full context takes 3.8 times its prompt tokens"),
        (2.0, "for", "full context costs 2.0 times as much a question, for 3.8 times its prompt tokens"),
        (0.5, "against", "cached, full context costs 0.50 of it a question, for 3.8 times its prompt tokens"),
    ],
)
def test_the_premium_speaks_for_retrieval_unless_a_cache_bears_it(dearer: float | None, speaks: str, said: str) -> None:
    """More tokens are not more money when most of them are read from a cache."""
    assert said in _said(replace(STYLE_GUIDE, premium=3.8, dearer=dearer), "rag", speaks)


@pytest.mark.parametrize(
    ("per_day", "speaks", "said"),
    [
        (17, "against", "17 questions a day: a cache pays from 18 on"),
        (18, "for", "18 questions a day: from 18 on a cache is cheaper than none"),
    ],
)
def test_from_how_many_a_day_on_a_cache_pays_is_a_number_at_which_it_does(
    per_day: float, speaks: str, said: str
) -> None:
    """The crossover at 17.26: 17 are too few, 18 are the first that are enough."""
    assert said in _said(replace(LARGE, per_day=per_day, crossover_per_day=17.26), "full_context", speaks)


def test_somebody_who_waits_speaks_against_an_agent() -> None:
    """And where lookups prevail it is then not even tried."""
    s = replace(LARGE, tokens=500_000, kinds=Kinds(lookup=6, multi_hop=4))
    assert _of(s, "agentic").verdict == "worth a trial"
    waiting = replace(s, interactive=True)
    assert _of(waiting, "agentic").verdict == "rejected"
    assert any(said.startswith("somebody waits") for said in _said(waiting, "agentic", "against"))


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [(Kinds(lookup=9, multi_hop=1), "worth a trial"), (Kinds(lookup=19, multi_hop=1), "rejected"),
     (Kinds(lookup=1, whole_set=9), "worth a trial")],
)  # fmt: skip
def test_a_router_wants_two_kinds_that_are_more_than_a_few(kinds: Kinds, verdict: str) -> None:
    """A tenth of the questions is enough, a twentieth is not."""
    assert _of(replace(MATTERS, kinds=kinds), "route").verdict == verdict


def test_a_question_is_split_where_a_tenth_take_several_steps() -> None:
    """Beside retrieval and an agent; never where the whole corpus stands in the prompt."""
    assert _of(replace(MATTERS, kinds=Kinds(lookup=9, multi_hop=1)), "decompose").verdict == "worth a trial"
    assert _of(replace(MATTERS, kinds=Kinds(lookup=19, multi_hop=1)), "decompose").verdict == "rejected"
    assert _of(LARGE, "decompose").verdict == "rejected"


def test_summaries_are_for_a_view_of_what_does_not_fit() -> None:
    """Rejected where the corpus fits or nobody asks for the whole."""
    assert _of(replace(LARGE, tokens=500_000, kinds=WHOLE), "summaries").verdict == "worth a trial"
    assert _of(replace(LARGE, tokens=500_000), "summaries").verdict == "rejected"
    assert _of(replace(LARGE, kinds=WHOLE), "summaries").verdict == "rejected"


@pytest.mark.parametrize("s", [LARGE, STYLE_GUIDE, MATTERS, DUE_DILIGENCE], ids=["large", "guide", "matters", "deals"])
def test_every_architecture_stands_in_the_record_once_with_a_reason(s: Situation) -> None:
    """One is recommended, it stands first, the control is a yardstick only, and a rejected one has a reason against."""
    record = decided(s)
    assert sorted(one.architecture for one in record) == sorted(KINDS)
    assert [one.verdict for one in record].count("recommended") == 1
    assert record[0].verdict == "recommended"
    for one in record:
        assert all(len(reason.said) <= 118 for reason in one.reasons)
        assert one.verdict != "rejected" or any(reason.speaks == "against" for reason in one.reasons)
