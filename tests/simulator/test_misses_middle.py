"""The dial that misses the middle of many documents."""

from __future__ import annotations

from random import Random

from collection import answer_of
from simulated import document

from loadrig.simulator.documents import Source, parse
from loadrig.simulator.scenario import Scenario
from loadrig.simulator.spoiling import without_middle

PAPERS = [document(f"d{number}", f"The mark of tower T{number} is number {number + 500}.") for number in range(11)]


def test_the_middle_is_always_missed_and_the_ends_hardly_ever() -> None:
    """Eleven alike documents, 1,000 readings: the sixth never, the first and the last ten in eleven."""
    sources = [Source(number, f"d{number}", None, None, parse("Six words are what it says.")) for number in range(11)]
    seen = [0] * 11
    for number in range(1000):
        for source in without_middle(sources, Random(number), 1.0):
            seen[source.order] += 1
    assert seen[5] == 0
    assert seen[0] > 860
    assert seen[10] > 860
    assert seen[:6] == sorted(seen[:6], reverse=True)
    assert seen[5:] == sorted(seen[5:])


def test_a_fact_in_the_middle_is_not_found_and_one_at_the_end_is() -> None:
    """Of eleven documents; with eight or fewer, and with the dial off, all is read."""
    dial, whole = Scenario(misses_middle=1.0), "\n".join(PAPERS)
    assert "505" not in answer_of("Which number is the mark of tower T5?", whole, dial)
    assert "505" in answer_of("Which number is the mark of tower T5?", whole)
    assert "505" in answer_of("Which number is the mark of tower T5?", "\n".join(PAPERS[3:8]), dial)
