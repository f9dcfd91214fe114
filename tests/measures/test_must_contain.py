"""The pre-check of an answer."""

from __future__ import annotations

import pytest

from loadrig.measures.must_contain import passes


@pytest.mark.parametrize(
    ("answer", "entries", "expected"),
    [
        ("It is TWO hours.", ["2 hours||two hours"], True),
        ("From 8 to 12 hours.", ["8", "12"], True),
        ("From 8 hours.", ["8", "12"], False),
        ("In 2012.", ["12"], False),
        ("In 1200.", ["12"], False),
        ("The module compression.zstd.", ["compression.zstd"], True),
        ("compression-zstd", ["compression.zstd"], False),
        ("a caf\u0065\u0301", ["caf\u00e9"], True),
        ("twelve\n  hours", ["twelve hours"], True),
        ("anything", [], True),
        ("anything.", [""], False),
    ],
)
def test_every_entry_must_occur_between_word_borders(answer: str, entries: list[str], expected: bool) -> None:
    """Each entry, one of its alternatives, in any case and spacing, not inside a longer word or number."""
    assert passes(answer, entries) is expected
