"""Notes of turns as warnings."""

from __future__ import annotations

from pathlib import Path

from records import read_run, record, turn

from loadrig.analysis.noted import warned

AGAIN, ODD = "an idle connection was closed when used: sent again on a fresh one", "unknown event 'x'"


def test_notes_are_counted_once_a_turn_the_most_frequent_first(tmp_path: Path) -> None:
    """Of four turns two were sent again, two had an odd event, though one of these says so twice; one had none."""
    turns = (turn(notes=(AGAIN,)), turn(notes=(ODD, ODD)), turn())
    run = read_run(tmp_path, [record("t1", turns=turns), record("t2", turns=(turn(notes=(AGAIN, ODD)),))])
    assert list(warned(run)) == [f"2 of 4 turns: {AGAIN}", f"2 of 4 turns: {ODD}"]


def test_a_run_without_notes_is_not_warned_of(tmp_path: Path) -> None:
    """Nothing odd, nothing said."""
    assert list(warned(read_run(tmp_path, [record("t1", turns=(turn(),))]))) == []
