"""Wide against narrow context for models of unlike capability, and the threshold between them, by hand."""

from __future__ import annotations

import pytest
from compared import nothing_to_collect  # noqa: F401
from experimented import FEW, bits, described, run_of_bits

from loadrig.analysis.experiments.capability import Capability, capability
from loadrig.analysis.experiments.cells import cells

ARMS = [
    described("rag", "k20", k=20, retriever="bm25"),
    described("rag", "k3", k=3, retriever="bm25"),
    described("full_context", "full"),
    described("agentic", "agent"),
]


def found(right: dict[tuple[str, str], str], category: str = "fact") -> dict[tuple[str, str], Capability]:
    rows = capability(cells(run_of_bits(ARMS, right, category=category)), FEW)
    return {(row.wide, row.category): row for row in rows}


THREE = {
    ("strong", "k3"): bits(18), ("strong", "full"): bits(20),
    ("weak", "k3"): bits(12), ("weak", "full"): bits(2),
    ("middle", "k3"): bits(14), ("middle", "full"): bits(14),
}  # fmt: skip


def test_the_threshold_lies_where_the_finding_changes() -> None:
    """The weak model loses ten of 20 in the wide arm, the middle one none: the change, 10 of 20, is tested itself."""
    row = found(THREE)["full", "all"]
    assert [(gap.model, gap.word) for gap in row.models] == [
        ("weak", "lower"), ("middle", "inside noise"), ("strong", "inside noise"),
    ]  # fmt: skip
    (threshold,) = row.thresholds
    assert (threshold.below, threshold.above, threshold.by) == ("weak", "middle", "finding")
    assert (threshold.change.difference.value, threshold.change.word) == (0.5, "higher")


def test_gaps_are_by_hand() -> None:
    """12 and 2 of 20: .6, .1, -.5, and McNemar's p of ten to none, 2/1024, over three models 6/1024."""
    weak = found(THREE)["full", "all"].models[0]
    assert (weak.n, weak.narrow, weak.wide, weak.gap.value) == (20, 0.6, 0.1, -0.5)
    assert (weak.p, weak.adjusted_p) == (pytest.approx(2 / 1024), pytest.approx(6 / 1024))


def test_a_sign_that_changes_inside_the_noise_is_said_to_be_one() -> None:
    """One question less for one model and one more for the other: a sign, no finding, and no change beyond noise."""
    right = {("a", "k3"): bits(10), ("a", "full"): bits(9), ("b", "k3"): bits(12), ("b", "full"): bits(13)}
    (threshold,) = found(right)["full", "all"].thresholds
    assert (threshold.by, threshold.change.word) == ("sign", "inside noise")


def test_none_is_seen_where_models_do_alike() -> None:
    """Both lose two questions: no threshold."""
    right = {("a", "k3"): bits(10), ("a", "full"): bits(8), ("b", "k3"): bits(12), ("b", "full"): bits(10)}
    assert found(right)["full", "all"].thresholds == ()


def test_every_wide_arm_and_supersession_have_rows() -> None:
    """Largest k, full context and the agent against the smallest k, each over all and over supersession."""
    right = {("m", str(arm["name"])): bits(10) for arm in ARMS}
    rows = found(right, category="supersession")
    assert list(rows) == [(arm, of) for arm in ("k20", "full", "agent") for of in ("all", "supersession")]
    assert {row.narrow for row in rows.values()} == {"k3"}


def test_a_category_that_was_not_asked_has_no_row() -> None:
    """No question of supersession: only all."""
    assert list(found(THREE)) == [("full", "all")]


def test_without_retrieval_there_is_no_narrow_arm() -> None:
    """Full context alone has nothing to be held against."""
    assert found({("m", "full"): bits(3)}) == {}
