"""Gold documents at a depth of a context of a length: in the band, or a reason why not."""

from __future__ import annotations

import random

import pytest

from loadrig.corpus.placing import LEAST, Band, Placed, Unplaceable, bands_of, middles, place_gold_at_depth
from loadrig.words.corpus import Document

BANDS = ("0-10", "40-60", "90-100")


def documents(*tokens: int) -> list[Document]:
    return [Document(f"d{number}", "x", size) for number, size in enumerate(tokens)]


def placed(texts: list[Document], gold: set[str], band: str, length: int, seed: int = 7) -> Placed:
    found = place_gold_at_depth(texts, gold, bands_of(band), length=length, seed=seed)
    assert isinstance(found, Placed), found
    return found


def refused(texts: list[Document], gold: set[str], band: str, length: int) -> str:
    found = place_gold_at_depth(texts, gold, bands_of(band), length=length, seed=7)
    assert isinstance(found, Unplaceable), found
    return found.reason


def test_the_middle_of_a_document_is_its_depth() -> None:
    """100, 200 and 100 tokens: middles at 50, 200 and 350 of 400."""
    assert middles(documents(100, 200, 100)) == (0.125, 0.5, 0.875)


@pytest.mark.parametrize("band", BANDS)
def test_the_gold_document_lies_in_its_band(band: str) -> None:
    """B-04: one of 20 documents of 100 tokens in a context of 1,000: ten documents, the gold one once, its middle where
    it was to be, as the documents laid down say themselves."""
    found = placed(documents(*[100] * 20), {"d3"}, band, 1000)
    (low, high) = (int(end) / 100 for end in band.split("-"))
    place = [document.id for document in found.documents].index("d3")
    assert (len(found.documents), found.tokens) == (10, 1000)
    assert found.depths == (middles(found.documents)[place],)
    assert low <= found.depths[0] <= high


def test_depth_is_in_its_band_whatever_the_sizes() -> None:
    """500 drawn corpora of uneven documents: whatever is placed is in its band, of whole documents, not too long, not
    too short, each once; and nearly all can be placed."""
    chance, done = random.Random(5), 0
    for number in range(500):
        texts = documents(*(chance.randint(20, 400) for _ in range(40)))
        gold, band = {f"d{chance.randrange(40)}" for _ in range(chance.randint(1, 2))}, chance.choice(BANDS)
        found = place_gold_at_depth(texts, gold, bands_of(band), length=3000, seed=number)
        if isinstance(found, Unplaceable):
            continue
        done += 1
        ids = [document.id for document in found.documents]
        depths = dict(zip(ids, middles(found.documents), strict=True))
        assert len(set(ids)) == len(ids)
        assert LEAST * 3000 <= sum(document.tokens for document in found.documents) == found.tokens <= 3000
        assert sorted(depths[one] for one in gold) == sorted(found.depths)
        assert all(bands_of(band)[0].holds(depths[one]) for one in gold)
    assert done > 400


def test_several_gold_documents_are_spread_evenly_in_a_band() -> None:
    """Two documents of 10 in 40-60 %: at 45 and 55, with what lies between from the corpus."""
    found = placed(documents(*[10] * 100), {"d1", "d2"}, "40-60", 1000)
    assert found.depths == pytest.approx((0.45, 0.55), abs=0.006)


def test_one_gold_document_a_band() -> None:
    """Three bands, three documents: one each."""
    found = placed(documents(*[10] * 100), {"d1", "d2", "d3"}, "0-10%+40-60%+90-100%", 1000)
    assert found.depths == pytest.approx((0.05, 0.5, 0.95), abs=0.006)


@pytest.mark.parametrize(
    ("band", "early", "late"), [("90-100%+0-10%", 1, 2), ("0-10%+90-100%", 2, 1), ("0-10%+0-10%", 3, 0)]
)
def test_the_first_band_named_has_the_odd_document(band: str, early: int, late: int) -> None:
    """Three gold documents over two bands, whichever is named first, and also where both are the same."""
    found = placed(documents(*[50] * 60), {"d1", "d2", "d3"}, band, 2500)
    assert (sum(depth <= 0.1 for depth in found.depths), sum(depth >= 0.9 for depth in found.depths)) == (early, late)


def test_another_seed_lays_down_others_and_the_same_the_same() -> None:
    """The distractors and their order come from the seed."""
    texts = documents(*[100] * 50)
    ids = [[one.id for one in placed(texts, {"d3"}, "40-60", 2000, seed).documents] for seed in (7, 7, 8)]
    assert ids[0] == ids[1] != ids[2]


def test_more_gold_than_fits_is_said() -> None:
    """No other length in silence."""
    assert "the gold documents alone are 200 tokens, the context is to be of 150" in refused(
        documents(100, 100, 50), {"d0", "d1"}, "40-60", 150
    )


def test_too_few_others_are_said() -> None:
    """300 tokens in all cannot make a context of 1,000."""
    assert "are 300: too few for a context of 1,000" in refused(documents(100, 100, 100), {"d0"}, "0-10", 1000)


def test_a_document_too_large_for_its_band_is_said() -> None:
    """The middle of 500 of 1,000 tokens is never in the first tenth: the nearest is 25 %."""
    reason = refused(documents(500, *[50] * 10), {"d0"}, "0-10", 1000)
    assert "it comes to 25.0% (the largest is 500 tokens)" in reason


def test_gold_that_the_caller_may_not_see_is_said() -> None:
    """It is no document of his view."""
    assert "'secret' is not among the documents" in refused(documents(100), {"secret"}, "0-10", 100)


def test_without_gold_there_is_a_context_and_no_depth() -> None:
    """A trap is asked over as much as fits, here all there is."""
    found = placed(documents(*[100] * 5), set(), "40-60", 1000)
    assert (found.tokens, found.depths) == (500, ())


@pytest.mark.parametrize("text", ["", "40", "60-40", "40-400%", "a-b", "40-60%+"])
def test_what_is_no_band_is_named(text: str) -> None:
    """With what one looks like."""
    with pytest.raises(ValueError, match="is no band: write 40-60%"):
        bands_of(text)


def test_a_bands_ends_are_in_it() -> None:
    """40 and 60 are in 40-60 %, 39.9 and 60.1 are not."""
    band = Band(0.4, 0.6)
    assert [band.holds(depth) for depth in (0.399, 0.4, 0.6, 0.601)] == [False, True, True, False]
