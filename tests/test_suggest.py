"""Did you mean."""

from __future__ import annotations

from loadrig.suggest import did_you_mean


def test_the_nearest_name_is_suggested_else_the_known_ones_are_listed() -> None:
    """A near name, a far one, nine names, and none at all."""
    assert did_you_mean("s64", ["s64k", "full"]) == "did you mean 's64k'?"
    assert did_you_mean("zzz", ["a", "b"]) == "known: a, b"
    assert did_you_mean("zzz", "abcdefghi") == "known: a, b, c, d, e, f, g, h, ..."
    assert did_you_mean("zzz", []) == "there is none to choose from"
