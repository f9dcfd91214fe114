"""From one night to another: every part by hand, and all of them the difference."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from nightly_cells import MILLION, cell, part

from loadrig.analysis.nightly.change import Change, Side, change
from loadrig.analysis.nightly.digest import Cell, Part, Sum
from loadrig.cost import total


def rates(price: str, tariff: str = "m") -> dict[str, tuple[str, ...]]:
    return {tariff: (price, "0", "0", "0", "0")}


def side(price: str, *cells: Cell) -> Side:
    return Side(cells, rates(price))


def using(millions: int, *, n: int = 10, arm: str = "rag") -> Cell:
    """`n` trials of so many million input tokens each."""
    return cell(arm, asked=n, sound=part(n, sent=n * millions * MILLION))


def parts(found: Change | None) -> dict[str, str]:
    assert found is not None
    return {one.factor: f"{Decimal(one.amount).normalize():f}" for one in found.parts}


def test_a_price_alone_is_price() -> None:
    """A million tokens a question at 2, then at 3: a question is 1 dearer, and all of that is price."""
    found = change(side("2", using(1)), side("3", using(1)))
    assert parts(found) == {"price": "1", "tokens": "0", "mix": "0", "failure": "0"}
    assert found is not None
    assert (found.reason, found.before[:3], found.after[:3], found.difference[:3]) == ("price", "2.0", "3.0", "1.0")


def test_price_and_tokens_at_once_share_what_they_do_together() -> None:
    """1 million at 2 to 2 million at 3: from 2 to 6. Price first: 1, then tokens 3; tokens first: 2, then price 2. The
    means are 1.5 and 2.5, and neither is the only reason."""
    found = change(side("2", using(1)), side("3", using(2)))
    assert parts(found) == {"price": "1.5", "tokens": "2.5", "mix": "0", "failure": "0"}
    assert found is not None
    assert found.reason is None


def test_more_of_the_dear_arm_is_mix() -> None:
    """Arms of 1 and 3 a question: half and half cost 2, a quarter and three quarters 2.5."""
    before = side("1", using(1, n=10), using(3, n=10, arm="full"))
    after = side("1", using(1, n=5), using(3, n=15, arm="full"))
    assert parts(change(before, after)) == {"price": "0", "tokens": "0", "mix": "0.5", "failure": "0"}


def test_a_night_of_failures_is_cheap_by_failure() -> None:
    """Half of the questions fail and cost nothing: 1 less, and none of it is price or tokens."""
    failing = cell(asked=10, failed=5, sound=part(5, sent=5 * MILLION), broken=Part(5))
    assert parts(change(side("2", using(1)), side("2", failing))) == {
        "price": "0", "tokens": "0", "mix": "0", "failure": "-1",
    }  # fmt: skip


def test_an_arm_that_only_one_night_has_is_mix() -> None:
    """A second arm, twice as dear, comes for half of the questions: 2 becomes 3, by mix alone."""
    found = change(side("1", using(2)), side("1", using(2), using(4, arm="new")))
    assert parts(found) == {"price": "0", "tokens": "0", "mix": "1", "failure": "0"}


def test_what_rates_do_not_explain_is_not_told_apart() -> None:
    """A cost with a rest: price and tokens are one part, from 2 to 5."""
    before = cell(asked=1, sound=Part(1, {}, money="2", rest="2"))
    after = cell(asked=1, sound=Part(1, {}, money="5", rest="5"))
    assert parts(change(side("1", before), side("1", after))) == {"price and tokens": "3", "mix": "0", "failure": "0"}


def test_several_rates_of_one_night_are_not_told_apart() -> None:
    """Two runs at 2 and at 6 a million: 4 a question, which is what the sums say, not 6."""
    before = cell(asked=2, sound=part(2, sent=2 * MILLION, money="8"))
    found = change(Side((before,), rates("6"), is_open=True), side("6", cell(asked=1, sound=part(1, money="6"))))
    assert found is not None
    assert (float(found.before), parts(found)) == (4, {"price and tokens": "2", "mix": "0", "failure": "0"})


def test_tokens_of_another_tariff_are_no_price() -> None:
    """The same tokens under a tariff that only one night has: priced by it on both, so tokens tell the difference."""
    before, after = using(1), cell(sound=part(10, sent=10 * MILLION, tariff="m above 200000"))
    found = change(Side((before,), rates("1")), Side((after,), rates("2", "m above 200000")))
    assert parts(found) == {"price": "0", "tokens": "1", "mix": "0", "failure": "0"}


def test_unknown_charges_are_told() -> None:
    """They are in neither sum."""
    found = change(side("2", using(1)), side("2", cell(sound=part(10, sent=10 * MILLION), money=Sum("20", 10, 3))))
    assert found is not None
    assert found.unknown == 3


def test_nothing_to_nothing_is_no_change() -> None:
    """A night without a question has no cost to compare."""
    assert change(side("2", using(1)), side("2")) is None


counts = st.integers(1, 9)
prices = st.decimals(min_value="0.01", max_value="80", places=3).map(str)


@st.composite
def nights(draw: st.DrawFn) -> Side:
    cells = []
    for arm in draw(st.sets(st.sampled_from(["a", "b", "c"]), min_size=1)):
        sound, broken = draw(st.integers(0, 9)), draw(st.integers(0, 3))
        if sound + broken:
            used = part(sound, sent=draw(st.integers(1, 10**7)), output=draw(st.integers(0, 10**6)))
            lost = part(broken, sent=draw(st.integers(0, 10**5)))
            cells.append(cell(arm, asked=sound + broken, failed=broken, sound=used, broken=lost))
    return Side(cells, {"m": (draw(prices), "0", "0", "0", draw(prices))})


@given(nights(), nights())
def test_parts_are_the_difference_to_the_last_digit(before: Side, after: Side) -> None:
    """Whatever changes at once: the sum of the parts is the difference, and that is after - before, exactly; backwards
    every part has the other sign, but for the last digit."""
    found, back = change(before, after), change(after, before)
    if found is None or back is None:
        return
    assert total(Decimal(one.amount) for one in found.parts) == Decimal(found.difference)
    assert Decimal(found.difference) == Decimal(found.after) - Decimal(found.before)
    for one, other in zip(found.parts, back.parts, strict=True):
        assert abs(Decimal(one.amount) + Decimal(other.amount)) <= Decimal("2e-12")
