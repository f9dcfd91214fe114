"""Headers of a plan: which may be, and what stands for a secret."""

from __future__ import annotations

import pytest

from loadrig.headers import expanded, mistake_in, variables


@pytest.mark.parametrize(("name", "value", "problem"), [
    ("Host", "x", "belongs to the connection"), ("content-length", "1", "belongs to the connection"),
    ("Accept-Encoding", "gzip", "belongs to the connection"), ("Transfer-Encoding", "x", "belongs to the connection"),
    ("x-loadrig-attempt", "x", "belongs to the connection"), ("Proxy-Authorization", "$P", "is the proxy's"),
    ("x y", "z", "cannot be a header's name"), ("", "z", "cannot be a header's name"),
    ("x-a", "one\r\nx-b: two", "cannot be sent"), ("x-a", "caf\u0107", "cannot be sent"),
    ("x-a", "5$", "has a $ without a name"), ("x-a", "${}", "has a $ without a name"),
    ("Authorization", "Bearer abcdef", "a secret stands in"), ("x-api-key", "abcdef", "a secret stands in"),
    ("Cookie", "a=b", "a secret stands in"),
])  # fmt: skip
def test_a_header_that_may_not_be_is_named_and_its_value_is_not(name: str, value: str, problem: str) -> None:
    """What is wrong and what to do; of the value nothing, which may be a secret."""
    found = mistake_in(name, value)
    assert found is not None
    assert problem in found[0]
    assert "abcdef" not in " ".join(found)


@pytest.mark.parametrize(("name", "value"), [
    ("x-team", "search"), ("Authorization", "Bearer $TOKEN"), ("x-api-key", "${KEY}"), ("authorization", ""),
    ("anthropic-beta", "a-2026,b"), ("x-price", "$$5"), ("Accept", "text/event-stream"), ("x-name", "Zo\u00eb"),
])  # fmt: skip
def test_a_header_may_be_text_a_variable_or_nothing(name: str, value: str) -> None:
    """Nothing takes the dialect's own away."""
    assert mistake_in(name, value) is None


def test_variables_are_filled_in_and_two_dollars_are_one() -> None:
    """By name, with braces or without."""
    assert variables("Bearer $A ${B}x $$C") == ("A", "B")
    assert expanded("Bearer $A ${B}x $$C", {"A": "1", "B": "2"}) == "Bearer 1 2x $C"
