"""Scenario files: the shipped ones load, and what is wrong in one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadrig.simulator.scenario import Scenario, ScenarioError, load_scenario, scenario_names


@pytest.mark.parametrize("name", scenario_names())
def test_every_shipped_scenario_loads_under_its_name(name: str) -> None:
    """A scenario's name is its file's."""
    assert load_scenario(name).name == name


def test_paced_is_a_metronome() -> None:
    """First token at 200 ms, 20 events a second, 200 tokens, no jitter: what the accuracy check counts on."""
    paced = load_scenario("paced")
    assert (paced.base_ms, paced.decode_ms_per_token, paced.fixed_answer_tokens, paced.jitter) == (200, 50, 200, 0)
    assert (paced.prefill_us_per_token, paced.slots) == (0, 4096)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("slot = 3", "unknown key 'slot'"),
        ('slots = "3"', "Expected `int`"),
        ("slots = 0", "slots must be at least 1"),
        ("rate_429 = 1.5", "rate_429 must lie between 0 and 1"),
        ("rate_429 = 0.6\nrate_cut = 0.6", "must not sum to more than 1"),
        ("slots = ", "not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, line: str, words: str) -> None:
    """The error carries the file's path and the key or reason."""
    path = tmp_path / "mine.toml"
    path.write_text(line)
    with pytest.raises(ScenarioError, match=words) as caught:
        load_scenario(str(path))
    assert str(path) in str(caught.value)


def test_an_unknown_name_lists_the_known() -> None:
    """Neither a file nor a shipped name: the error says what there is."""
    with pytest.raises(ScenarioError, match="quick"):
        load_scenario("no-such")


def test_an_integer_serves_as_a_float(tmp_path: Path) -> None:
    """`base_ms = 20` need not be written 20.0."""
    path = tmp_path / "mine.toml"
    path.write_text("base_ms = 20")
    assert load_scenario(str(path)) == Scenario(name="mine", base_ms=20.0)
