"""Where a sentence ends."""

from __future__ import annotations

import pytest

from loadrig.measures.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 9. No, 12.", ["It is 9.", "No, 12."]),
        ("See no. 3 of 9. März. Dann nicht.", ["See no. 3 of 9. März.", "Dann nicht."]),
        ("So it is. [a] [b] And so on.", ["So it is. [a] [b]", "And so on."]),
        ("One\n- two\n\n- three", ["One", "- two", "- three"]),
        ("z. B. hier! Und da?", ["z. B. hier!", "Und da?"]),
        ("  ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Citations behind a full stop belong to what they prove; abbreviations and ordinals end nothing."""
    assert [text[start:end] for start, end in sentences(text)] == expected
