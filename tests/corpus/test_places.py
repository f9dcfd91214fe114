"""The line of every value of a JSON file."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from loadrig.corpus.rules.places import Steps, lines_of

TEXT = """\
{
  "a \\"b\\\\": [1, {"c": null},
    -2.5e3],
  "d":
    {"e": "x, ] } \\n y", "f": [], "g": {}},
  "é": true
}
"""


def test_values_are_found_where_they_begin() -> None:
    """Escapes, brackets inside strings and empty lists do not lead astray."""
    lines = lines_of(TEXT)
    assert {steps: line for steps, line in lines.items() if line != 2} == {
        (): 1, ('a "b\\', 2): 3, ("d",): 5, ("d", "e"): 5, ("d", "f"): 5, ("d", "g"): 5, ("é",): 6,
    }  # fmt: skip
    assert lines['a "b\\', 1, "c"] == 2


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 0, 2]))
def test_every_value_has_a_line(value: object, indent: int | None) -> None:
    """Written by a JSON library in any layout: as many lines as values, the last of them not below the text."""
    text = json.dumps(value, indent=indent)
    lines = lines_of(text)
    assert set(lines) == set(paths(value, ()))
    assert max(lines.values()) <= text.count("\n") + 1


def paths(value: object, steps: Steps) -> list[Steps]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [steps, *(path for step, one in inner for path in paths(one, (*steps, step)))]
