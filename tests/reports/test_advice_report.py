"""The tables of advice: every figure in its column."""

from __future__ import annotations

from decimal import Decimal

from loadrig.advice.costing import ArmCost, Cached
from loadrig.advice.kinds import Kinds
from loadrig.advice.situation import Situation
from loadrig.advice.whole import Advice
from loadrig.reports.advice import costs, situation

KEPT = ArmCost(
    "full_context-cache5m", "FullContext", 13_000, 11_700, guessed=False, off=Decimal("0.058"),
    expected=Decimal("0.0341"), cached=(
        Cached("5m", Decimal("0.0135"), Decimal("0.0697"), 0.63, Decimal("0.0342")),
        Cached("1h", Decimal("0.0135"), Decimal("0.1048"), 0.98, Decimal("0.0341")),
    ),
)  # fmt: skip
GUESSED = ArmCost("agentic", "Agentic", 900, 0, guessed=True, off=Decimal("0.01"), expected=Decimal("0.01"))
LARGE = ArmCost("whole", "FullContext", 2_000_000, 0, guessed=False, off=None, expected=None, too_large=True)
ADVICE = Advice(
    corpus="c", model="m", estimator="e", tokens_by_model=156_000, questions=110, tried=8,
    situation=Situation(
        tokens=120_000, window=1_000_000, uniform=False, changes="weekly", kinds=Kinds(lookup=9, multi_hop=1),
        documents=12, restricted=3, per_day=400, crossover_per_day=17.26, interactive=True,
    ),
    record=(), factors=(), costs=(KEPT, GUESSED, LARGE), currency="USD", mistakes=(), unknown=(), assumed=(),
    warnings=(),
)  # fmt: skip


def test_a_question_by_arm_what_it_costs_on_a_hit_on_a_miss_and_as_it_is_expected() -> None:
    """Of three arms one keeps a prefix, one is a guess, one is too large for the window and has no cost."""
    table = costs(ADVICE)
    assert table.headers == (
        "arm", "prompt tokens", "kept", "no cache", "hit", "miss 5m", "miss 1h", "hits 5m", "hits 1h", "expected",
    )  # fmt: skip
    assert table.rows == (
        ("full_context-cache5m", "13,000", "11,700", "0.05800", "0.01350", "0.06970", "0.1048", "63 %", "98 %",
         "0.03410"),
        ("agentic", "~900", "-", "0.01000", "-", "-", "-", "-", "-", "0.01000"),
        ("whole", "2,000,000!", "-", "-", "-", "-", "-", "-", "-", "-"),
    )  # fmt: skip


def test_what_is_known_is_told_with_its_numbers() -> None:
    """The room is two fifths of the window, and the corpus is counted by our tokens and by the model's."""
    assert dict(situation(ADVICE).rows) == {
        "corpus": "12 documents, 120,000 tokens (e)",
        "by the model": "about 156,000 tokens of a window of 1,000,000 (m)",
        "room": "400,000 tokens of documents: fits",
        "rights": "mixed: 3 of 12 documents have labels",
        "changes": "weekly",
        "volume": "400 questions a day",
        "cache pays above": "17.3 questions a day",
        "questions": "10: 9 lookup, 1 multi_hop",
        "latency": "somebody waits",
    }
